//! Numbers from their decimal text, exactly: times never pass through a float.
//!
//! Microseconds since 1970 with three decimals need 61 bits; a double holds 53 and is off by a quarter of a microsecond.

/// Nanoseconds from microseconds as written; `None` where it is no number. Ties round up, huge values saturate.
#[inline]
pub(super) fn nanos(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, text),
    };
    let value = plain_nanos(digits).or_else(|| any_nanos(digits))?;
    Some(if negative { -value } else { value })
}

/// `123`, `123.456`: what profilers write.
#[inline]
fn plain_nanos(digits: &[u8]) -> Option<i64> {
    let (whole, point) = leading_number(digits);
    // Fifteen digits of microseconds and three more stay below 2^63.
    if point == 0 || point > 15 || digits.len() > point + 4 {
        return None;
    }
    let Some((b'.', fraction)) = digits[point..].split_first() else {
        return (point == digits.len()).then_some(whole * 1000);
    };
    const SCALE: [i64; 4] = [0, 100, 10, 1];
    let (value, count) = leading_number(fraction);
    (count > 0 && count == fraction.len()).then(|| whole * 1000 + value * SCALE[count])
}

/// The number that the digits at the start make, and how many there are; right for up to eighteen.
#[inline]
fn leading_number(text: &[u8]) -> (i64, usize) {
    let mut value = 0_i64;
    for (at, byte) in text.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (value, at);
        }
        value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
    }
    (value, text.len())
}

/// Any JSON number: more digits, an exponent.
fn any_nanos(text: &[u8]) -> Option<i64> {
    // What follows the thirtieth digit cannot change a value that fits.
    const MOST_DIGITS: u32 = 30;
    let (mut value, mut kept, mut scale) = (0_i128, 0, 0_i64);
    let (mut any, mut after_point) = (false, false);
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'0'..=b'9' => {
                any = true;
                if kept < MOST_DIGITS {
                    value = value * 10 + i128::from(byte - b'0');
                    kept += u32::from(value > 0);
                    scale -= i64::from(after_point);
                } else {
                    scale += i64::from(!after_point);
                }
            }
            b'.' if !after_point => after_point = true,
            b'e' | b'E' if any => {
                let exponent: i64 = std::str::from_utf8(&text[at + 1..]).ok()?.parse().ok()?;
                return Some(scaled(value, scale.saturating_add(exponent)));
            }
            _ => return None,
        }
        at += 1;
    }
    any.then(|| scaled(value, scale))
}

/// `value * 10^(scale + 3)`, to nearest, within 64 bits.
fn scaled(value: i128, scale: i64) -> i64 {
    const LIMIT: i128 = i64::MAX as i128;
    let mut value = value;
    let mut scale = scale.saturating_add(3);
    while scale > 0 && value != 0 && value <= LIMIT {
        value *= 10;
        scale -= 1;
    }
    while scale < -1 && value != 0 {
        value /= 10;
        scale += 1;
    }
    if scale < 0 {
        value = (value + 5) / 10;
    }
    value.min(LIMIT) as i64
}

/// A whole number as written, also in quotes' content; `None` for anything else. A fraction is cut.
#[inline]
pub(super) fn whole(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        _ => (false, text),
    };
    let (value, end) = leading_number(digits);
    let is_number = end == digits.len() || digits[end] == b'.';
    if end == 0 || !is_number {
        return float(text).map(|value| value as i64);
    }
    if end > 18 {
        return std::str::from_utf8(&digits[..end])
            .ok()?
            .parse()
            .ok()
            .map(|value: i64| if negative { -value } else { value });
    }
    Some(if negative { -value } else { value })
}

/// A number that is no time; `None` for what is not finite.
pub(super) fn float(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        for (text, expected) in [
            ("0", Some(0)),
            ("12", Some(12_000)),
            ("4458676522690.655", Some(4_458_676_522_690_655)),
            ("2.08", Some(2080)),
            ("2.5", Some(2500)),
            ("1694128201429795.123", Some(1_694_128_201_429_795_123)),
            ("1694128201429795", Some(1_694_128_201_429_795_000)),
            ("-1.5", Some(-1500)),
            ("1.2345", Some(1235)),
            ("1.23449999999999999999999999999999999", Some(1234)),
            ("0.0004", Some(0)),
            ("1.5e3", Some(1_500_000)),
            ("1.6941282014297951234e15", Some(1_694_128_201_429_795_123)),
            ("25E-4", Some(3)),
            ("1e-400", Some(0)),
            ("1e400", Some(i64::MAX)),
            ("99999999999999999999", Some(i64::MAX)),
            ("0000000000000000000000000000000000000012", Some(12_000)),
            ("NaN", None),
            ("-Infinity", None),
            ("", None),
            ("-", None),
            (".", None),
            ("1.", Some(1000)),
            ("1.2.3", None),
            ("1e", None),
            ("1e99999999999999999999", None),
            ("12abc", None),
        ] {
            assert_eq!(nanos(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn whole_numbers_of_every_spelling() {
        for (text, expected) in [
            ("42", Some(42)),
            ("-1", Some(-1)),
            ("7.0", Some(7)),
            ("1e3", Some(1000)),
            ("9223372036854775807", Some(i64::MAX)),
            ("99999999999999999999", None),
            ("stream 7", None),
            ("", None),
        ] {
            assert_eq!(whole(text.as_bytes()), expected, "{text}");
        }
    }
}
