//! Findings as Markdown, for pull requests.

use super::words::{consequence, evidence, headline, holds, saving};
use super::{Options, causes};
use crate::markdown::literal;
use ridgeline::Check;
use std::fmt::Write as _;

/// The answer as Markdown.
pub fn render(check: &Check, options: &Options) -> String {
    let mut text = format!("### {}\n", literal(&headline(check)));
    for (rule, doubt) in check.diagnosis.doubts.iter().filter(|(_, doubt)| options.all || !doubt.blocks.is_empty()) {
        let _ = write!(text, "\n> **capture** `{}`: {}; {}", rule.id, literal(&doubt.message), consequence(doubt));
        doubt.command.iter().for_each(|command| text.push_str(&format!("; fix: `{command}`")));
        text.push('\n');
    }
    for item in causes(check, options) {
        let finding = item.finding;
        let _ = write!(text, "\n#### {}: {}\n\n", finding.level.name(), literal(&finding.message));
        let mut line = |title: &str, words: &str| text.push_str(&format!("- **{title}**: {words}\n"));
        line("rule", &format!("`{}`", finding.rule));
        if let Some(place) = &finding.place {
            let inferred = if place.is_inferred { " (inferred)" } else { "" };
            line("at", &format!("`{}:{}`{inferred}", place.file, place.line));
        }
        holds(check, finding).iter().for_each(|held| line("time", held));
        finding.evidence.iter().for_each(|said| line("evidence", &literal(&evidence(said))));
        for (title, words) in [("why", &finding.why), ("help", &finding.help)] {
            if !words.is_empty() {
                line(title, &literal(words));
            }
        }
        finding.saving.iter().for_each(|found| line("saving", &literal(&saving(found, finding.rule))));
    }
    text
}
