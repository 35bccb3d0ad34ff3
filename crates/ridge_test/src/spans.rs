//! Times of rows, for tests that compare with known answers.

use ridge_trace::Trace;

/// Length of the union of the events at `rows`, nanoseconds: by sorting them, which no analysis does.
pub fn union_ns(trace: &Trace, rows: &[usize]) -> i64 {
    let mut spans: Vec<(i64, i64)> =
        rows.iter().map(|row| (trace.events.start_ns[*row], trace.events.end_ns(*row))).collect();
    spans.sort_unstable();
    let (mut total, mut until) = (0, i64::MIN);
    for (start, end) in spans {
        total += (end - start.max(until)).max(0);
        until = until.max(end);
    }
    total
}
