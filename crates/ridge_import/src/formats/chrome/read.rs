//! Reading the whole file: mapped and in several stretches at once, or piece by piece as it is unpacked.

use super::chunk::Chunk;
use super::header::Header;
use super::place::place;
use super::store::Store;
use super::walk::{Mode, Position, Window, find_event_start, walk};
use crate::import::{Import, ImportError, Source};
use crate::note::Severity;
use crate::packed::{Packed, PackedReader};
use rayon::prelude::*;
use std::sync::mpsc::sync_channel;

/// Bytes that one thread walks before the stretches are joined.
const STRETCH_BYTES: usize = 8 << 20;

/// Stretches that are walked at once: enough to keep a few cores busy, few enough that a wrong guess costs little.
const STRETCHES: usize = 8;

/// Files smaller than this are walked on one thread: starting others costs more.
const PARALLEL_BYTES: usize = 2 << 20;

/// Bytes that are unpacked before they are walked.
const BLOCK_BYTES: usize = 4 << 20;

/// Reads `source` into `import`.
pub(in crate::formats) fn read(source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
    let mut file = File::default();
    let window = Window { bytes: source.bytes, base: 0, is_last: true };
    let mut position = file.walk_on(window, Position::START, 0, import);
    while let Mode::Events { .. } = position.mode
        && !position.is_cut
    {
        let begun = position.at;
        position = match source.bytes.len() - position.at >= PARALLEL_BYTES {
            true => file.walk_stretches(window, position, import),
            false => file.walk_on(window, position, usize::MAX, import),
        };
        // Texts that are kept were copied when the stretches were joined.
        import.release(source.bytes.get(begun..position.at).unwrap_or_default());
    }
    file.has_more = position.mode == Mode::Done && has_text(&source.bytes[position.at..]);
    file.finish(source.name, source.bytes.len() as u64, position, None, import)
}

/// Reads a compressed source into `import` while another thread unpacks it; where there can be none, in turns.
pub(super) fn read_packed(packed: Packed<'_>, import: &mut Import) -> Result<(), ImportError> {
    let (mut file, mut reader) = (File::default(), packed.reader());
    let (position, damage) = std::thread::scope(|scope| {
        let (send, receive) = sync_channel(2);
        let mut ahead = packed.reader();
        let unpack = move || {
            while let Some(block) = next_block(&mut ahead) {
                if send.send(block).is_err() {
                    break;
                }
            }
            ahead.damage().map(str::to_owned)
        };
        let Ok(unpacking) = std::thread::Builder::new().spawn_scoped(scope, unpack) else {
            let end = file.walk_blocks(|| next_block(&mut reader), import);
            return (end, reader.damage().map(str::to_owned));
        };
        let end = file.walk_blocks(|| receive.recv().ok(), import);
        drop(receive);
        (end, unpacking.join().unwrap_or_else(|_| Some("unpacking failed".to_owned())))
    });
    file.finish(packed.source.name, packed.source.bytes.len() as u64, position, damage, import)
}

fn next_block(reader: &mut PackedReader<'_>) -> Option<Vec<u8>> {
    let mut block = Vec::with_capacity(BLOCK_BYTES);
    (reader.fill(&mut block, BLOCK_BYTES) > 0).then_some(block)
}

/// A file being read.
#[derive(Debug, Default)]
struct File {
    store: Store,
    header: Header,
    /// Whether something follows the end of the trace.
    has_more: bool,
}

fn has_text(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| *byte > b' ')
}

impl File {
    /// Walks on one thread and takes in what is found.
    fn walk_on(&mut self, window: Window<'_>, from: Position, until: usize, import: &mut Import) -> Position {
        let mut chunk = Chunk::default();
        let position = walk(window, from, until, &mut chunk, &mut self.header);
        self.store.join(chunk, &mut import.builder);
        position
    }

    /// Walks several stretches at once, each from where an event seems to begin.
    ///
    /// A stretch counts only if the one before it ended exactly where it began, with an event to come: what came
    /// before it is known by then, so the guess is checked for any content.
    fn walk_stretches(&mut self, window: Window<'_>, from: Position, import: &mut Import) -> Position {
        let mut starts = vec![from.at];
        for stretch in 1..STRETCHES {
            let Some(start) = find_event_start(window.bytes, from.at + stretch * STRETCH_BYTES) else { break };
            starts.push(start);
        }
        starts.dedup();
        let last = starts[starts.len() - 1];
        let ends = starts[1..].iter().copied().chain([last.saturating_add(STRETCH_BYTES)]);
        let stretches: Vec<(usize, usize)> = starts.iter().copied().zip(ends).collect();
        let walk_one = |(start, end): (usize, usize)| {
            let (mut chunk, mut header) = (Chunk::default(), Header::default());
            let begin = Position { at: start, ..from };
            // A guess that is wrong costs no walk to the end of the file.
            let seen = window.bytes.len().min(end.saturating_add(STRETCH_BYTES));
            let window = Window { bytes: &window.bytes[..seen], is_last: seen == window.bytes.len(), ..window };
            let position = walk(window, begin, end, &mut chunk, &mut header);
            (start, chunk, header, position)
        };
        let walked: Vec<_> = stretches.into_par_iter().map(walk_one).collect();
        let mut position = from;
        for (start, chunk, header, end) in walked {
            if position.mode != from.mode || position.is_cut || position.at != start {
                break;
            }
            self.store.join(chunk, &mut import.builder);
            self.header.join(header);
            position = end;
        }
        // What goes on beyond all stretches is read by itself.
        if position.is_cut { self.walk_on(window, position, position.at + 1, import) } else { position }
    }

    fn walk_blocks(&mut self, mut next: impl FnMut() -> Option<Vec<u8>>, import: &mut Import) -> Position {
        let mut position = Position::START;
        let mut bytes: Vec<u8> = Vec::new();
        let mut base = 0;
        let mut enough = 0;
        let mut is_last = false;
        while !is_last && position.mode != Mode::Done {
            match next() {
                Some(block) => bytes.extend_from_slice(&block),
                None => is_last = true,
            }
            if bytes.len() < enough && !is_last {
                continue;
            }
            let window = Window { bytes: &bytes, base, is_last };
            position = self.walk_on(window, position, usize::MAX, import);
            bytes.drain(..position.at);
            base += position.at as u64;
            // A unit longer than what is there is not begun again for every block.
            enough = if position.at == 0 { 2 * bytes.len() } else { 0 };
            position.at = 0;
        }
        self.has_more = has_text(&bytes);
        // What comes behind the end is unpacked all the same, so that damage in it is known.
        while let Some(block) = next() {
            self.has_more |= has_text(&block);
        }
        Position { at: base as usize, ..position }
    }

    fn finish(
        self,
        name: &str,
        bytes: u64,
        position: Position,
        damage: Option<String>,
        import: &mut Import,
    ) -> Result<(), ImportError> {
        if self.store.events == 0 && !self.header.has_events {
            let what = "expected a list of events or an object with `traceEvents`, found neither";
            let source_name = name.to_owned();
            // What is whole and has no events was never a trace; what is cut may have been one.
            if position.mode == Mode::Done && damage.is_none() {
                return Err(ImportError::NotATrace { source_name, what });
            }
            let what = format!("not a trace: {what}");
            return Err(ImportError::Broken { source_name, offset: position.at as u64, what });
        }
        if let Some(damage) = &damage {
            import.note(Severity::Lost, name, None, 1, damage.clone());
        }
        if position.mode != Mode::Done && damage.is_none() {
            let message = "the file is truncated; everything before the cut was read".to_owned();
            import.note(Severity::Lost, name, Some(position.at as u64), 1, message);
        }
        if position.mode == Mode::Done && self.has_more {
            let message = "content after the end of the trace was not read: one trace per file".to_owned();
            import.note(Severity::Lost, name, Some(position.at as u64), 1, message);
        }
        place(self.store, &self.header, name, bytes, import);
        Ok(())
    }
}
