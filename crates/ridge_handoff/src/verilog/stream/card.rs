//! The card: a core between the memory of a board and its own registers, and the programs that play vectors on it.

use super::text::Core;
use crate::bundle::Files;
use std::fmt::Write as _;

const MOVER: &str = include_str!("mover.v");
const CARD: &str = include_str!("card.v");
/// The host's side, by name.
const HOST: [(&str, &str); 5] = [
    ("Makefile", include_str!("host/Makefile")),
    ("device.h", include_str!("host/device.h")),
    ("play.cpp", include_str!("host/play.cpp")),
    ("simulated.cpp", include_str!("host/simulated.cpp")),
    ("xrt.cpp", include_str!("host/xrt.cpp")),
];

/// Bits of a bus to the memory: no less than AXI4 masters usually have, no more than AXI4 allows.
const NARROWEST: usize = 64;
const WIDEST: usize = 1024;

/// Registers of the core and of the card, in bytes; `stream.v` and `card.v` say what they are.
const REGISTERS: [(&str, usize); 12] = [
    ("CONTROL", 0x00),
    ("STATUS", 0x04),
    ("FRAMES_PER_START", 0x0c),
    ("ITEMS_IN", 0x10),
    ("ITEMS_OUT", 0x14),
    ("CLOCKS", 0x20),
    ("WAITED_IN", 0x24),
    ("WAITED_OUT", 0x28),
    ("TAKEN", 0x2c),
    ("FROM", 0x40),
    ("TO", 0x48),
    ("MEMORY", 0x50),
];

/// How frames lie in the memory of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    /// Bits of a beat.
    pub(super) bus: usize,
    /// Bits from one item to the next, and from one result to the next.
    pub(super) slots: [usize; 2],
}

impl Layout {
    /// The layout of a core; `None` where an item is too wide for a bus that carries two at once.
    pub(super) fn of(core: &Core<'_>) -> Option<Layout> {
        let slots = [core.fields().1, core.out_bits()].map(usize::next_power_of_two);
        let bus = (2 * slots[0].max(slots[1])).max(NARROWEST);
        (bus <= WIDEST).then_some(Layout { bus, slots })
    }

    /// Bytes from a frame of so many items to the next.
    pub(super) fn frame(self, items: usize, slot: usize) -> usize {
        items.div_ceil(self.bus / slot) * (self.bus / 8)
    }
}

/// The files of a card, by their paths in the bundle; the host plays so many frames.
pub(super) fn files(core: &Core<'_>, layout: Layout, frames: usize, folder: &str) -> Files {
    let (items, results) = (core.stream.items(), core.stream.results());
    let [slot_in, slot_out] = layout.slots;
    let numbers = [
        ("BUS", layout.bus),
        ("SLOT_IN", slot_in),
        ("SLOT_OUT", slot_out),
        ("ITEM_BITS", core.fields().1),
        ("RESULT_BITS", core.out_bits()),
        ("IN", items),
        ("OUT", results),
    ];
    let card = numbers
        .iter()
        .fold(CARD.to_owned(), |text, (name, value)| text.replace(&format!("@{name}@"), &value.to_string()));
    let sizes = [
        ("FRAMES", frames),
        ("ITEMS", items),
        ("RESULTS", results),
        ("ITEM_SLOT", slot_in / 8),
        ("RESULT_SLOT", slot_out / 8),
        ("BUS_BYTES", layout.bus / 8),
        ("ITEM_FRAME", layout.frame(items, slot_in)),
        ("RESULT_FRAME", layout.frame(results, slot_out)),
    ];
    let mut header = String::from(
        "// The card of this bundle: how frames lie in its memory, in bytes, and the addresses of its registers.\n#pragma once\n\nenum : unsigned {\n",
    );
    sizes.iter().for_each(|(name, value)| {
        let _ = writeln!(header, "  {name} = {value},");
    });
    header.push_str("};\n\nenum : unsigned {\n");
    REGISTERS.iter().for_each(|(name, address)| {
        let _ = writeln!(header, "  {name} = {address:#04x},");
    });
    header.push_str("};\n");
    let host = HOST.iter().map(|(name, text)| (format!("host/{name}"), (*text).to_owned()));
    let made = [
        ("host/card.h".to_owned(), header),
        (format!("{folder}/mover.v"), MOVER.to_owned()),
        (format!("{folder}/card.v"), card),
    ];
    host.chain(made).map(|(path, text)| (path, text.into_bytes())).collect()
}
