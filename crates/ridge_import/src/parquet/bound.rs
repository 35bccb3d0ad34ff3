//! What may be unpacked, of all that is read together.

use ridge_units::Bytes;
use std::sync::atomic::{AtomicU64, Ordering};

/// What may be unpacked in all, in bytes.
#[derive(Debug)]
pub(crate) struct Bound {
    allowed: u64,
    left: AtomicU64,
}

impl Bound {
    /// A bound of `bytes`.
    pub(crate) fn new(bytes: u64) -> Bound {
        Bound { allowed: bytes, left: AtomicU64::new(bytes) }
    }

    /// Takes `bytes` from what is left; `false` where that is less.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }

    /// What may still be unpacked, in bytes.
    pub(crate) fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    /// What is said where it is reached.
    pub(crate) fn reached(&self) -> String {
        let bound = Bytes(self.allowed);
        format!("the file unpacks to more than the limit of {bound}; the rest was not read")
    }
}
