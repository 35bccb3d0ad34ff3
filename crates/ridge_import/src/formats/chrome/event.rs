//! One event of `traceEvents` as written: nothing is interpreted that needs more than the event itself.
//!
//! Keys: "Trace Event Format" (Google), and for `args` libkineto's `output_json.cpp`, `MetadataFieldCatalog.h` and
//! torch's `profiler_kineto.cpp`; older spellings are those of the traces of 2021 to 2023.

use super::json::{Cursor, Stop};

/// An event's members as written; what is absent is empty.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RawEvent<'a> {
    pub(super) phase: u8,
    pub(super) category: &'a [u8],
    pub(super) name: &'a [u8],
    pub(super) pid: &'a [u8],
    pub(super) tid: &'a [u8],
    pub(super) ts: &'a [u8],
    pub(super) dur: &'a [u8],
    pub(super) id: &'a [u8],
    /// The whole of `args`.
    pub(super) all_args: &'a [u8],
    pub(super) args: Args<'a>,
}

/// The members of `args` that the reader uses, as written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Args<'a> {
    pub(super) external_id: &'a [u8],
    pub(super) correlation: &'a [u8],
    pub(super) device: &'a [u8],
    pub(super) stream: &'a [u8],
    pub(super) bytes: &'a [u8],
    /// Of a copy, `DEVICE_TO_HOST` and the like.
    pub(super) direction: &'a [u8],
    /// Bytes of such a copy.
    pub(super) size: &'a [u8],
    pub(super) grid: &'a [u8],
    pub(super) block: &'a [u8],
    pub(super) registers: &'a [u8],
    pub(super) shared_bytes: &'a [u8],
    pub(super) occupancy_pct: &'a [u8],
    pub(super) dims: &'a [u8],
    /// Strides of arrays, in elements.
    pub(super) strides: &'a [u8],
    pub(super) types: &'a [u8],
    /// Values of what is no array.
    pub(super) values: &'a [u8],
    /// Number of the call in autograd's order; a forward operator and its backward one share it.
    pub(super) sequence: &'a [u8],
    /// `false` of an operator that was running when the profiler stopped.
    pub(super) finished: &'a [u8],
    /// Thread of the forward call; 0 in the forward pass itself.
    pub(super) forward_thread: &'a [u8],
    /// Of a call, the kernel that it launches.
    pub(super) kernel: &'a [u8],
    /// Node of a CUDA graph that work is of, and the module that it is annotated with; its name stands under `name`.
    pub(super) graph_node: &'a [u8],
    pub(super) annotated_module: &'a [u8],
    /// Name of a process or thread.
    pub(super) name: &'a [u8],
    pub(super) memory: MemoryArgs<'a>,
    pub(super) triton: TritonArgs<'a>,
    pub(super) collective: CollectiveArgs<'a>,
    pub(super) xla: XlaArgs<'a>,
    pub(super) own: OwnArgs<'a>,
}

/// What an export of this project says that others do not.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OwnArgs<'a> {
    /// The name of the event's kind.
    pub(super) kind: &'a [u8],
    pub(super) op: &'a [u8],
    pub(super) module: &'a [u8],
    /// The module's number in the file, where several are called so.
    pub(super) module_id: &'a [u8],
    pub(super) scope: &'a [u8],
    /// How the operation is known.
    pub(super) attribution: &'a [u8],
    /// Memories that a copy moved between.
    pub(super) source: &'a [u8],
    pub(super) destination: &'a [u8],
    /// Whether the call of a copy returned before its end.
    pub(super) is_async: &'a [u8],
    pub(super) dynamic_shared_bytes: &'a [u8],
}

impl OwnArgs<'_> {
    /// Whether it is said whose work the event is.
    pub(super) fn names_work(&self) -> bool {
        !self.op.is_empty() || !self.module.is_empty()
    }
}

/// What a `[memory]` instant says.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MemoryArgs<'a> {
    pub(super) address: &'a [u8],
    pub(super) delta: &'a [u8],
    pub(super) in_use: &'a [u8],
    pub(super) reserved: &'a [u8],
    pub(super) device_type: &'a [u8],
    pub(super) device_id: &'a [u8],
}

/// What PyTorch says of a kernel that Triton compiled, on the operator that launches it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TritonArgs<'a> {
    pub(super) kwargs: &'a [u8],
    pub(super) warps: &'a [u8],
    pub(super) stages: &'a [u8],
}

/// What a kernel of a collective says.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CollectiveArgs<'a> {
    pub(super) name: &'a [u8],
    pub(super) group: &'a [u8],
    pub(super) group_size: &'a [u8],
    pub(super) sequence: &'a [u8],
    pub(super) element_type: &'a [u8],
    pub(super) elements_in: &'a [u8],
    pub(super) elements_out: &'a [u8],
}

/// What XLA's exporter of trace viewer events adds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct XlaArgs<'a> {
    pub(super) op: &'a [u8],
    pub(super) module: &'a [u8],
    pub(super) scope: &'a [u8],
    pub(super) step: &'a [u8],
    pub(super) run_id: &'a [u8],
    pub(super) device_ordinal: &'a [u8],
    pub(super) details: &'a [u8],
}

impl<'a> RawEvent<'a> {
    /// Reads the event whose brace comes next.
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Result<RawEvent<'a>, Stop> {
        cursor.expect(b'{', "expected an event")?;
        let mut event = RawEvent::default();
        while let Some(key) = cursor.key()? {
            match key {
                b"ph" => event.phase = cursor.scalar()?.first().copied().unwrap_or(0),
                b"cat" => event.category = cursor.scalar_or_skip()?,
                b"name" => event.name = cursor.scalar_or_skip()?,
                b"pid" => event.pid = cursor.scalar_or_skip()?,
                b"tid" => event.tid = cursor.scalar_or_skip()?,
                b"ts" => event.ts = cursor.scalar_or_skip()?,
                b"dur" => event.dur = cursor.scalar_or_skip()?,
                b"id" | b"id2" => event.id = cursor.value()?,
                b"args" => event.read_args(cursor)?,
                _ => {
                    cursor.value()?;
                }
            }
        }
        Ok(event)
    }

    fn read_args(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Stop> {
        if cursor.peek()? != b'{' {
            cursor.value()?;
            return Ok(());
        }
        let start = cursor.at;
        cursor.at += 1;
        while let Some(key) = cursor.key()? {
            match self.args.slot(key) {
                Some(slot) => *slot = unquoted(cursor.value()?),
                None => {
                    cursor.value()?;
                }
            }
        }
        self.all_args = &cursor.bytes[start..cursor.at];
        Ok(())
    }
}

impl<'a> Args<'a> {
    /// Where the value of `key` goes, if it is one that is used.
    fn slot(&mut self, key: &[u8]) -> Option<&mut &'a [u8]> {
        Some(match key {
            b"External id" | b"external id" => &mut self.external_id,
            b"correlation" | b"correlation_id" => &mut self.correlation,
            b"device" => &mut self.device,
            b"stream" => &mut self.stream,
            b"bytes" => &mut self.bytes,
            b"direction" => &mut self.direction,
            b"size" => &mut self.size,
            b"grid" => &mut self.grid,
            b"block" => &mut self.block,
            b"registers per thread" => &mut self.registers,
            b"shared memory" | b"static shared memory" => &mut self.shared_bytes,
            b"est. achieved occupancy %" | b"theoretical occupancy %" => &mut self.occupancy_pct,
            b"dynamic shared memory" => &mut self.own.dynamic_shared_bytes,
            b"async" => &mut self.own.is_async,
            b"Input Dims" | b"Input dims" => &mut self.dims,
            b"Input Strides" => &mut self.strides,
            b"Input type" => &mut self.types,
            b"Concrete Inputs" => &mut self.values,
            b"Sequence number" => &mut self.sequence,
            b"finished" => &mut self.finished,
            b"Fwd thread id" => &mut self.forward_thread,
            b"kernel" => &mut self.kernel,
            b"graph node id" => &mut self.graph_node,
            b"module_fqn" => &mut self.annotated_module,
            b"name" => &mut self.name,
            b"Addr" => &mut self.memory.address,
            b"Bytes" => &mut self.memory.delta,
            b"Total Allocated" => &mut self.memory.in_use,
            b"Total Reserved" => &mut self.memory.reserved,
            b"Device Type" => &mut self.memory.device_type,
            b"Device Id" => &mut self.memory.device_id,
            b"kernel_kwargs" => &mut self.triton.kwargs,
            b"num_warps" => &mut self.triton.warps,
            b"num_stages" => &mut self.triton.stages,
            b"Collective name" => &mut self.collective.name,
            b"Process Group Name" => &mut self.collective.group,
            b"Group size" => &mut self.collective.group_size,
            b"Seq" => &mut self.collective.sequence,
            b"dtype" => &mut self.collective.element_type,
            b"In msg nelems" => &mut self.collective.elements_in,
            b"Out msg nelems" => &mut self.collective.elements_out,
            b"event kind" => &mut self.own.kind,
            b"operation" => &mut self.own.op,
            b"module" => &mut self.own.module,
            b"module id" => &mut self.own.module_id,
            b"attribution" => &mut self.own.attribution,
            b"scope" => &mut self.own.scope,
            b"source" => &mut self.own.source,
            b"destination" => &mut self.own.destination,
            b"hlo_op" => &mut self.xla.op,
            b"hlo_module" => &mut self.xla.module,
            b"tf_op" => &mut self.xla.scope,
            b"step_num" => &mut self.xla.step,
            b"run_id" => &mut self.xla.run_id,
            b"device_ordinal" => &mut self.xla.device_ordinal,
            b"kernel_details" | b"memcpy_details" | b"memset_details" => &mut self.xla.details,
            _ => return None,
        })
    }
}

/// A value without the quotes around it.
fn unquoted(value: &[u8]) -> &[u8] {
    match value {
        [b'"', inner @ .., b'"'] => inner,
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<RawEvent<'_>, Stop> {
        RawEvent::read(&mut Cursor::new(text.as_bytes(), 0))
    }

    #[test]
    fn keys_come_in_any_order() {
        let text = r#"{"args": {"stream": 7, "other": {"device": 9}, "External id": "12"}, "dur": 2.08, "tid": "stream 7",
            "pid": 0, "name": "k<int>", "unknown": [1, {}], "ts": 5, "cat": "kernel", "ph": "X"}"#;
        let event = read(text).expect("an event");
        assert_eq!((event.phase, event.category, event.name), (b'X', &b"kernel"[..], &b"k<int>"[..]));
        assert_eq!((event.pid, event.tid, event.ts, event.dur), (&b"0"[..], &b"stream 7"[..], &b"5"[..], &b"2.08"[..]));
        assert_eq!((event.args.stream, event.args.external_id), (&b"7"[..], &b"12"[..]));
        assert_eq!(event.args.device, b"", "a key of a value inside args is not one of args");
    }

    #[test]
    fn values_of_other_kinds_do_no_harm() {
        let event = read(r#"{"ph": "X", "name": {"a": 1}, "pid": [1], "args": 3, "ts": null}"#).expect("an event");
        assert_eq!((event.name, event.pid, event.ts), (&b""[..], &b""[..], &b"null"[..]));
        assert_eq!(read(r#"{"ph": "X", "args": {"#).err(), Some(Stop::End));
        assert_eq!(read(r#"{"ph": {}}"#).err(), Some(Stop::Bad(7, "expected a value")));
    }
}
