//! The card: a core between the memory of a board and its own registers, and the programs that play vectors on it.

use super::bench::Frame;
use crate::bundle::Files;
use serde_json::{Value, json};
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

/// What goes around it, by its path in the bundle.
const AROUND: [(&str, &str); 9] = [
    ("Makefile", include_str!("board/Makefile")),
    ("board/vivado.tcl", include_str!("board/vivado.tcl")),
    ("board/card.xdc", include_str!("board/card.xdc")),
    ("board/package.tcl", include_str!("board/package.tcl")),
    ("board/card.cfg", include_str!("board/card.cfg")),
    ("hls/hls.cfg", include_str!("board/hls.cfg")),
    ("cocotb/Makefile", include_str!("board/cocotb.mk")),
    ("cocotb/test_core.py", include_str!("board/test_core.py")),
    ("host/play.py", include_str!("board/play.py")),
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
pub(in crate::verilog) struct Layout {
    /// Bits of a beat.
    pub(in crate::verilog) bus: usize,
    /// Bits from one item to the next, and from one result to the next.
    pub(in crate::verilog) slots: [usize; 2],
}

impl Layout {
    /// The layout of a core; `None` where an item is too wide for a bus that carries two at once.
    pub(in crate::verilog) fn of(frame: Frame) -> Option<Layout> {
        let slots = [frame.item_bits, frame.result_bits].map(usize::next_power_of_two);
        let bus = (2 * slots[0].max(slots[1])).max(NARROWEST);
        (bus <= WIDEST).then_some(Layout { bus, slots })
    }

    /// Bytes from a frame of so many items to the next.
    pub(in crate::verilog) fn frame(self, items: usize, slot: usize) -> usize {
        items.div_ceil(self.bus / slot) * (self.bus / 8)
    }

    /// The layout in the core's own document.
    pub(in crate::verilog) fn document(self, frame: Frame) -> Value {
        json!({
            "bits_of_a_beat": self.bus,
            "bits_of_an_items_slot": self.slots[0],
            "bits_of_a_results_slot": self.slots[1],
            "bytes_of_a_frame_in": self.frame(frame.items, self.slots[0]),
            "bytes_of_a_frame_out": self.frame(frame.results, self.slots[1]),
        })
    }
}

/// The files of a card, by their paths in the bundle. The host plays so many frames, `inner` is what the core is built around, and
/// after `stuck` clocks without a handshake a core is stuck.
pub(in crate::verilog) fn files(frame: Frame, layout: Layout, frames: usize, stuck: usize, inner: &[&str]) -> Files {
    let Frame { items, results, item_bits, result_bits } = frame;
    let [slot_in, slot_out] = layout.slots;
    let numbers = [
        ("BUS", layout.bus),
        ("SLOT_IN", slot_in),
        ("SLOT_OUT", slot_out),
        ("ITEM_BITS", item_bits),
        ("RESULT_BITS", result_bits),
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
    let core = [inner, &["stream.v", "core.v"]].concat();
    let paths: Vec<String> = core.iter().chain(&["mover.v", "card.v"]).map(|part| format!("../rtl/{part}")).collect();
    let filled = |text: &str| {
        let text = text.replace("@CORE@", &core.join(" ")).replace("@PATHS@", &paths.join(" "));
        let text = text.replace("@STUCK@", &stuck.to_string());
        numbers
            .iter()
            .chain(&sizes)
            .fold(text, |text, (name, value)| text.replace(&format!("@{name}@"), &value.to_string()))
    };
    let around = AROUND.iter().map(|(path, text)| ((*path).to_owned(), filled(text)));
    let host = HOST.iter().map(|(name, text)| (format!("host/{name}"), filled(text)));
    let made = [
        ("host/card.h".to_owned(), header),
        ("rtl/mover.v".to_owned(), MOVER.to_owned()),
        ("rtl/card.v".to_owned(), card),
    ];
    host.chain(around).chain(made).map(|(path, text)| (path, text.into_bytes())).collect()
}
