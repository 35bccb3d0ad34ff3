//! Sections as lines: name, value, share, bar.
//!
//! Columns are shared by all sections of a report, so that the eye runs down one edge.

use super::line::{Line, width};
use super::matrix::{self, is_matrix};
use super::table::Rendered;
use super::words::{plain_marks, tagged, wrap};
use super::{Definitions, Layout, bar, heading};
use crate::escape_controls;
use crate::number::{Shown, show_fact, show_share};
use anstyle::Style;
use ridgeline::{Fact, FactValue, Section};

const INDENT: usize = 2;
const GAP: usize = 2;
/// Widest bar; a bar of a fact is drawn against the whole.
const BAR: usize = 20;
/// A bar narrower than this says nothing.
const LEAST_BAR: usize = 5;
/// Names longer than this do not push all values to the right.
const LONGEST_NAME: usize = 36;

/// Widths that all facts of a report share, in columns of text.
struct Edges {
    name: usize,
    number: usize,
    unit: usize,
    share: usize,
    bar: usize,
}

/// Each section as a block of text; many like sections as one block.
pub(super) fn sections(sections: &[Section], layout: &Layout) -> Vec<Rendered> {
    let runs = matrix::runs(sections);
    let alone: Vec<&Section> = runs.iter().filter(|run| !is_matrix(run)).flat_map(|run| run.iter()).collect();
    let edges = edges(&alone, layout);
    let block = |run: &&[Section]| match run {
        run if is_matrix(run) => matrix::render(run, layout),
        run => Rendered {
            text: run.iter().map(|section| render(section, &edges, layout)).collect(),
            columns_hidden: false,
        },
    };
    runs.iter().map(block).collect()
}

fn edges(sections: &[&Section], layout: &Layout) -> Edges {
    let facts = || sections.iter().flat_map(|section| &section.facts);
    let numbers: Vec<Shown> = facts().filter(|fact| !is_words(fact)).map(|fact| show_fact(&fact.value)).collect();
    let widest = |of: fn(&Shown) -> usize| numbers.iter().map(of).max().unwrap_or(0);
    let name = facts().map(|fact| width(&escape_controls(&fact.title))).max().unwrap_or(0).min(LONGEST_NAME);
    let (number, unit) = (widest(|shown| width(&shown.body)), widest(|shown| width(&shown.unit)));
    let share =
        facts().filter_map(|fact| fact.share).map(|share| width(&show_share(share).joined())).max().unwrap_or(0);
    let used = INDENT + name + GAP + number + 1 + unit + GAP + share + GAP;
    let bar = layout.width.saturating_sub(used).min(BAR);
    Edges { name, number, unit, share, bar: if bar < LEAST_BAR { 0 } else { bar } }
}

fn is_words(fact: &Fact) -> bool {
    matches!(fact.value, FactValue::Text(_))
}

fn render(section: &Section, edges: &Edges, layout: &Layout) -> String {
    let mut text = heading(&section.title, layout);
    for fact in &section.facts {
        text.push_str(&if is_words(fact) { words(fact, edges, layout) } else { number(fact, edges, layout) });
        if layout.definitions == Definitions::Shown && !fact.definition.is_empty() {
            let indented = Layout { width: layout.width.saturating_sub(2 * INDENT), ..*layout };
            let definition = tagged("is", layout.theme.quiet, &escape_controls(&fact.definition), &indented);
            text.extend(definition.lines().map(|line| format!("{:1$}{line}\n", "", 2 * INDENT)));
        }
    }
    text
}

fn named(fact: &Fact, edges: &Edges) -> Line {
    let mut line = Line::new();
    line.skip(INDENT);
    line.left(Style::new(), &escape_controls(&fact.title), edges.name);
    line.skip(GAP);
    line
}

fn number(fact: &Fact, edges: &Edges, layout: &Layout) -> String {
    let mut line = named(fact, edges);
    let shown = show_fact(&fact.value);
    line.right(Style::new(), &plain_marks(&shown.body, layout.glyphs), edges.number);
    line.skip(1);
    line.left(Style::new(), &plain_marks(&shown.unit, layout.glyphs), edges.unit);
    if let Some(share) = fact.share {
        line.skip(GAP);
        line.right(Style::new(), &plain_marks(&show_share(share).joined(), layout.glyphs), edges.share);
        line.skip(GAP);
        line.push(layout.theme.bar, &bar(share, edges.bar, layout.glyphs));
    }
    line.end()
}

/// Words wrap under themselves: a command or a flag is to be read whole.
fn words(fact: &Fact, edges: &Edges, layout: &Layout) -> String {
    let indent = INDENT + edges.name + GAP;
    let value = show_fact(&fact.value).joined();
    let mut text = String::new();
    for (index, words) in wrap(&value, layout.width.saturating_sub(indent)).iter().enumerate() {
        let mut line = named(fact, edges);
        if index > 0 {
            line = Line::new();
            line.skip(indent);
        }
        line.push(Style::new(), words);
        if let (0, Some(share)) = (index, fact.share) {
            line.push(Style::new(), &format!("  {}", plain_marks(&show_share(share).joined(), layout.glyphs)));
        }
        text.push_str(&line.end());
    }
    text
}
