//! Times of day as monitors write them.

/// `2024/05/24 13:40:14.123` or `20240524 13:40:14` as nanoseconds since 1970, as if it were UTC.
pub(super) fn local_ns(text: &str) -> Option<i64> {
    let (date, time) = text.trim().split_once(' ')?;
    let digits: String = date.chars().filter(char::is_ascii_digit).collect();
    if digits.len() != 8 {
        return None;
    }
    let number = |text: &str| text.parse::<i64>().ok();
    let (year, month, day) = (number(&digits[..4])?, number(&digits[4..6])?, number(&digits[6..])?);
    let mut parts = time.trim().split(':');
    let (hour, minute, second) = (number(parts.next()?)?, number(parts.next()?)?, parts.next()?);
    let (second, fraction) = second.split_once('.').unwrap_or((second, ""));
    let nanos = number(&format!("{:0<9}", fraction.get(..9).unwrap_or(fraction)))?;
    let valid =
        (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && number(second)? < 61;
    if !valid || hour < 0 || minute < 0 || number(second)? < 0 || nanos < 0 {
        return None;
    }
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + number(second)?;
    seconds.checked_mul(1_000_000_000)?.checked_add(nanos)
}

/// Days of the Gregorian calendar since 1970-01-01: Howard Hinnant's `days_from_civil`
/// (<https://howardhinnant.github.io/date_algorithms.html>).
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_times_in_both_spellings() {
        for (text, nanos) in [
            ("1970/01/01 00:00:00.000", 0),
            ("2024/05/24 13:40:14.125", 1_716_558_014_125_000_000),
            ("20240524 13:40:14", 1_716_558_014_000_000_000),
            ("2000/02/29 23:59:59.5", 951_868_799_500_000_000),
        ] {
            assert_eq!(local_ns(text), Some(nanos), "{text}");
        }
        for text in ["", "yesterday", "2024/13/01 00:00:00", "2024/01/01 25:00:00", "2024/01/01 1", "99999999 -1:-1:-1"]
        {
            assert_eq!(local_ns(text), None, "{text}");
        }
    }
}
