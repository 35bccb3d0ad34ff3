//! Three significant digits, the precision at which measured numbers are shown.

/// `value` with at most three significant digits and no exponent, for numbers already scaled below about 1000.
///
/// Values of 1000 and more keep all their integer digits, in groups.
///
/// ```
/// use ridge_units::three_digits;
/// assert_eq!(three_digits(1.0), "1");
/// assert_eq!(three_digits(14.344), "14.3");
/// assert_eq!(three_digits(0.0123), "0.0123");
/// assert_eq!(three_digits(1023.6), "1,024");
/// ```
pub fn three_digits(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "–".to_owned();
    }
    if size == 0.0 {
        return "0".to_owned();
    }
    let whole_digits = size.log10().floor() as i32 + 1;
    let decimals = (3 - whole_digits).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { grouped(&text) }
}

/// A whole number's digits, which a minus may precede, with a comma between groups of three.
pub(crate) fn grouped(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let mut text = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The first `(factor, unit)` of `scales`, largest first, that `value` reaches after rounding to three digits.
pub(crate) fn scaled(value: f64, scales: &[(f64, &str)]) -> String {
    let (factor, unit) = scaled_by(value.abs(), scales);
    format!("{} {unit}", three_digits(value / factor))
}

/// The first `(factor, unit)` of `scales` that `size` reaches, else the last.
pub(crate) fn scaled_by<'u>(size: f64, scales: &[(f64, &'u str)]) -> (f64, &'u str) {
    // 999.6 rounds to 1000 at three digits, so the larger unit already reads better.
    let reached = scales.iter().find(|(factor, _)| size >= factor * 0.9995);
    *reached.or(scales.last()).expect("there is a scale")
}
