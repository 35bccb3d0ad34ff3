//! `golden.json` of a module whose inputs and outputs were kept while the program ran.

use crate::read::Document;
use serde::{Deserialize, Serialize};

/// Calls of one compiled module; their values are in the folders beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Golden {
    /// [`Document::SCHEMA`].
    pub schema: String,
    /// The module's name.
    pub module: String,
    /// SHA-256 of its StableHLO as the recording keeps it.
    pub stablehlo_sha256: String,
    /// What goes in, `f32[8,8]` each.
    pub inputs: Vec<String>,
    /// What comes out.
    pub outputs: Vec<String>,
    /// Calls until the last one that was kept or left out.
    pub calls_seen: u64,
    /// Calls that were to be kept and for which there was no room.
    pub left_out: u64,
    /// Calls that were kept.
    pub kept: Vec<KeptCall>,
}

/// A call whose inputs and outputs were kept: `in0.bin`, …, `out0.bin`, …, in logical order, little-endian.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptCall {
    /// Its number, from 1.
    pub call: u64,
    /// Its folder.
    pub folder: String,
}

impl Document for Golden {
    const SCHEMA: &'static str = "ridgeline.golden.v1";
    const MAX_BYTES: u64 = 1 << 20;
}
