//! Traces of CUDA graphs that are being captured: what each launch was for. Nothing of a graph runs while it is captured.
//!
//! vLLM writes such a trace with `capture_torch_profiler`, SGLang with `--enable-profile-cuda-graph`: a range `capture_32_FULL` holds
//! the calls of one batch size, and a graph is what was launched between `…StreamBeginCapture` and `…StreamEndCapture`.
//! ROCm's profiler writes the kernel of each launch (`kernel`), CUDA's does not.

use super::row::{Extra, Row, TrackKey};
use super::store::{Store, StoredTrack};
use crate::import::Import;
use crate::source::{GraphPart, Launched, Replay, Said};
use ridge_trace::{EventKind, NONE, StringId, nest};

/// How ranges of a model's modules begin.
const MODULE: &[u8] = b"nn.Module: ";
/// Characters of a path of modules that are kept.
const LONGEST: usize = 1024;

/// The graphs that were captured in `store`, in their order; none where the trace is not one of captures.
pub(super) fn graphs(store: &Store, import: &mut Import) -> Option<Vec<Vec<Launched>>> {
    let of_threads = || store.tracks.iter().filter(|track| matches!(track.key, TrackKey::Thread(..)));
    let is_range = |row: &Row| {
        row.kind == EventKind::Annotation as u8 && is_capture(import.builder.strings.get(StringId(row.name)))
    };
    if !of_threads().any(|track| track.rows.iter().any(is_range)) {
        return None;
    }
    let mut graphs = Vec::new();
    for track in of_threads() {
        of_thread(track, &store.extras, &mut graphs, import);
    }
    (!graphs.is_empty()).then_some(graphs)
}

/// `capture_32_FULL`, `capture_8_DECODE`.
fn is_capture(name: &str) -> bool {
    let Some((size, mode)) = name.strip_prefix("capture_").and_then(|rest| rest.split_once('_')) else { return false };
    let is_word = |text: &str, is: fn(&u8) -> bool| !text.is_empty() && text.as_bytes().iter().all(is);
    is_word(size, u8::is_ascii_digit) && is_word(mode, u8::is_ascii_uppercase)
}

fn of_thread(track: &StoredTrack, extras: &[Extra], graphs: &mut Vec<Vec<Launched>>, import: &mut Import) {
    let rows = &track.rows;
    let mut parents = vec![NONE; rows.len()];
    let spans = rows.iter().map(|row| (row.start_ns, row.start_ns.saturating_add(row.dur_ns)));
    nest(spans, |at, parent| parents[at] = parent);
    // Of each row what is around it and itself: the operator, and the path of modules.
    let mut around = vec![(StringId::default(), StringId::default()); rows.len()];
    let mut open: Option<Vec<Launched>> = None;
    for (at, row) in rows.iter().enumerate() {
        let (operator, scope) = around.get(parents[at] as usize).copied().unwrap_or_default();
        around[at] = (operator, scope);
        let name = import.builder.strings.get(StringId(row.name));
        match EventKind::from_byte(row.kind) {
            EventKind::Operator => around[at].0 = StringId(row.name),
            EventKind::PythonCall => {
                let Some(module) = name.as_bytes().strip_prefix(MODULE) else { continue };
                let above = import.builder.strings.get(scope);
                let separator = if above.is_empty() { "" } else { "/" };
                let path = format!("{above}{separator}{}", String::from_utf8_lossy(module));
                if path.len() <= LONGEST {
                    around[at].1 = import.builder.strings.intern(&path);
                }
            }
            EventKind::Launch => {
                let part = match extras.get(row.extra as usize) {
                    Some(Extra::Launches { kernel }) => Some(GraphPart::Kernel(StringId(kernel.0))),
                    _ if name.contains("Memcpy") => Some(GraphPart::Copy),
                    _ if name.contains("Memset") => Some(GraphPart::Memset),
                    _ => None,
                };
                open.iter_mut().for_each(|graph| graph.push(Launched { part, said: Said { name: operator, scope } }));
            }
            _ if name.contains("StreamBeginCapture") => open = Some(Vec::new()),
            _ if name.contains("StreamEndCapture") => graphs.extend(open.take().filter(|graph| !graph.is_empty())),
            _ => {}
        }
    }
}

/// The work of each launch of a graph among `rows` of streams, in the order of the launches; of each launch in that of time.
pub(super) fn replays(process: u32, rows: impl Iterator<Item = u32>, import: &mut Import) {
    let mut work: Vec<(u32, i64, u32)> = Vec::new();
    for row in rows {
        let of = import.builder.slices(row..row + 1);
        let (link, start, is_work) = (of.link[0], of.start_ns[0], EventKind::from_byte_is_work(of.kind[0]));
        if is_work && link != NONE {
            let launch = import.builder.slices(link..link + 1).name[0];
            if import.builder.strings.get(StringId(launch)).contains("GraphLaunch") {
                work.push((link, start, row));
            }
        }
    }
    work.sort_unstable();
    for launch in work.chunk_by(|one, other| one.0 == other.0) {
        import.graph_replays.push(Replay { process, rows: launch.iter().map(|(_, _, row)| *row).collect() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_captures_are_told_by_size_and_mode() {
        for (name, expected) in [
            ("capture_32_FULL", true),
            ("capture_8192_PIECEWISE", true),
            ("capture_32_DECODE", true),
            ("capture_32", false),
            ("capture__FULL", false),
            ("capture_graph_1", false),
            ("capture_3_full", false),
            ("execute_32_context_0", false),
        ] {
            assert_eq!(is_capture(name), expected, "{name}");
        }
    }
}
