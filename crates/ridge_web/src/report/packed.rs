//! Answers in one packed block: an index, then their bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use rustc_hash::FxHashSet;
use serde_json::{Map, json};
use std::io::Write as _;

/// Bytes that a packer may hold back before it writes.
const HELD_BACK: usize = 64 << 10;

/// Answers that were added so far.
#[derive(Debug)]
pub(super) struct Packed {
    bodies: Vec<u8>,
    index: Map<String, serde_json::Value>,
    /// Packs everything once already, to know how large it becomes.
    measure: GzEncoder<Vec<u8>>,
    known: FxHashSet<String>,
}

impl Packed {
    /// Nothing yet.
    pub(super) fn new() -> Packed {
        Packed {
            bodies: Vec::new(),
            index: Map::new(),
            measure: GzEncoder::new(Vec::new(), Compression::fast()),
            known: FxHashSet::default(),
        }
    }

    /// Adds an answer, unless all of it would then be more than `most` packed bytes; whether it is there.
    pub(super) fn add(&mut self, key: &str, media_type: &str, body: &[u8], most: u64) -> bool {
        if self.known.contains(key) {
            return true;
        }
        // A packer for speed makes more of it than the one that writes the file, so what fits here fits there.
        let so_far = self.bytes() + key.len() as u64;
        let fits = |bytes: usize| so_far.saturating_add(bytes as u64) <= most;
        if !fits(body.len()) && !fits(packed_alone(body)) {
            return false;
        }
        if self.measure.write_all(body).and_then(|()| self.measure.write_all(key.as_bytes())).is_err() {
            return false;
        }
        self.index.insert(key.to_owned(), json!([self.bodies.len(), body.len(), media_type]));
        self.bodies.extend(body);
        self.known.insert(key.to_owned())
    }

    /// About how many packed bytes there are so far, rather too many than too few.
    pub(super) fn bytes(&self) -> u64 {
        (self.measure.get_ref().len() + HELD_BACK.min(self.bodies.len())) as u64
    }

    /// All of it as base64.
    pub(super) fn finish(self, left_out: &[String], opens_at: Option<&str>) -> String {
        let index = json!({ "v": 1, "left_out": left_out, "at": opens_at, "answers": self.index }).to_string();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let length = (index.len() as u32).to_le_bytes();
        let written =
            [&length[..], index.as_bytes(), &self.bodies].into_iter().try_for_each(|part| encoder.write_all(part));
        let packed = written.and_then(|()| encoder.finish()).expect("writing to memory cannot fail");
        STANDARD.encode(packed)
    }
}

/// What is made of `body` by itself, bytes: no less than what it adds to others.
fn packed_alone(body: &[u8]) -> usize {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).and_then(|()| encoder.finish()).map_or(usize::MAX, |packed| packed.len())
}
