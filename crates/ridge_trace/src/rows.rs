//! Row ids of the tables of a trace: numbers that do not mix.

use crate::NONE;

macro_rules! row_ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $name(pub u32);

            impl $name {
                /// The row that a column holds; `None` for [`NONE`].
                pub fn known(row: u32) -> Option<$name> {
                    (row != NONE).then_some($name(row))
                }

                /// As a position in the columns.
                pub fn index(self) -> usize {
                    self.0 as usize
                }
            }
        )*
    };
}

row_ids! {
    /// A row of the event columns.
    EventRow;
    /// A row of the tracks.
    TrackRow;
    /// A row of the operations.
    OpRow;
    /// A row of the modules.
    ModuleRow;
    /// A row of the devices.
    DeviceRow;
    /// A row of the processes.
    ProcessRow;
    /// A launch under a hardware profiler.
    ProfileRow;
    /// A row of the segment events of allocators.
    SegmentRow;
    /// A call stack of memory.
    StackRow;
}
