//! What every core is tried with: frames under stalls and resets, in two simulators, and the proof of its way out.

use crate::bundle::Files;

/// What a core is built of besides its own module.
const PARTS: &str = include_str!("stream.v");
/// Plays frames through it.
const BENCH: &str = include_str!("bench.v");
/// The clock, in Verilog and in C++.
const CLOCK: &str = include_str!("tb_core.v");
const SIMULATION: &str = include_str!("sim_core.cpp");
/// The proof of `results`.
const PROOF: &str = include_str!("formal.ys");

/// What a frame of a core is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::verilog) struct Frame {
    /// Items in and results out.
    pub(in crate::verilog) items: usize,
    pub(in crate::verilog) results: usize,
    pub(in crate::verilog) item_bits: usize,
    pub(in crate::verilog) result_bits: usize,
}

/// How a core is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::verilog) struct Trial {
    pub(in crate::verilog) frame: Frame,
    /// Frames of the pass without stalls, and of another: by Verilator, and by Icarus Verilog.
    pub(in crate::verilog) frames: usize,
    pub(in crate::verilog) stalled: usize,
    pub(in crate::verilog) icarus: [usize; 2],
    /// Clocks from the first item of a frame to that of the next, and to its own last result, while nothing waits.
    pub(in crate::verilog) period: usize,
    pub(in crate::verilog) to_last: usize,
    /// Clocks without any handshake after which it is taken for stuck, for which it is watched when all is out, and within which
    /// resets come.
    pub(in crate::verilog) stuck: usize,
    pub(in crate::verilog) watched: usize,
    pub(in crate::verilog) reset_within: usize,
}

impl Trial {
    /// The files, beside the core's own.
    pub(in crate::verilog) fn files(&self, folder: &str) -> Files {
        let numbers = [
            ("IN", self.frame.items),
            ("OUT", self.frame.results),
            ("FRAMES", self.frames),
            ("STALLED", self.stalled),
            ("ICARUS_FRAMES", self.icarus[0]),
            ("ICARUS_STALLED", self.icarus[1]),
            ("ITEM_BITS", self.frame.item_bits),
            ("RESULT_BITS", self.frame.result_bits),
            ("STEPS", self.period),
            ("TO_LAST", self.to_last),
            ("STUCK", self.stuck),
            ("WATCHED", self.watched),
            ("RESET_WITHIN", self.reset_within),
        ];
        let filled = |text: &str| {
            numbers
                .iter()
                .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("@{name}@"), &value.to_string()))
        };
        let all = [
            ("stream.v", PARTS.to_owned()),
            ("bench.v", filled(BENCH)),
            ("tb_core.v", filled(CLOCK)),
            ("sim_core.cpp", SIMULATION.to_owned()),
            ("formal.ys", PROOF.to_owned()),
        ];
        all.into_iter().map(|(name, text)| (format!("{folder}/{name}"), text.into_bytes())).collect()
    }
}
