//! What the tests share: pages of made-up captures, and tiles read by the layout in docs/web-api.md.

#![allow(dead_code, reason = "each test uses a part of it")]

pub(crate) mod running;

use ridge_web::Page;
use ridgeline::{OpenOptions, Session};
use serde_json::Value;

/// Numbers that look random and are the same each time (Knuth's constants).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// The page of a capture with these bytes.
pub(crate) fn page_of(name: &str, bytes: &[u8]) -> Page {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("written");
    // What is this small is read and not mapped, so the file may go.
    Page::new(Session::open(&[path], &OpenOptions::default()).expect("a capture"))
}

/// The answer to `address` as JSON.
#[track_caller]
pub(crate) fn whole(page: &Page, address: &str) -> Value {
    let answer = page.answer(address).unwrap_or_else(|refusal| panic!("{address}: {refusal}"));
    serde_json::from_slice(&answer.body).expect("JSON")
}

/// An event of a tile.
pub(crate) struct TileEvent {
    pub(crate) row: u32,
    pub(crate) start_ns: f64,
    pub(crate) duration_ns: f64,
    pub(crate) lane: u16,
    pub(crate) category: u8,
    pub(crate) name: String,
}

/// A column of a tile.
pub(crate) struct TileColumn {
    pub(crate) column: u16,
    pub(crate) lane: u16,
    pub(crate) category: u8,
    pub(crate) busy_share: f32,
    pub(crate) count: u32,
}

/// A tile as it is written.
pub(crate) enum Tile {
    Columns { start_ns: i64, columns: Vec<TileColumn> },
    Events { start_ns: i64, events: Vec<TileEvent> },
}

impl Tile {
    pub(crate) fn read(bytes: &[u8]) -> Tile {
        let mut reader = Reader { bytes, at: 0 };
        assert_eq!(&reader.take::<4>(), b"RLT1");
        let [mode, _, _, _] = reader.take::<4>();
        let start_ns = i64::from_le_bytes(reader.take());
        let count = u32::from_le_bytes(reader.take()) as usize;
        if mode == 0 {
            let column = reader.list(count, u16::from_le_bytes);
            let lane = reader.list(count, u16::from_le_bytes);
            let category = reader.list(count, |[byte]| byte);
            reader.pad();
            let busy_share = reader.list(count, f32::from_le_bytes);
            let begun = reader.list(count, u32::from_le_bytes);
            assert_eq!(reader.at, bytes.len(), "all of it is read");
            let columns = (0..count).map(|at| TileColumn {
                column: column[at],
                lane: lane[at],
                category: category[at],
                busy_share: busy_share[at],
                count: begun[at],
            });
            return Tile::Columns { start_ns, columns: columns.collect() };
        }
        let row = reader.list(count, u32::from_le_bytes);
        let start = reader.list(count, f64::from_le_bytes);
        let duration = reader.list(count, f64::from_le_bytes);
        let lane = reader.list(count, u16::from_le_bytes);
        let category = reader.list(count, |[byte]| byte);
        reader.pad();
        let name = reader.list(count, u32::from_le_bytes);
        let length = u32::from_le_bytes(reader.take()) as usize;
        let names: Vec<String> = serde_json::from_slice(&bytes[reader.at..reader.at + length]).expect("names");
        assert_eq!(reader.at + length, bytes.len(), "all of it is read");
        let events = (0..count).map(|at| TileEvent {
            row: row[at],
            start_ns: start[at],
            duration_ns: duration[at],
            lane: lane[at],
            category: category[at],
            name: names[name[at] as usize].clone(),
        });
        Tile::Events { start_ns, events: events.collect() }
    }
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        self.at += N;
        self.bytes[self.at - N..self.at].try_into().expect("long enough")
    }

    fn list<const N: usize, T>(&mut self, count: usize, read: fn([u8; N]) -> T) -> Vec<T> {
        (0..count).map(|_| read(self.take())).collect()
    }

    fn pad(&mut self) {
        self.at = self.at.next_multiple_of(4);
    }
}
