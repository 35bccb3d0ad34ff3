//! Sections that hold the same facts, such as eight like devices, as one table: a line per section.
//!
//! Eight times six lines are not read; eight lines are compared at a glance.

use super::columns::{BarColumn, Says, TextColumn, aligned};
use super::fit::fit;
use super::line::width;
use super::table::{Rendered, lines};
use super::words::{paragraph, tagged};
use super::{Definitions, Layout};
use crate::escape_controls;
use crate::number::{UNKNOWN, show_fact, show_share};
use ridgeline::{Fact, FactValue, Rank, Section};

/// So many like sections are a table.
const LEAST_SECTIONS: usize = 3;
/// So many are shown; the rest is counted.
const MOST_SECTIONS: usize = 16;

/// Splits `sections` into runs: like sections together where they are enough for a table, others alone.
pub(super) fn runs(sections: &[Section]) -> Vec<&[Section]> {
    let chunks = sections.chunk_by(alike);
    chunks.flat_map(|run| if is_matrix(run) { vec![run] } else { run.chunks(1).collect() }).collect()
}

/// Whether two sections hold the same facts, in whatever order.
fn alike(one: &Section, other: &Section) -> bool {
    let holds = |section: &Section, fact: &Fact| section.facts.iter().any(|found| found.key == fact.key);
    one.facts.len() == other.facts.len() && one.facts.iter().all(|fact| holds(other, fact))
}

/// Whether a run of [`runs`] is to be shown as a table.
pub(super) fn is_matrix(run: &[Section]) -> bool {
    run.len() >= LEAST_SECTIONS && run[0].facts.len() > 1
}

/// A run of like sections as a table; columns from the right are left out where the width is short.
pub(super) fn render(run: &[Section], layout: &Layout) -> Rendered {
    let more = run.len().saturating_sub(MOST_SECTIONS);
    let run = &run[..run.len() - more];
    let titles = run.iter().map(|section| escape_controls(&section.title).into_owned()).collect();
    let mut columns = vec![column(String::new(), Rank::Key, true, titles)];
    let mut bars = None;
    for first in &run[0].facts {
        let same = |section| named(section, &first.key).unwrap_or(first);
        let facts: Vec<&Fact> = run.iter().map(same).collect();
        columns.push(values(&facts, layout));
        if facts.iter().any(|fact| fact.share.is_some()) {
            // The first share is the one the table is read for; it alone has a bar.
            let rank = if bars.is_none() { Rank::Normal } else { Rank::Detail };
            columns.push(shares(&facts, rank));
            let parts = facts.iter().map(|fact| fact.share.unwrap_or(0.0)).collect();
            bars = bars.or(Some(BarColumn { after: columns.len() - 1, parts }));
        }
    }
    let fit = fit(&columns, bars.as_ref().map(|bars| bars.after), layout.width);
    let mut text = lines(&columns, &fit, bars.as_ref(), run.len(), layout);
    if more > 0 {
        text.push_str(&paragraph(&format!("{more} more like these; JSON lists all"), layout.theme.quiet, layout));
    }
    if layout.definitions == Definitions::Shown {
        text.push_str(&definitions(&run[0], layout));
    }
    Rendered { text, columns_hidden: fit.columns.len() < columns.len() }
}

fn named<'a>(section: &'a Section, key: &str) -> Option<&'a Fact> {
    section.facts.iter().find(|fact| fact.key == key)
}

fn values(facts: &[&Fact], layout: &Layout) -> TextColumn {
    let words = facts.iter().all(|fact| matches!(fact.value, FactValue::Text(_)));
    let cells = aligned(facts.iter().map(|fact| show_fact(&fact.value)).collect(), layout.glyphs);
    column(escape_controls(&facts[0].title).into_owned(), Rank::Normal, words, cells)
}

fn shares(facts: &[&Fact], rank: Rank) -> TextColumn {
    let shown = |fact: &&Fact| fact.share.map_or(UNKNOWN.to_owned(), |share| show_share(share).joined());
    column(String::new(), rank, false, facts.iter().map(shown).collect())
}

fn column(title: String, rank: Rank, words: bool, cells: Vec<String>) -> TextColumn {
    let natural = cells.iter().map(|cell| width(cell)).max().unwrap_or(0).max(width(&title));
    let says = Says::of(&cells, words);
    TextColumn { title, rank, words, cells, natural, says }
}

fn definitions(section: &Section, layout: &Layout) -> String {
    let defined = section.facts.iter().filter(|fact| !fact.definition.is_empty());
    defined.map(|fact| tagged(&fact.title, layout.theme.quiet, &fact.definition, layout)).collect()
}
