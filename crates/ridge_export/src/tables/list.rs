//! Every table: what SQL, files and listings read.
//!
//! A new table is one file beside this one, or a part of one, and a line here.

use super::table::RawTable;
use super::{event, memory, program, whole};

/// Every table, the most used first.
pub static RAW_TABLES: &[&RawTable] = &[
    &event::EVENT,
    &whole::TRACK,
    &whole::PROCESS,
    &whole::DEVICE,
    &whole::STRING,
    &whole::COUNTER,
    &memory::ALLOCATION,
    &program::MODULE,
    &program::OPERATION,
    &program::FINDING,
    &program::NOTE,
    &program::METRIC,
];
