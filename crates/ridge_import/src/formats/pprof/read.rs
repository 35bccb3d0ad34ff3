//! From a profile's samples to blocks of a snapshot.

use crate::import::{CaptureFacts, Import, ImportError, Source};
use crate::note::Severity;
use ridge_hlo::wire::{Fields, Value, WireError, packed, text};
use ridge_trace::{BlockState, NONE};
use rustc_hash::FxHashMap;

/// Frames of one stack that are kept, the innermost; Python's own recursion limit is 1000.
const MOST_FRAMES: usize = 1024;

/// The parts of a profile, as they stand in the file.
#[derive(Debug, Default)]
struct Profile<'a> {
    types: Vec<(u64, u64)>,
    samples: Vec<&'a [u8]>,
    /// Function and line of each location, innermost first, by id.
    locations: FxHashMap<u64, Vec<(u64, i64)>>,
    /// Name and file of each function, by id.
    functions: FxHashMap<u64, (u64, u64)>,
    strings: Vec<&'a [u8]>,
}

/// One sample: a stack and what is held from it.
#[derive(Debug, Default)]
struct Sample {
    locations: Vec<u64>,
    values: Vec<u64>,
    /// Key and text of each label.
    labels: Vec<(u64, u64)>,
}

/// Reads one profile.
pub(super) fn read(source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
    let (profile, damage) = Profile::read(source.bytes);
    if profile.types.is_empty() {
        let (offset, what) = damage
            .map_or((0, "expected the sample types of a profile, found none"), |damage| (damage.offset, damage.what));
        let source_name = source.name.to_owned();
        return Err(ImportError::Broken { source_name, offset: offset as u64, what: what.to_owned() });
    }
    if let Some(damage) = damage {
        let message = format!("the profile ends early: {}", damage.what);
        import.note(Severity::Lost, source.name, Some(damage.offset as u64), 1, message);
    }
    let Some((count_at, bytes_at)) = profile.columns() else {
        return Err(ImportError::Broken {
            source_name: source.name.to_owned(),
            offset: 0,
            what: "expected a memory profile with samples in bytes, found another kind".to_owned(),
        });
    };
    let mut broken = 0;
    for message in &profile.samples {
        let (sample, is_whole) = Sample::read(message);
        broken += u64::from(!is_whole);
        keep(&profile, &sample, (count_at, bytes_at), source, import);
    }
    if broken > 0 {
        let message = "samples are damaged; their readable parts are shown".to_owned();
        import.note(Severity::Lost, source.name, None, broken, message);
    }
    import.captures.push(CaptureFacts {
        source: source.name.to_owned(),
        format: "pprof",
        bytes: source.bytes.len() as u64,
        ..CaptureFacts::default()
    });
    Ok(())
}

/// Adds one sample as a row of blocks.
fn keep(
    profile: &Profile<'_>,
    sample: &Sample,
    (count_at, bytes_at): (Option<usize>, usize),
    source: Source<'_>,
    import: &mut Import,
) {
    let bytes = sample.values.get(bytes_at).copied().unwrap_or(0);
    let count = count_at.and_then(|at| sample.values.get(at)).copied().unwrap_or(1);
    let mut stack = NONE;
    let frames: Vec<(u64, i64)> = sample
        .locations
        .iter()
        .flat_map(|location| profile.locations.get(location).map_or(&[][..], Vec::as_slice))
        .take(MOST_FRAMES)
        .copied()
        .collect();
    for (function, line) in frames.into_iter().rev() {
        let (name, file) = profile.functions.get(&function).copied().unwrap_or_default();
        let words = format!("{}:{line} {}", profile.string(file), profile.string(name));
        let frame = import.builder.strings.intern(&words);
        stack = import.builder.memory.stacks.push(stack, frame);
    }
    let label = |key: &str| {
        let found = sample.labels.iter().find(|(own, _)| profile.string(*own) == key);
        found.map_or_else(String::new, |(_, text)| profile.string(*text).into_owned())
    };
    let strings = &mut import.builder.strings;
    let [snapshot, allocator, kind] = [source.name, &label("device"), &label("kind")].map(|name| strings.intern(name));
    let blocks = &mut import.builder.memory.blocks;
    blocks.snapshot.push(snapshot);
    blocks.allocator.push(allocator);
    blocks.kind.push(kind);
    blocks.state.push(BlockState::Allocated);
    blocks.count.push(count);
    blocks.bytes.push(bytes);
    blocks.requested_bytes.push(bytes);
    blocks.segment.push(NONE);
    blocks.stack.push(stack);
}

impl<'a> Profile<'a> {
    /// Collects the parts; tables may come after what refers to them.
    fn read(bytes: &'a [u8]) -> (Profile<'a>, Option<WireError>) {
        let mut profile = Profile::default();
        for field in Fields::new(bytes) {
            match field {
                Ok((1, Value::Bytes(part))) => profile.types.push(numbers(part, 1, 2)),
                Ok((2, Value::Bytes(part))) => profile.samples.push(part),
                Ok((4, Value::Bytes(part))) => profile.location(part),
                Ok((5, Value::Bytes(part))) => {
                    let (id, _) = numbers(part, 1, 1);
                    profile.functions.insert(id, numbers(part, 2, 4));
                }
                Ok((6, Value::Bytes(part))) => profile.strings.push(part),
                Ok(_) => {}
                Err(damage) => return (profile, Some(damage)),
            }
        }
        (profile, None)
    }

    fn location(&mut self, message: &[u8]) {
        let (mut id, mut lines) = (0, Vec::new());
        for field in Fields::new(message).map_while(Result::ok) {
            match field {
                (1, Value::Varint(number)) => id = number,
                (4, Value::Bytes(line)) => {
                    let (function, line) = numbers(line, 1, 2);
                    lines.push((function, line as i64));
                }
                _ => {}
            }
        }
        self.locations.insert(id, lines);
    }

    fn string(&self, at: u64) -> std::borrow::Cow<'a, str> {
        usize::try_from(at).ok().and_then(|at| self.strings.get(at)).map_or("".into(), |bytes| text(bytes))
    }

    /// Places of the count, where there is one, and of the bytes among a sample's values.
    fn columns(&self) -> Option<(Option<usize>, usize)> {
        let unit = |wanted: &str| self.types.iter().position(|(_, unit)| self.string(*unit) == wanted);
        Some((unit("count"), unit("bytes")?))
    }
}

impl Sample {
    /// The sample, and whether all of it could be read.
    fn read(message: &[u8]) -> (Sample, bool) {
        let mut sample = Sample::default();
        for field in Fields::new(message) {
            match field {
                Ok((1, value)) => extend(&mut sample.locations, value),
                Ok((2, value)) => extend(&mut sample.values, value),
                Ok((3, Value::Bytes(label))) => sample.labels.push(numbers(label, 1, 2)),
                Ok(_) => {}
                Err(_) => return (sample, false),
            }
        }
        (sample, true)
    }
}

/// Repeated numbers, packed or one by one.
fn extend(numbers: &mut Vec<u64>, value: Value<'_>) {
    match value {
        Value::Bytes(bytes) => numbers.extend(packed(bytes)),
        value => numbers.extend(value.integer()),
    }
}

/// The numbers in fields `first` and `second` of a message; 0 where they are left out.
fn numbers(message: &[u8], first: u32, second: u32) -> (u64, u64) {
    let mut found = (0, 0);
    for (number, value) in Fields::new(message).map_while(Result::ok) {
        if number == first {
            found.0 = value.integer().unwrap_or(0);
        }
        if number == second {
            found.1 = value.integer().unwrap_or(0);
        }
    }
    found
}
