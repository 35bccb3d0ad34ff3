//! The capture beside another that came before it, as `ridgeline diff` says it.

use crate::answer::Refusal;
use crate::page::Page;
use ridge_report::diff::{Options, json as report};
use ridgeline::comparison::compare as compared;
use ridgeline::{CausesAsked, Diff, DiffOptions, summaries_of};
use serde_json::Value;

/// `compare`: the document of `ridgeline diff -f json`, the page's capture being the side after; all of its changes.
pub(crate) fn compare(page: &Page) -> Result<Value, Refusal> {
    if page.against.is_empty() {
        return Err(Refusal::absent("no other capture was named to compare with")
            .hint("`ridgeline view AFTER --against BEFORE`"));
    }
    let options = DiffOptions::default();
    let (before, mut notes) = summaries_of(&page.against, &options)?;
    let after = vec![page.session().summary(CausesAsked::Usually)];
    notes.extend(page.session().notes().iter().cloned());
    notes.sort_by_key(|note| std::cmp::Reverse(note.severity));
    let comparison = compared(&before, &after, &options.compare);
    Ok(report::document_value(&Diff { comparison, notes, summaries: (before, after) }, &Options::default()))
}
