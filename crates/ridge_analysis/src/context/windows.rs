//! Windows of one process: captures that were taken of it one after the other, each a row of the processes table.

use ridge_trace::Trace;

/// The rows of the processes table, those of one process of the system together, in order of time. A process has one profiler, so
/// its captures do not overlap; processes of the same id on several hosts are captured together, and do.
pub fn windows_of_processes(trace: &Trace) -> Vec<Vec<u32>> {
    let mut found: Vec<Vec<u32>> = Vec::new();
    for process in 0..trace.processes.len() as u32 {
        match found.iter_mut().find(|windows| windows.iter().all(|other| follows(trace, *other, process))) {
            Some(windows) => windows.push(process),
            None => found.push(vec![process]),
        }
    }
    let start = |process: &u32| trace.process_span_ns(*process).map_or(i64::MIN, |(start, _)| start);
    found.iter_mut().for_each(|windows| windows.sort_by_key(start));
    found
}

/// Whether the rows are of one process at different times.
fn follows(trace: &Trace, one: u32, other: u32) -> bool {
    let pid = |process: u32| trace.processes.get(process as usize).and_then(|process| process.pid);
    let is_apart =
        trace.process_span_ns(one).zip(trace.process_span_ns(other)).is_some_and(|(a, b)| a.1 <= b.0 || b.1 <= a.0);
    pid(one).is_some() && pid(one) == pid(other) && is_apart
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
