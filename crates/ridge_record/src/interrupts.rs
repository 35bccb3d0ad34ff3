//! SIGINT and SIGTERM as a flag: what measures ends early with what it has.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};

/// SIGINT and SIGTERM as a flag, for as long as this lives.
pub(crate) struct Interrupts {
    flag: Arc<AtomicBool>,
    registered: Vec<SigId>,
}

impl Interrupts {
    pub(crate) fn watch() -> io::Result<Interrupts> {
        let flag = Arc::new(AtomicBool::new(false));
        let mut signals = Interrupts { flag: Arc::clone(&flag), registered: Vec::new() };
        for signal in [SIGINT, SIGTERM] {
            signals.registered.push(signal_hook::flag::register(signal, Arc::clone(&flag))?);
        }
        Ok(signals)
    }

    /// True once for each time that signals arrived since the last call.
    pub(crate) fn arrived(&self) -> bool {
        self.flag.swap(false, Ordering::Relaxed)
    }

    /// The flag itself, for work that looks at it between its parts.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.flag
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        for id in self.registered.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}
