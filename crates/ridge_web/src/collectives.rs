//! Collectives that ran while nothing else did on their device: time that overlap could hide.

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::Request;
use crate::subjects::place_of;
use ridgeline::trace::EventRow;
use serde_json::{Value, json};

/// Rows unless another number is asked for, and most of them.
const ROWS: usize = 200;
const MOST_ROWS: usize = 2_000;

/// `collectives?rows=N`: longest exposure first.
pub(crate) fn collectives(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let most = request.number::<usize>("rows")?.unwrap_or(ROWS).min(MOST_ROWS);
    let trace = page.session().trace();
    let all = page.session().exposed_collectives();
    let total_ns = all.iter().fold(0, |sum: i64, (row, _)| sum.saturating_add(trace.events.dur_ns[row.index()]));
    let exposed_ns = all.iter().fold(0, |sum: i64, (_, exposed)| sum.saturating_add(*exposed));
    let row = |(row, exposed): &(EventRow, i64)| json!({ "event": place_of(page, row.0), "name": trace.name(row.index()), "exposed_ns": exposed });
    Ok(json!({
        "count": all.len(),
        "total_ns": total_ns,
        "exposed_ns": exposed_ns,
        "rows": all.iter().filter(|(_, exposed)| *exposed > 0).take(most).map(row).collect::<Vec<_>>(),
    }))
}
