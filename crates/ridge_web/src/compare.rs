//! The capture beside another that came before it, as `ridgeline diff` says it.

use crate::answer::Refusal;
use crate::page::Page;
use crate::scaling;
use ridge_report::diff::{Options, json as report};
use ridgeline::comparison::compare as compared;
use ridgeline::{CausesAsked, Diff, DiffOptions, summaries_of};
use serde_json::{Value, json};

/// `compare`: the document of `ridgeline diff -f json`, the page's capture being the side after; all of its changes.
pub(crate) fn compare(page: &Page) -> Result<Value, Refusal> {
    if page.against.is_empty() {
        return Err(Refusal::absent("no other capture was named to compare with")
            .hint("`ridgeline view AFTER --against BEFORE`"));
    }
    let options = DiffOptions::default();
    let (before, mut notes) = summaries_of(&page.against, &options)?;
    // A benchmark is compared by its times; of anything else the capture is open already.
    let (after, more) = match scaling::has_sizes(page) {
        true => summaries_of(&page.paths, &options)?,
        false => (vec![page.session().summary(CausesAsked::Usually)], page.session().notes().to_vec()),
    };
    notes.extend(more);
    notes.sort_by_key(|note| std::cmp::Reverse(note.severity));
    let comparison = compared(&before, &after, &options.compare);
    let mut document =
        report::document_value(&Diff { comparison, notes, summaries: (before, after) }, &Options::default());
    if page.hides_folders() {
        ["before", "after"].into_iter().for_each(|side| without_folders(&mut document[side]["names"]));
    }
    Ok(document)
}

/// Leaves the last part of each path.
fn without_folders(names: &mut Value) {
    for name in names.as_array_mut().into_iter().flatten() {
        let last =
            name.as_str().map(|path| path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned());
        *name = json!(last);
    }
}
