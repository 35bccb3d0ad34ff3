//! The recorder or the reader lost parts of the capture.

use crate::case::Case;
use crate::fitness::{Doubt, Question};
use crate::rule::{Find, Group, Rule};
use ridge_table::{Note, Severity};

pub(crate) static RULE: Rule = Rule {
    id: "dropped-records",
    group: Group::Fitness,
    summary: "parts of the capture were lost",
    document: include_str!("dropped_records.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Doubts(find),
};

/// Below this part of all events, what was left out does not change the answers.
const LEAST: f64 = 0.01;

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    if case.wall().busy_ns() == 0 {
        return;
    }
    for note in case.known.notes.iter().filter(|note| note.severity != Severity::Info) {
        let blocks = concerned(case, note);
        if !blocks.is_empty() {
            let command = Some("ridgeline record --steps 10..12 -- python PROGRAM.py".to_owned());
            doubts.push(Doubt { message: format!("records were lost: {}", note.message), command, blocks });
        }
    }
}

/// What cannot be answered because of what `note` says; readers and recorders say it in words alone.
fn concerned(case: &Case<'_>, note: &Note) -> Vec<Question> {
    let message = note.message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let is_lost = note.severity == Severity::Lost;
    if says(&["snapshot", "alloc", "hlo"]) {
        return Vec::new();
    }
    if says(&["stopped early", "buffers were full", "dropped", "overflow", "buffer is full", "out of buffer"]) {
        return vec![Question::Idle, Question::Steps];
    }
    if is_lost && says(&["no device activity"]) {
        return vec![Question::Ranks];
    }
    // A file beside the capture that is none.
    if says(&["the whole file could not be read"]) {
        return Vec::new();
    }
    if is_lost && says(&["the file ends before its end", "could not be read to its end"]) {
        return vec![Question::Device, Question::Idle, Question::Host, Question::Steps];
    }
    let is_much = note.count as f64 >= LEAST * case.trace().events.len() as f64;
    match is_lost && is_much && says(&["left out", "ends early", "broken", "too large to be true"]) {
        true => vec![Question::Idle],
        false => Vec::new(),
    }
}
