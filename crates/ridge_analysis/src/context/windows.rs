//! Windows of one process: captures that were taken of it one after the other, each a row of the processes table.

use ridge_trace::Trace;
use rustc_hash::FxHashMap;

/// The rows of the processes table, those of one process of the system together, in order of time. A process has one profiler, so
/// its captures do not overlap; processes of the same id on several hosts are captured together, and do.
pub fn windows_of_processes(trace: &Trace) -> Vec<Vec<u32>> {
    let mut found: Vec<Vec<u32>> = Vec::new();
    // Only rows with one id are looked at together: a file may name very many processes.
    let mut of_pid: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    for (process, pid) in (0..).zip(trace.processes.iter().map(|process| process.pid)) {
        let known = pid.map(|pid| of_pid.entry(pid).or_default());
        let is_apart = |at: &&usize| found[**at].iter().all(|other| are_apart(trace, *other, process));
        match known.as_ref().and_then(|known| known.iter().find(is_apart).copied()) {
            Some(at) => found[at].push(process),
            None => {
                known.into_iter().for_each(|known| known.push(found.len()));
                found.push(vec![process]);
            }
        }
    }
    let start = |process: &u32| trace.process_span_ns(*process).map_or(i64::MIN, |(start, _)| start);
    found.iter_mut().for_each(|windows| windows.sort_by_key(start));
    found
}

/// Whether the rows are of different times, and not of two ranks whose hosts gave them the same number.
fn are_apart(trace: &Trace, one: u32, other: u32) -> bool {
    let rank = |process: u32| trace.processes[process as usize].rank;
    if rank(one) != rank(other) {
        return false;
    }
    let spans = trace.process_span_ns(one).zip(trace.process_span_ns(other));
    spans.is_some_and(|(a, b)| a.1 <= b.0 || b.1 <= a.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_of_one_process_follow_each_other_and_those_of_ranks_overlap() {
        let trace = ridge_test::trace(
            "process first pid=7
             thread python
               0 +10 a
             process second pid=7
             thread python
               20 +10 a
             process elsewhere pid=7
             thread python
               5 +10 a
             process unknown
             thread python
               40 +10 a",
        );
        let found: Vec<Vec<u32>> = windows_of_processes(&trace);
        let named = |process: &u32| trace.strings.get(trace.processes[*process as usize].name);
        let found: Vec<Vec<&str>> = found.iter().map(|windows| windows.iter().map(named).collect()).collect();
        assert!(
            found.contains(&vec!["first", "second"])
                && found.contains(&vec!["elsewhere"])
                && found.contains(&vec!["unknown"]),
            "{found:?}"
        );
    }
}
