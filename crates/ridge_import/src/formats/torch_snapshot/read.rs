//! From a snapshot's dictionaries to the trace: blocks, allocator events, segments.

use super::pickle::{Pickle, Value};
use crate::import::{CaptureFacts, Import, ImportError, Source};
use crate::note::Severity;
use ridge_trace::{BlockState, NONE, SegmentEventKind, StringId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Settings of the allocator that say how it behaves; the rest is left out.
const SETTINGS: [&str; 5] = [
    "PYTORCH_CUDA_ALLOC_CONF",
    "max_split_size",
    "garbage_collection_threshold",
    "expandable_segments",
    "release_lock_on_cudamalloc",
];

/// Reads one snapshot.
pub(super) fn read(source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
    let broken = |offset: usize, what: String| ImportError::Broken {
        source_name: source.name.to_owned(),
        offset: offset as u64,
        what,
    };
    let (start, bytes) = super::member::pickle_in(source.bytes);
    let pickle = Pickle::read(bytes).map_err(|refused| broken(start + refused.offset, refused.what))?;
    let root = pickle.root.filter(|root| matches!(root, Value::Dict(_)));
    let Some(root) = root else {
        return Err(broken(0, "expected a dictionary with segments and device traces, found another value".to_owned()));
    };
    if let Some(at) = pickle.cut_at {
        let message = "the snapshot ends early; everything before that was read".to_owned();
        import.note(Severity::Lost, source.name, Some((start + at) as u64), 1, message);
    }
    let mut reader = Reader::new(&pickle, source, import);
    let blocks = reader.segments(root);
    reader.traces(root, &blocks);
    reader.finish(root);
    Ok(())
}

/// A block that is in use at the end.
#[derive(Debug, Clone, Copy)]
struct LastBlock {
    device: i64,
    requested: i64,
    stack: u32,
}

/// One entry of a device's history.
#[derive(Debug, Clone, Copy)]
struct Entry<'a> {
    action: &'a [u8],
    address: u64,
    size: i64,
    time_ns: i64,
    stack: u32,
    free: Option<u64>,
}

struct Reader<'a, 'p, 'i> {
    pickle: &'p Pickle<'a>,
    source: Source<'a>,
    import: &'i mut Import,
    process: u32,
    zero_ns: Option<i64>,
    earliest_ns: Option<i64>,
    /// Stacks by the list that holds their frames: snapshots share those lists.
    stacks: FxHashMap<u32, u32>,
    /// Lists that were read: each is read once, however often the file refers to it.
    seen: FxHashSet<u32>,
    repeated: u64,
    untimed: u64,
}

impl<'a, 'p, 'i> Reader<'a, 'p, 'i> {
    fn new(pickle: &'p Pickle<'a>, source: Source<'a>, import: &'i mut Import) -> Self {
        let process = import.builder.add_process(source.name, None);
        let known = import.captures.iter().find_map(|capture| capture.unix_zero_ns);
        let zero_ns = known.and_then(|zero| i64::try_from(zero).ok());
        Reader {
            pickle,
            source,
            import,
            process,
            zero_ns,
            earliest_ns: None,
            stacks: FxHashMap::default(),
            seen: FxHashSet::default(),
            repeated: 0,
            untimed: 0,
        }
    }

    /// The items of a list, the first time it is met.
    fn items_once(&mut self, list: Value<'a>) -> &'p [Value<'a>] {
        let pickle = self.pickle;
        let items = pickle.items(list);
        if let Value::List(number) = list
            && !items.is_empty()
            && !self.seen.insert(number)
        {
            self.repeated += items.len() as u64;
            return &[];
        }
        items
    }

    fn int(&self, record: Value<'a>, key: &str) -> Option<i64> {
        self.pickle.get(record, key).int()
    }

    fn size(&self, record: Value<'a>, key: &str) -> Option<u64> {
        self.int(record, key).and_then(|size| u64::try_from(size).ok())
    }

    fn allocator(&mut self, device: i64) -> StringId {
        self.import.builder.strings.intern(&format!("cuda:{device}"))
    }

    /// Reads the segments and gives the blocks in use by address.
    fn segments(&mut self, root: Value<'a>) -> FxHashMap<u64, LastBlock> {
        let mut last = FxHashMap::default();
        let snapshot = self.import.builder.strings.intern(self.source.name);
        for (number, &segment) in self.items_once(self.pickle.get(root, "segments")).iter().enumerate() {
            let device = self.int(segment, "device").unwrap_or(0);
            let allocator = self.allocator(device);
            let kind = self.pickle.get(segment, "segment_type").text().unwrap_or_default();
            let kind = self.import.builder.strings.intern(&String::from_utf8_lossy(kind));
            let mut address = self.size(segment, "address").unwrap_or(0);
            for &block in self.items_once(self.pickle.get(segment, "blocks")) {
                let size = self.size(block, "size").unwrap_or(0);
                let state = match self.pickle.get(block, "state").text() {
                    Some(b"active_allocated") => BlockState::Allocated,
                    Some(b"inactive") | None => BlockState::Inactive,
                    // `active_awaiting_free`, earlier `active_pending_free`.
                    Some(_) => BlockState::AwaitingFree,
                };
                // Early snapshots give no address: blocks follow one another.
                address = self.size(block, "address").unwrap_or(address);
                let stack = self.stack(self.pickle.get(block, "frames"));
                let requested = match state {
                    BlockState::Inactive => 0,
                    _ => self.size(block, "requested_size").unwrap_or(size),
                };
                let blocks = &mut self.import.builder.memory.blocks;
                blocks.snapshot.push(snapshot);
                blocks.allocator.push(allocator);
                blocks.kind.push(kind);
                blocks.state.push(state);
                blocks.count.push(1);
                blocks.bytes.push(size);
                blocks.requested_bytes.push(requested);
                blocks.segment.push(number as u32);
                blocks.stack.push(stack);
                if state != BlockState::Inactive {
                    let requested = i64::try_from(requested).unwrap_or(i64::MAX);
                    last.insert(address, LastBlock { device, requested, stack });
                }
                address = address.saturating_add(size);
            }
        }
        last
    }

    /// The row of the stack whose frames `list` holds, innermost first.
    fn stack(&mut self, list: Value<'a>) -> u32 {
        let Value::List(number) = list else { return NONE };
        if let Some(&stack) = self.stacks.get(&number) {
            return stack;
        }
        let mut stack = NONE;
        for &frame in self.pickle.items(list).iter().rev() {
            let text = |key: &str| String::from_utf8_lossy(self.pickle.get(frame, key).text().unwrap_or_default());
            let (file, function) = (text("filename"), text("name"));
            let line = self.int(frame, "line").unwrap_or(0);
            // Code that was generated from a graph names the line of the program that it was made of.
            let words = original(&text("fx_original_trace")).unwrap_or_else(|| format!("{file}:{line} {function}"));
            let words = self.import.builder.strings.intern(&words);
            stack = self.import.builder.memory.stacks.push(stack, words);
        }
        self.stacks.insert(number, stack);
        stack
    }

    /// Reads the history of every device.
    fn traces(&mut self, root: Value<'a>, last: &FxHashMap<u64, LastBlock>) {
        let traces = self.items_once(self.pickle.get(root, "device_traces"));
        for (device, &trace) in traces.iter().enumerate() {
            let entries: Vec<Entry<'a>> =
                self.items_once(trace).iter().enumerate().map(|(order, &entry)| self.entry(entry, order)).collect();
            if !entries.is_empty() {
                self.history(device as i64, &entries, last);
            }
        }
    }

    fn entry(&mut self, entry: Value<'a>, order: usize) -> Entry<'a> {
        let time_ns = self.int(entry, "time_us").map(|time| time.saturating_mul(1000));
        self.untimed += u64::from(time_ns.is_none());
        let stack = self.stack(self.pickle.get(entry, "frames"));
        Entry {
            action: self.pickle.get(entry, "action").text().unwrap_or_default(),
            address: self.size(entry, "addr").unwrap_or(0),
            size: self.int(entry, "size").unwrap_or(0).max(0),
            // Without times the order is all that is known.
            time_ns: time_ns.unwrap_or(order as i64),
            stack,
            free: self.size(entry, "device_free"),
        }
    }

    fn history(&mut self, device: i64, entries: &[Entry<'a>], last: &FxHashMap<u64, LastBlock>) {
        let allocator = self.allocator(device);
        let start = entries.iter().map(|entry| entry.time_ns).min().unwrap_or(0);
        let zero = *self.zero_ns.get_or_insert(start);
        self.earliest_ns = Some(self.earliest_ns.map_or(start, |earliest| earliest.min(start)));
        let mut state = State { allocator, process: self.process, zero, in_use: 0, peak: 0, reserved: 0 };
        state.reserved = self.reserved_at_start(device, entries);
        for (address, size, stack) in older_blocks(device, entries, last) {
            state.allocation(self.import, start, address, size, stack);
            self.import.builder.allocations.is_older.push(true);
        }
        let mut sizes: FxHashMap<u64, i64> = FxHashMap::default();
        for entry in entries {
            match entry.action {
                b"alloc" => {
                    sizes.insert(entry.address, entry.size);
                    state.allocation(self.import, entry.time_ns, entry.address, entry.size, entry.stack);
                }
                b"free_completed" => {
                    let size = sizes.remove(&entry.address).unwrap_or(entry.size);
                    state.allocation(self.import, entry.time_ns, entry.address, size.saturating_neg(), entry.stack);
                }
                action => {
                    if let Some(kind) = segment_kind(action) {
                        state.segment(self.import, kind, entry);
                    }
                }
            }
        }
    }

    /// Bytes held from the driver before the first entry: what is held at the end less what the history took.
    fn reserved_at_start(&self, device: i64, entries: &[Entry<'a>]) -> i64 {
        let blocks = &self.import.builder.memory.blocks;
        let allocator = self.import.builder.strings.find(&format!("cuda:{device}"));
        let snapshot = self.import.builder.strings.find(self.source.name);
        let own = (0..blocks.len())
            .filter(|row| Some(blocks.allocator[*row]) == allocator && Some(blocks.snapshot[*row]) == snapshot);
        let end = own.fold(0u64, |sum, row| sum.saturating_add(blocks.bytes[row]));
        let taken =
            entries.iter().filter_map(|entry| Some(segment_kind(entry.action)?.sign().saturating_mul(entry.size)));
        let taken = taken.fold(0i64, i64::saturating_add);
        i64::try_from(end).unwrap_or(i64::MAX).saturating_sub(taken).max(0)
    }

    fn finish(&mut self, root: Value<'a>) {
        let name = self.source.name;
        if self.repeated > 0 {
            let message = "parts of the snapshot refer to the same list; each is read once".to_owned();
            self.import.note(Severity::Partial, name, None, self.repeated, message);
        }
        if self.untimed > 0 {
            let message = "history entries have no times; they are shown in order, one nanosecond apart".to_owned();
            self.import.note(Severity::Partial, name, None, self.untimed, message);
        }
        let settings = self.pickle.get(root, "allocator_settings");
        let facts = SETTINGS.iter().filter_map(|key| {
            let value = match self.pickle.get(settings, key) {
                Value::Flag(flag) => flag.to_string(),
                Value::Int(number) => number.to_string(),
                Value::Real(number) => number.to_string(),
                Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
                _ => return None,
            };
            Some(((*key).to_owned(), value))
        });
        let (zero, earliest) = (self.zero_ns.unwrap_or(0), self.earliest_ns.unwrap_or(self.zero_ns.unwrap_or(0)));
        let timed = self.untimed == 0 && self.earliest_ns.is_some();
        self.import.captures.push(CaptureFacts {
            source: name.to_owned(),
            format: "torch-snapshot",
            bytes: self.source.bytes.len() as u64,
            facts: facts.collect(),
            start_ns: earliest.saturating_sub(zero),
            unix_zero_ns: timed.then(|| u64::try_from(zero).ok()).flatten(),
        });
    }
}

/// What one device's allocator holds as its history goes on.
struct State {
    allocator: StringId,
    process: u32,
    zero: i64,
    in_use: i64,
    peak: i64,
    reserved: i64,
}

impl State {
    fn allocation(&mut self, import: &mut Import, time_ns: i64, address: u64, delta: i64, stack: u32) {
        self.in_use = self.in_use.saturating_add(delta);
        self.peak = self.peak.max(self.in_use);
        let table = &mut import.builder.allocations;
        table.pad_optional();
        table.process.push(self.process);
        table.time_ns.push(time_ns.saturating_sub(self.zero));
        table.allocator.push(self.allocator);
        table.delta_bytes.push(delta);
        table.requested_bytes.push(delta.saturating_abs());
        table.in_use_bytes.push(self.in_use);
        table.peak_bytes.push(self.peak);
        table.reserved_bytes.push(self.reserved);
        table.fragmentation.push(0.0);
        table.address.push(address);
        table.owner.push(StringId::default());
        table.stack.push(stack);
    }

    fn segment(&mut self, import: &mut Import, kind: SegmentEventKind, entry: &Entry<'_>) {
        self.reserved = self.reserved.saturating_add(kind.sign().saturating_mul(entry.size));
        let segments = &mut import.builder.memory.segments;
        segments.allocator.push(self.allocator);
        segments.process.push(self.process);
        segments.time_ns.push(entry.time_ns.saturating_sub(self.zero));
        segments.kind.push(kind);
        segments.bytes.push(u64::try_from(entry.size).unwrap_or(0));
        segments.free_bytes.push(entry.free);
        segments.stack.push(entry.stack);
    }
}

fn segment_kind(action: &[u8]) -> Option<SegmentEventKind> {
    Some(match action {
        b"segment_alloc" => SegmentEventKind::Allocated,
        b"segment_free" => SegmentEventKind::Freed,
        b"segment_map" => SegmentEventKind::Mapped,
        b"segment_unmap" => SegmentEventKind::Unmapped,
        b"oom" => SegmentEventKind::OutOfMemory,
        _ => return None,
    })
}

/// Blocks in use before the first entry: freed without an allocation in the history, or in use at its end without one.
///
/// The history is a ring: what was allocated before its oldest entry appears in it only when it is freed.
fn older_blocks(device: i64, entries: &[Entry<'_>], last: &FxHashMap<u64, LastBlock>) -> Vec<(u64, i64, u32)> {
    let mut older: FxHashMap<u64, (i64, u32)> = FxHashMap::default();
    let mut touched: FxHashSet<u64> = FxHashSet::default();
    for entry in entries.iter().filter(|entry| matches!(entry.action, b"alloc" | b"free_completed")) {
        if touched.insert(entry.address) && entry.action == b"free_completed" {
            older.insert(entry.address, (entry.size, NONE));
        }
    }
    for (address, block) in last.iter().filter(|(address, block)| block.device == device && !touched.contains(address))
    {
        older.insert(*address, (block.requested, block.stack));
    }
    let mut older: Vec<(u64, i64, u32)> =
        older.into_iter().map(|(address, (size, stack))| (address, size, stack)).collect();
    older.sort_unstable();
    older
}

/// `net.py:12 forward` of the innermost frame of a stack as Python prints it: `File "net.py", line 12, in forward`.
fn original(stack: &str) -> Option<String> {
    let frame = stack.lines().rev().find_map(|line| line.trim_start().strip_prefix("File \""))?;
    let (file, rest) = frame.split_once("\", line ")?;
    let (line, function) = rest.split_once(", in ").unwrap_or((rest, ""));
    let line: u32 = line.trim().parse().ok()?;
    Some(format!("{file}:{line} {}", function.trim()))
}

#[cfg(test)]
mod tests {
    use super::original;

    #[test]
    fn generated_code_has_the_line_that_it_was_made_of() {
        let stack = "  File \"train.py\", line 40, in main\n    loss = net(x)\n  File \"a b/net.py\", line 12, in forward\n    y = f(x)\n";
        assert_eq!(original(stack).as_deref(), Some("a b/net.py:12 forward"));
        for other in ["", "File \"x.py", "File \"x.py\", line twelve, in f", "net.py:12"] {
            assert_eq!(original(other), None, "{other}");
        }
    }
}
