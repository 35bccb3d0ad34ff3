//! What a reviewer should see at a line: parts that surely take more time, and findings that are new.

use super::words::{cause, remarks, signed, signed_time};
use super::{Options, Shown};
use ridgeline::Diff;
use ridgeline::comparison::{By, Certainty, FindingStatus, Place};

/// Something to say at a line.
pub(super) struct Remark<'d> {
    /// Its name among rules.
    pub(super) rule: &'static str,
    /// Whether the gate fails because of the side that it is of.
    pub(super) is_error: bool,
    /// What is said.
    pub(super) message: String,
    /// The line.
    pub(super) place: &'d Place,
}

/// Rules that remarks are of, with what each says.
pub(super) const RULES: [(&str, &str); 2] = [
    ("slower-than-before", "the line takes significantly more time than before"),
    ("new-finding", "new finding of check"),
];

/// Remarks, what takes most first. A row counts where its interval leaves zero out and it is worth `--min-change` of the whole.
pub(super) fn remarks_at_lines<'d>(diff: &'d Diff, options: &Options) -> Vec<Remark<'d>> {
    let found = &diff.comparison;
    let by = if let Shown::Division(by) = options.by { by } else { By::Part };
    let whole = found.before.unit_ns.max(1) as f64;
    let is_error = found.verdict.passes == Some(false);
    let slower = found.changes_by(by).iter().filter_map(|row| {
        let part = row.difference_ns() as f64 / whole;
        let place = row.place.as_ref()?;
        (part >= found.options.min_change && row.certainty() == Certainty::Certain).then(|| Remark {
            rule: RULES[0].0,
            is_error,
            message: format!(
                "`{}` takes {} more ({} of the total): {}",
                row.subject,
                signed_time(row.difference_ns() as f64).trim_start_matches('+'),
                signed(part).trim_start_matches('+'),
                remarks(row, by).join("; ")
            ),
            place,
        })
    });
    let new = found.causes.iter().flatten().filter(|change| change.status == FindingStatus::New).filter_map(|change| {
        let place = change.cause.place.as_ref()?;
        Some(Remark { rule: RULES[1].0, is_error: false, message: cause(change), place })
    });
    slower.chain(new).collect()
}
