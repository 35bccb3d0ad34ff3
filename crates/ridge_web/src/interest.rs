//! Whether somebody still waits for an answer that takes long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The interest in one answer, which whoever asked may lose. All that is cloned of one tells the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interest(Arc<AtomicBool>);

impl Interest {
    /// Whether nobody waits any more.
    pub(crate) fn is_lost(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// What loses it when it goes.
    pub(crate) fn held(&self) -> Held {
        Held(self.clone())
    }
}

/// Whoever waits.
#[derive(Debug)]
pub(crate) struct Held(Interest);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}
