//! HLO modules: proto and text readers, shapes, source frames, buffers.

pub mod wire;
