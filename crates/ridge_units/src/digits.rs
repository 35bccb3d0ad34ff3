//! Three significant digits, the precision at which measured numbers are shown.

/// `value` with at most three significant digits and no exponent, for numbers already scaled below about 1000.
///
/// Values of 1000 and more keep all their integer digits.
///
/// ```
/// use ridge_units::three_digits;
/// assert_eq!(three_digits(1.0), "1");
/// assert_eq!(three_digits(14.344), "14.3");
/// assert_eq!(three_digits(0.0123), "0.0123");
/// assert_eq!(three_digits(1023.6), "1024");
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
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The first `(factor, unit)` of `scales`, largest first, that `value` reaches after rounding to three digits.
pub(crate) fn scaled(value: f64, scales: &[(f64, &str)]) -> String {
    let size = value.abs();
    let last = scales.len() - 1;
    for (index, (factor, unit)) in scales.iter().enumerate() {
        // 999.6 rounds to 1000 at three digits, so the larger unit already reads better.
        if size >= factor * 0.9995 || index == last {
            return format!("{} {unit}", three_digits(value / factor));
        }
    }
    unreachable!("the last scale always matches")
}
