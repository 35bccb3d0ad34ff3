//! A comparison as workflow commands of GitHub Actions, which it shows as annotations: the verdict, and what changed at lines.

use super::Options;
use super::lines::remarks_at_lines;
use super::words::headline;
use crate::check::github::{data, property};
use ridgeline::Diff;
use ridgeline::comparison::State;

/// A command for the verdict, and one for each remark.
pub fn annotations(diff: &Diff, options: &Options) -> String {
    let found = &diff.comparison;
    let level = match (found.verdict.passes, found.verdict.state) {
        (Some(false), _) => "error",
        (_, State::Slower | State::CannotJudge) => "warning",
        _ => "notice",
    };
    let reasons = found.verdict.reasons.join("\n");
    let mut text = format!("::{level} title=ridgeline diff::{}\n", data(&format!("{}\n{reasons}", headline(found))));
    for remark in remarks_at_lines(diff, options) {
        let level = if remark.is_error { "error" } else { "warning" };
        text.push_str(&format!(
            "::{level} file={},line={},title={}::{}\n",
            property(&remark.place.file),
            remark.place.line,
            property(&format!("ridgeline {}", remark.rule)),
            data(&remark.message)
        ));
    }
    text
}
