//! What the tests of captures share: writing small protobufs by hand, numbers that look random, an allocator that
//! counts.
//!
//! The writer knows field numbers only, so that no test trusts the reader's own idea of the format.

#![allow(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod counting;
pub(crate) mod proto;
pub(crate) mod random;
