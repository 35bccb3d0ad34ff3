//! The recorder or the reader lost parts of the capture.

use crate::case::Case;
use crate::fitness::{Doubt, Question};
use crate::losses::Loss;
use crate::rule::{Find, Group, Rule};
use ridge_table::Note;

pub(crate) static RULE: Rule = Rule {
    id: "dropped-records",
    group: Group::Fitness,
    summary: "Records lost",
    document: include_str!("dropped_records.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Doubts(find),
};

/// Below this part of all events, what was left out does not change the answers.
const LEAST: f64 = 0.01;

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    if case.breakdown().busy_ns() == 0 {
        return;
    }
    for note in &case.known.notes {
        let Some(loss) = Loss::of(note) else { continue };
        let blocks = concerned(case, note, loss);
        if !blocks.is_empty() {
            let message = format!("records were lost: {}", note.message);
            doubts.push(Doubt { message, command: Some(loss.advice().to_owned()), blocks });
        }
    }
}

/// What cannot be answered because of a loss.
fn concerned(case: &Case<'_>, note: &Note, loss: Loss) -> Vec<Question> {
    match loss {
        Loss::Room => vec![Question::Idle, Question::Steps],
        Loss::Device => vec![Question::Ranks],
        Loss::EndOfFile => vec![Question::Device, Question::Idle, Question::Host, Question::Steps],
        Loss::Events if note.count as f64 >= LEAST * case.trace().events.len() as f64 => vec![Question::Idle],
        Loss::Events => Vec::new(),
    }
}
