//! What frameworks add to their events: the shapes an operator was called with, and what a collective moved.

use crate::strings::StringId;

/// What a framework operator was called with, as the capture writes it; like calls share a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct OperatorShape {
    /// Sizes of its inputs (`[[64, 256], [256], []]`), or the empty string.
    pub dims: StringId,
    /// Strides of its inputs, in elements (`[[256, 1], [1], []]`), or the empty string.
    pub strides: StringId,
    /// Element types of its inputs (`["float", "float", "Scalar"]`), or the empty string.
    pub types: StringId,
    /// Values of its arguments that are no arrays (`["", "", "[1, 1]", "True"]`), of convolutions and attention, whose work
    /// depends on them, of sums and of singular value decompositions; else the empty string.
    pub values: StringId,
}

/// A collective operation: among whom, and how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collective {
    /// Its row in the event columns, a kernel's.
    pub event: u32,
    /// What it does (`allreduce`, `_allgather_base`), or the empty string.
    pub name: StringId,
    /// Name of the group of processes it runs among, or the empty string.
    pub group: StringId,
    /// Number of the call within its group, where the capture counts them.
    pub sequence: Option<u64>,
    /// Processes in the group, where known.
    pub group_size: Option<u32>,
    /// Element type as written (`Float`), or the empty string.
    pub element_type: StringId,
    /// Bytes that this process puts in, where known.
    pub bytes_in: Option<u64>,
    /// Bytes that this process gets out, where known.
    pub bytes_out: Option<u64>,
}

/// An operator of the backward pass and the one of the forward pass whose gradient it computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backward {
    /// The backward operator's row in the event columns.
    pub event: u32,
    /// The forward operator's row.
    pub forward: u32,
}

/// A kernel that a compiler of a framework made of operators: what a trace or the compiler's own files say of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FusedKernel {
    /// Its name, as its events have it.
    pub name: StringId,
    /// How it was tuned (`XBLOCK=2,R0_BLOCK=2048, 8 warps, 1 stage`), or the empty string.
    pub config: StringId,
    /// The operators in it (`aten.gelu, aten.mul`), or the empty string.
    pub operators: StringId,
    /// The lines of the program that it computes (`net.py:12, net.py:13`), or the empty string.
    pub lines: StringId,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventKind, NewEvent, TraceBuilder, TrackKind};

    #[test]
    fn collectives_follow_their_events_to_the_final_rows() {
        let mut builder = TraceBuilder::new();
        let process = builder.add_process("host0", None);
        let device = builder.device(process, "gpu");
        let stream = builder.add_track(process, Some(device), TrackKind::Stream, "7", 7);
        let name = builder.strings.intern("ncclDevKernel");
        for (start_ns, sequence) in [(30, 2), (10, 1)] {
            let event = builder.push(stream, NewEvent::new(EventKind::Kernel, name, start_ns, 5));
            let empty = StringId::default();
            builder.collectives.push(Collective {
                event,
                name,
                group: empty,
                sequence: Some(sequence),
                group_size: None,
                element_type: empty,
                bytes_in: None,
                bytes_out: None,
            });
        }
        builder.backwards.push(Backward { event: 0, forward: 1 });
        let trace = builder.finish();
        assert_eq!(trace.backwards, [Backward { event: 1, forward: 0 }]);
        let found: Vec<(u32, Option<u64>)> = trace.collectives.iter().map(|row| (row.event, row.sequence)).collect();
        assert_eq!(found, [(0, Some(1)), (1, Some(2))]);
    }
}
