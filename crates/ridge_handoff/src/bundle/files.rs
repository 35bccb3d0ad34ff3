//! The files of a bundle, and what they are made of.

use serde_json::Value;
use std::collections::BTreeMap;

/// Files by their paths in the bundle, `spec/interface.json`.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Where a region came from, and what is known of it besides its code.
#[derive(Debug, Clone, Default)]
pub struct Source {
    /// The region's name, as `offload` has it.
    pub region: String,
    /// The compiled module.
    pub module: String,
    /// The computation of it that is handed over.
    pub computation: String,
    /// Whether that is the whole module.
    pub is_whole: bool,
    /// File and line of the program; empty where not known.
    pub location: String,
    /// The scope path of the operation that names the region; empty where not known.
    pub scope: String,
    /// The part of all device work that the region takes, from 0 to 1; `None` where it is no region of `offload`.
    pub share: Option<f64>,
    /// One call, seconds, as it was measured or by a data sheet, and on what.
    pub call: Option<(f64, String)>,
    /// The verdict, and why.
    pub verdict: Option<(String, String)>,
    /// Input and output that share a buffer: number of the output, number of the input.
    pub aliases: Vec<(i64, i64)>,
    /// Module as HLO text, as XLA ran it.
    pub hlo: String,
    /// The reachable computations with the region as entry.
    pub region_hlo: String,
    /// HLO as JAX handed it over, where the recording kept it.
    pub before: Option<String>,
    /// StableHLO as JAX lowered it, where the recording kept it.
    pub stablehlo: Option<String>,
    /// The plan of buffers, where the compiler gave one.
    pub buffers: Option<Value>,
    /// The same in the compiler's own words, where the recording kept its dump.
    pub buffers_text: Option<String>,
    /// Calls whose values were kept while the program ran.
    pub recorded: Vec<Recorded>,
}

/// A call of the region in the real program: its values in logical order, little-endian.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Its number, from 1.
    pub call: u64,
    /// What went in.
    pub inputs: Vec<Vec<u8>>,
    /// What came out.
    pub outputs: Vec<Vec<u8>>,
}

impl Recorded {
    /// The name of its set of vectors.
    pub fn set(&self) -> String {
        format!("recorded_{}", self.call)
    }
}
