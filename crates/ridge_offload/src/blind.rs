//! The kernels that were predicted before anyone looked up their numbers, as a section of the validation page.

use crate::Calibration;
use crate::predict::Interval;
use crate::published::{Published, blind};
use crate::row::{Row, TABLE};

/// A kernel with its intervals. Blind papers are not among those that widen intervals, so none has to be left out.
fn row_of(kernel: &Published) -> Option<Row<'_>> {
    let raw = crate::conformal::predicted(kernel)?;
    let widening = Calibration::of_this_version().widening(kernel.workload.class, None);
    Some(Row { kernel, raw, calibrated: widening.widen(&raw) })
}

/// The section.
pub(crate) fn section() -> String {
    let rows: Vec<Row<'_>> = blind().iter().filter_map(row_of).collect();
    let mut text = HEAD.to_owned();
    text.push_str(&counts(&rows));
    text.push_str(TABLE);
    rows.iter().for_each(|row| text.push_str(&row.text()));
    text.push_str("\nAssumptions:\n\n");
    let all = |of: fn(&Published) -> Option<&String>| {
        let line = |row: &Row<'_>| of(row.kernel).map(|words| format!("- {}: {words}.\n", row.kernel.name));
        rows.iter().filter_map(line).collect::<String>()
    };
    text.push_str(&all(|kernel| kernel.note.as_ref()));
    let left_out = all(|kernel| kernel.left_out.as_ref());
    if !left_out.is_empty() {
        text.push_str(&format!("\nLeft out of the count:\n\n{left_out}"));
    }
    text
}

/// How many of these lie inside the calibrated interval.
fn inside(numbers: &[(&Row<'_>, f64)]) -> usize {
    numbers.iter().filter(|(row, seconds)| row.calibrated.holds(*seconds)).count()
}

fn counts(rows: &[Row<'_>]) -> String {
    let numbers: Vec<(&Row<'_>, f64)> = rows.iter().filter_map(|row| Some((row, row.number()?.seconds))).collect();
    let counted = numbers.len();
    let raw = numbers.iter().filter(|(row, seconds)| row.raw.holds(*seconds)).count();
    let calibrated = inside(&numbers);
    let unknown: Vec<(&Row<'_>, f64)> = numbers.iter().copied().filter(|(row, _)| !row.kernel.is_remembered).collect();
    let ratios: Vec<f64> = rows.iter().filter_map(Row::ratio).collect();
    let farthest = ratios.iter().copied().max_by(|one, other| one.ln().abs().total_cmp(&other.ln().abs()));
    let median = Interval::of(ratios).map(|ratios| ratios.p50);
    let papers: std::collections::BTreeSet<&str> = numbers.iter().map(|(row, _)| row.kernel.paper.as_str()).collect();
    let two = |value: Option<f64>| value.map(|value| format!("{value:.2}")).unwrap_or_default();
    format!(
        "\n| | found |\n|---|---|\n\
         | predicted kernels | {} |\n\
         | looked up and counted, papers | {counted}, {} |\n\
         | inside the nominal 80% interval, model only | {raw} of {counted} |\n\
         | inside the nominal 80% interval, calibrated | {calibrated} of {counted} |\n\
         | the same without those remembered | {} of {} |\n\
         | median of predicted over published | {} |\n\
         | farthest ratio | {} |\n",
        rows.len(),
        papers.len(),
        inside(&unknown),
        unknown.len(),
        two(median),
        two(farthest),
    )
}

const HEAD: &str = "
## Predicted before the number was looked up

These kernels were described from their source code and design sections, and their predictions committed, before anyone looked up the published numbers.
No description was changed afterwards. The history of `crates/ridge_offload/kernels/blind/` shows both steps.
They never calibrate an interval: the constants and the widening are those of the kernels above.
The results were masked while the sources were read, but the number of their digits was visible in three of the repositories (`rosetta`, `autosa`, `thundergp`).
The author of the descriptions also remembered the times of `rosetta` roughly, so they are less blind than the rest. They count nevertheless; the table also shows the count without them.
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::{Number, seconds_words};

    fn row(seconds: Option<f64>, left_out: Option<&str>) -> Row<'static> {
        let number = seconds.map(|seconds| Number { seconds, said: seconds_words(seconds) });
        let kernel = Published { number, left_out: left_out.map(str::to_owned), ..blind()[0].clone() };
        let raw = Interval { p10: 1.0, p50: 2.0, p90: 4.0 };
        let calibrated = Interval { p10: 0.5, p50: 2.0, p90: 8.0 };
        Row { kernel: Box::leak(Box::new(kernel)), raw, calibrated }
    }

    #[test]
    fn a_number_that_is_not_looked_up_or_left_out_does_not_count() {
        let [open, near, far, other] =
            [row(None, None), row(Some(1.0), None), row(Some(5.0), None), row(Some(9.0), Some("another size"))];
        assert!(open.text().contains("| not looked up yet |  | 2.00 s |  |"), "{}", open.text());
        assert!(far.text().contains("| 5.00 s | 5.00 s | 2.00 s | 0.40 |"), "{}", far.text());
        assert!(other.text().contains("| 9.00 s | 9.00 s | 2.00 s |  |"), "{}", other.text());
        let counted = counts(&[open, near, far, other]);
        assert!(counted.contains("model only | 1 of 2"), "{counted}");
        assert!(counted.contains("calibrated | 2 of 2"), "{counted}");
        assert!(counted.contains("farthest ratio | 0.40"), "{counted}");
    }

    #[test]
    fn every_blind_kernel_has_a_prediction_and_the_page_of_offload_says_how_many_hold() {
        let rows: Vec<Row<'_>> = blind().iter().filter_map(row_of).collect();
        assert_eq!(rows.len(), blind().len());
        let numbers: Vec<(&Row<'_>, f64)> = rows.iter().filter_map(|row| Some((row, row.number()?.seconds))).collect();
        let inside = inside(&numbers);
        let part = 100.0 * inside as f64 / numbers.len() as f64;
        let page = include_str!("../../../docs/offload.md");
        let words = format!(
            "on {} predicted before anyone looked up their numbers ({inside} inside, {part:.0}%; nominal: 80%)",
            numbers.len()
        );
        assert!(page.contains(&words), "{words}");
    }

    #[test]
    fn blind_kernels_widen_no_interval() {
        let known = |score: &crate::conformal::Score| blind().iter().any(|kernel| kernel.paper == score.kernel.paper);
        assert!(!Calibration::of_this_version().scores().iter().any(known));
    }
}
