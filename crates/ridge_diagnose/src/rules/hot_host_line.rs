//! One line of Python has much of the time while the device is idle, and nothing else says why.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::Question;
use crate::rule::{Find, Group, Rule};
use crate::words::{percent, short};
use ridge_analysis::{Need, PythonLooks};
use ridge_table::{Basis, Quantity, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "hot-host-line",
    group: Group::Host,
    summary: "One line of Python has much of the time",
    document: include_str!("hot_host_line.md"),
    asks: &[Question::Device, Question::Host],
    explains: &[],
    needs: &[Need::of::<PythonLooks>()],
    find: Find::Rest(find),
};

/// The least part of the looks at the program.
const LEAST: f64 = 0.25;
/// With a busier device, the operators tell where the time goes.
const MOST_BUSY: f64 = 0.7;
/// Where other findings have more of the time, they say it.
const MOST_CLAIMED: f64 = 0.3;
/// Fewer looks say nothing.
const FEWEST: u64 = 16;

fn find(case: &Case<'_>, claimed: &[(usize, f32)]) -> Vec<Finding> {
    let is_of_processor = case.framework() == Framework::Torch && case.is_on_processors();
    if !is_of_processor || case.busy_share().is_none_or(|busy| busy > MOST_BUSY) || case.share_of(claimed.iter().copied()) > MOST_CLAIMED {
        return Vec::new();
    }
    let looks = case.analysis.get::<PythonLooks>();
    let Some(seen) = case.seen(looks.all()).filter(|seen| seen.of >= FEWEST) else { return Vec::new() };
    let share = seen.looks as f64 / seen.of as f64;
    // What PyTorch computes is the device's work, however short its operators are.
    let computes = ["torch/nn/", "torch/autograd/", "torch/_tensor.py", "torch/functional.py"].iter().any(|path| seen.inside.starts_with(path));
    if share < LEAST || computes || (seen.call.is_empty() && seen.inside.is_empty()) {
        return Vec::new();
    }
    let call = [seen.inside, seen.call].into_iter().find(|call| !call.is_empty());
    let call = call.map_or(String::new(), |call| format!(", mostly in `{}`", short(call)));
    vec![
        Finding::new(format!("{} of the time is spent at one line of Python{call}, and the device is busy only {} of the time", percent(share), percent(case.busy_share().unwrap_or(0.0))))
            .at(Some(seen.place.clone()))
            .number("Python stack samples", Quantity::new(seen.of as f64, Unit::Count, Basis::Counted))
            .why("nothing runs on the device while Python works or waits, and no known cause accounts for this line")
            .help("do this once before the loop if its result stays the same, less often if it is bookkeeping, for many items at once if it is called per item, or in another thread or process if it waits")
            .claims(case.claim_of_all(share))
            .unknown_amount()
            .information(),
    ]
}
