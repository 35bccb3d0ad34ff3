//! Answers in one packed block: an index, then their bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use rustc_hash::FxHashSet;
use serde_json::{Map, json};
use std::io::Write as _;

/// Bytes that a packer may hold back before it writes.
const HELD_BACK: u64 = 64 << 10;

/// Answers that were added so far.
#[derive(Debug)]
pub(super) struct Packed {
    bodies: Vec<u8>,
    index: Map<String, serde_json::Value>,
    /// Packs everything once already, to know how large it becomes.
    measure: GzEncoder<Vec<u8>>,
    known: FxHashSet<String>,
    room: u64,
    is_full: bool,
}

impl Packed {
    /// Nothing yet, and room for so many packed bytes.
    pub(super) fn new(room: u64) -> Packed {
        Packed {
            bodies: Vec::new(),
            index: Map::new(),
            measure: GzEncoder::new(Vec::new(), Compression::fast()),
            known: FxHashSet::default(),
            room,
            is_full: false,
        }
    }

    /// Adds an answer, unless it does not fit any more; whether it is there.
    pub(super) fn add(&mut self, key: &str, media_type: &str, body: &[u8]) -> bool {
        if self.known.contains(key) {
            return true;
        }
        if self.is_full {
            return false;
        }
        // A packer for speed makes more of it than the one that writes the file, so what fits here fits there.
        if self.measure.write_all(body).and_then(|()| self.measure.write_all(key.as_bytes())).is_err() {
            return false;
        }
        if self.measure.get_ref().len() as u64 + HELD_BACK.min(body.len() as u64) > self.room {
            self.is_full = true;
            return false;
        }
        self.index.insert(key.to_owned(), json!([self.bodies.len(), body.len(), media_type]));
        self.bodies.extend(body);
        self.known.insert(key.to_owned())
    }

    /// All of it as base64.
    pub(super) fn finish(self, left_out: &[String]) -> String {
        let index = json!({ "v": 1, "left_out": left_out, "answers": self.index }).to_string();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let length = (index.len() as u32).to_le_bytes();
        let written =
            [&length[..], index.as_bytes(), &self.bodies].into_iter().try_for_each(|part| encoder.write_all(part));
        let packed = written.and_then(|()| encoder.finish()).expect("writing to memory cannot fail");
        STANDARD.encode(packed)
    }
}
