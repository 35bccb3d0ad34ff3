//! A region that is no stream of windows as a core: an engine that works on arrays in memories on the chip.
//!
//! Positions may depend on data, so it makes gathers, scatters, sums along any dimension, products of matrices and loops. It
//! takes its inputs and gives its outputs in the streams of every other core, and is tried as those are.

mod element;
mod files;
mod path;
mod plan;
mod stage;
mod text;

pub(super) use files::files;
