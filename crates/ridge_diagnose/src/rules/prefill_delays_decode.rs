//! Requests that decode wait for the prompts of others in the same step.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use ridge_table::{Basis, Quantity, Subject, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "prefill-delays-decode",
    group: Group::Serving,
    summary: "Prefill delays decode",
    document: include_str!("prefill_delays_decode.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

/// Steps that read prompts, too, take at least so many times as long as those that do not.
const LONGER: f64 = 2.0;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let served = case.served();
    let busy = |wanted: &dyn Fn(&crate::serving::Served) -> bool| -> Vec<i64> {
        let steps = served.iter().filter(|(step, served)| wanted(served) && step.busy_ns > 0);
        let mut busy: Vec<i64> = steps.map(|(step, _)| step.busy_ns).collect();
        busy.sort_unstable();
        busy
    };
    let (mixed, alone) = (busy(&|served| served.is_mixed()), busy(&|served| served.is_decode()));
    let median = |sorted: &[i64]| sorted.get(sorted.len() / 2).copied();
    let (Some(with), Some(without)) = (median(&mixed), median(&alone)) else { return Ok(Vec::new()) };
    if (with as f64) < LONGER * without as f64 {
        return Ok(Vec::new());
    }
    let longest = served.iter().filter(|(_, served)| served.is_mixed()).max_by_key(|(step, _)| step.busy_ns);
    let times = with as f64 / without as f64;
    let ns = |ns: i64| Quantity::nanos(ns, Basis::Measured);
    let finding = Finding::new(format!("a token takes {times:.1} times as long in steps that also prefill prompts"))
        .about(longest.map(|(step, _)| Subject::Event(step.event)))
        .number("median device work of a step that also prefills", ns(with))
        .number("median device work of a decode-only step", ns(without))
        .number("steps with prefill and decode", Quantity::new(mixed.len() as f64, Unit::Count, Basis::Counted))
        .number("decode-only steps", Quantity::new(alone.len() as f64, Unit::Count, Basis::Counted))
        .why("all requests of a step get their tokens when the step ends, so decoding requests wait for the prefill")
        .help("prefill in smaller chunks (`--max-num-batched-tokens`, `--chunked-prefill-size`), or on separate devices")
        .information();
    Ok(vec![finding])
}
