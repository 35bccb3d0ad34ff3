//! What a person or a rule would change: rows of the trace, and what happens to them.

/// A change of the capture. Rows that are no calls, work or ranges of the graph change nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    /// Rows of the event columns, in any order.
    pub rows: Vec<u32>,
    /// What happens to them.
    pub action: Action,
}

/// What happens to the rows of an [`Edit`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Action {
    /// Work is gone, with the wait for its launch; a call takes no time and waits for nothing, its work stays.
    Drop,
    /// Work or calls take this many times as long; 0.5 is twice as fast.
    Scale(f32),
    /// The host's time between calls, within the rows' spans, takes this many times as long.
    HostScale(f32),
    /// Calls are gone, and the work that they launched; the host's time before them stays.
    DropCall,
    /// Calls return without waiting for the device.
    Unsync,
    /// On each thread the first call stays and launches everything; the others and the host's time before them are gone.
    Merge,
    /// Calls do not wait for the copies that they launched; rows name the copies or the calls.
    Asynchronous,
}

impl Action {
    /// Whether it takes away a wait, so that work overlaps.
    pub(crate) fn overlaps(self) -> bool {
        matches!(self, Action::Unsync | Action::Asynchronous)
    }
}
