//! Rules as test cases of a JUnit report: a finding is a failure, what could not be told was skipped.

use super::words::holds;
use super::{Options, causes};
use ridgeline::{Check, Level};

/// The answer as JUnit XML.
pub fn report(check: &Check, options: &Options) -> String {
    let items = causes(check, options);
    let failing: Vec<_> =
        items.iter().filter(|item| item.finding.level > Level::Info && !options.accepts(item)).collect();
    let outcomes = &check.diagnosis.outcomes;
    let skipped = outcomes.iter().filter(|outcome| outcome.found.is_err()).count();
    let failed =
        outcomes.iter().filter(|outcome| failing.iter().any(|item| item.finding.rule == outcome.rule.id)).count();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"ridgeline check\" tests=\"{}\" failures=\"{failed}\" \
         errors=\"0\" skipped=\"{skipped}\">\n",
        outcomes.len()
    );
    for outcome in outcomes {
        let id = outcome.rule.id;
        text.push_str(&format!("<testcase classname=\"ridgeline.{}\" name=\"{id}\">", outcome.rule.group.name()));
        if let Err(cannot) = &outcome.found {
            text.push_str(&format!("<skipped message=\"{}\"/>", escaped(&cannot.why)));
        }
        let own: Vec<_> = failing.iter().filter(|item| item.finding.rule == id).collect();
        if let Some(first) = own.first() {
            text.push_str(&format!("<failure message=\"{}\">", escaped(&first.finding.message)));
            for item in own {
                let place = item.finding.place.as_ref().map(|place| format!("{}:{}: ", place.file, place.line));
                let held = holds(check, item.finding).map(|held| format!("; {held}"));
                let line = format!(
                    "{}{}{}\n{}\n",
                    place.unwrap_or_default(),
                    item.finding.message,
                    held.unwrap_or_default(),
                    item.finding.help
                );
                text.push_str(&escaped(&line));
            }
            text.push_str("</failure>");
        }
        text.push_str("</testcase>\n");
    }
    text.push_str("</testsuite>\n</testsuites>\n");
    text
}

/// Text as XML may hold it: marks are escaped, control characters have no place.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\t' => safe.push(letter),
            letter if letter.is_control() => {}
            // No characters of Unicode either, and no XML with them.
            '\u{fffe}' | '\u{ffff}' => {}
            letter => safe.push(letter),
        }
    }
    safe
}
