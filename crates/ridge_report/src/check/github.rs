//! Findings as workflow commands of GitHub Actions, which it shows as annotations of lines.

use super::words::holds;
use super::{Options, causes};
use ridgeline::{Check, Level};

/// A command for each finding.
pub fn annotations(check: &Check, options: &Options) -> String {
    let mut text = String::new();
    for item in causes(check, options) {
        let finding = item.finding;
        let level = match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Info => "notice",
        };
        let place = finding.place.as_ref().map(|place| format!("file={},line={},", property(&place.file), place.line));
        let held = holds(check, finding).map(|held| format!("\n{held}")).unwrap_or_default();
        let message = format!("{}{held}\n{}", finding.message, finding.help);
        let title = property(&format!("ridgeline {}", finding.rule));
        text.push_str(&format!("::{level} {}title={title}::{}\n", place.unwrap_or_default(), data(&message)));
    }
    text
}

/// What stands after `::`: line ends and percent signs are escaped.
pub(crate) fn data(text: &str) -> String {
    text.trim_end().replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// What stands in a property: colons and commas too.
pub(crate) fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
