//! PyTorch memory timelines (`export_memory_timeline`): bytes by category over time.
//!
//! `*.raw.json.gz` is one list of `[time, action, bytes, category]`; `*.json` has its sums (`summed.rs`).
//! A third form, `*.html`, contains only a picture. Actions and categories are defined in torch's `_memory_profiler.py`;
//! usage is the running sum of the bytes, which are negative for freed memory.
//! A timeline has no addresses and no stacks: the owner of its allocator events is a category.

mod summed;
mod walk;

use crate::choice::InFolder;
use crate::formats::Format;
use crate::import::{CaptureFacts, Import, ImportError, Source};
use crate::note::Severity;
use ridge_redact::Redactor;
use ridge_trace::StringId;
use walk::{CATEGORIES, Walk};

/// The memory timeline format.
pub(super) struct MemoryTimeline;

/// The time of what was there before the profile began.
const BEFORE: i64 = -1;

impl Format for MemoryTimeline {
    fn name(&self) -> &'static str {
        "memory-timeline"
    }

    fn in_folder(&self) -> InFolder {
        InFolder::Beside("memory", &[])
    }

    fn hint(&self, error: &ImportError) -> Option<String> {
        match error {
            ImportError::Unknown { found, .. } if found.to_ascii_lowercase().contains("<html") => Some(
                "an HTML page has a picture but no numbers; for a PyTorch memory timeline, \
                 `export_memory_timeline(\"FILE.raw.json.gz\")` writes a readable file"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let mut walk = Walk { bytes: head, at: 0 };
        let is_raw = walk.opens() && walk.row().is_some_and(|[_, action, _, category]| is_row(action, category));
        is_raw || summed::is_summed(head)
    }

    fn redactor(&self, _head: &[u8]) -> Redactor {
        Redactor::Json
    }

    fn import(&self, source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
        let mut walk = Walk { bytes: source.bytes, at: 0 };
        let broken = |walk: &Walk<'_>, what: &str| ImportError::Broken {
            source_name: source.name.to_owned(),
            offset: walk.at as u64,
            what: what.to_owned(),
        };
        if summed::is_summed(&source.bytes[..source.bytes.len().min(1 << 12)]) {
            let (rows, is_whole) = summed::changes(&mut walk).map_err(|what| broken(&walk, what))?;
            if !is_whole {
                let message =
                    "expected the end of the list or a row of nine sums; everything before that was read".to_owned();
                import.note(Severity::Lost, source.name, Some(walk.at as u64), 1, message);
            }
            keep(rows, source, import);
            return Ok(());
        }
        if !walk.opens() {
            return Err(broken(&walk, "expected a list of [time, action, bytes, category]"));
        }
        let mut rows: Vec<[i64; 4]> = Vec::new();
        let mut is_whole = walk.closes();
        while !is_whole {
            let Some(row) = walk.row() else { break };
            rows.push(row);
            is_whole = walk.closes();
            if !is_whole && !walk.skip(b',') {
                break;
            }
        }
        if rows.is_empty() && !is_whole {
            return Err(broken(&walk, "expected a row of four whole numbers"));
        }
        if !is_whole {
            let message = "expected the end of the list or another row; everything before that was read".to_owned();
            import.note(Severity::Lost, source.name, Some(walk.at as u64), 1, message);
        }
        keep(rows, source, import);
        Ok(())
    }
}

fn is_row(action: i64, category: i64) -> bool {
    (1..=4).contains(&action) && (0..CATEGORIES.len() as i64).contains(&category)
}

fn keep(mut rows: Vec<[i64; 4]>, source: Source<'_>, import: &mut Import) {
    let first = rows.iter().map(|row| row[0]).filter(|time| *time != BEFORE).min().unwrap_or(0);
    rows.iter_mut().filter(|row| row[0] == BEFORE).for_each(|row| row[0] = first);
    // Categories are walked in the order of time, as `_coalesce_timeline` of torch does.
    rows.sort_by_key(|row| row[0]);
    let odd = rows.iter().filter(|row| !is_row(row[1], row[3])).count() as u64;
    if odd > 0 {
        let message = "rows have an unknown action or category; their bytes count as unknown".to_owned();
        import.note(Severity::Partial, source.name, None, odd, message);
    }
    let known = import.captures.iter().find_map(|capture| capture.unix_zero_ns);
    let zero = known.and_then(|zero| i64::try_from(zero).ok()).unwrap_or(first);
    let process = import.builder.add_process(source.name, None);
    let allocator = import.builder.strings.intern("memory timeline");
    let owners: Vec<StringId> = CATEGORIES.iter().map(|name| import.builder.strings.intern(name)).collect();
    let (mut in_use, mut peak) = (0i64, 0i64);
    let table = &mut import.builder.allocations;
    table.pad_optional();
    for [time, _, bytes, category] in rows {
        in_use = in_use.saturating_add(bytes);
        peak = peak.max(in_use);
        let owner =
            usize::try_from(category).ok().and_then(|at| owners.get(at)).unwrap_or(&owners[CATEGORIES.len() - 1]);
        table.process.push(process);
        table.time_ns.push(time.saturating_sub(zero));
        table.allocator.push(allocator);
        table.delta_bytes.push(bytes);
        table.requested_bytes.push(0);
        table.in_use_bytes.push(in_use);
        table.peak_bytes.push(peak);
        table.reserved_bytes.push(-1);
        table.fragmentation.push(0.0);
        table.address.push(0);
        table.owner.push(*owner);
    }
    table.pad_optional();
    import.captures.push(CaptureFacts {
        source: source.name.to_owned(),
        format: "memory-timeline",
        bytes: source.bytes.len() as u64,
        facts: Vec::new(),
        start_ns: first.saturating_sub(zero),
        unix_zero_ns: u64::try_from(zero).ok().filter(|zero| *zero > 0),
    });
}
