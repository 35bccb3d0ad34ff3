//! What all stretches of the file hold together, with the trace's own names and side tables.

use super::chunk::Chunk;
use super::flaws::{Flaw, Flaws, NOWHERE};
use super::names::NameId;
use super::row::{Allocation, Extra, FlowEnd, Row, Sample, TrackKey};
use super::text::text;
use ridge_trace::{EventKind, FusedKernel, LaunchShape, NONE, OperatorShape, StringId, TraceBuilder, Transfer};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The rows of one thread or stream.
#[derive(Debug)]
pub(super) struct StoredTrack {
    pub(super) key: TrackKey<StringId>,
    pub(super) rows: Vec<Row>,
}

/// All events of the file. Names are positions in the trace's string table.
#[derive(Debug, Default)]
pub(super) struct Store {
    pub(super) tracks: Vec<StoredTrack>,
    pub(super) extras: Vec<Extra>,
    pub(super) allocations: Vec<Allocation>,
    pub(super) flows: Vec<FlowEnd>,
    pub(super) samples: Vec<Sample>,
    /// Names of processes by their ids as written.
    pub(super) process_names: FxHashMap<StringId, StringId>,
    /// Names of threads by process and thread.
    pub(super) thread_names: FxHashMap<(StringId, StringId), StringId>,
    pub(super) events: u64,
    pub(super) flaws: Flaws,
    /// Kernels that Triton compiled: name, sizes, warps, stages.
    pub(super) tuned: BTreeSet<[StringId; 4]>,
    track_ids: FxHashMap<TrackKey<StringId>, u32>,
    extra_ids: FxHashMap<Extra, u32>,
    shape_ids: FxHashMap<ShapeBits, u32>,
    transfer_ids: FxHashMap<(u64, u8, u8, Option<bool>), u32>,
    operator_shape_ids: FxHashMap<OperatorShape, u32>,
}

/// A launch shape as bits that can be compared.
type ShapeBits = ([u32; 3], [u32; 3], [Option<u32>; 4]);

impl Store {
    /// Takes in one stretch; stretches come in the order of the file.
    pub(super) fn join(&mut self, chunk: Chunk<'_>, builder: &mut TraceBuilder) {
        self.events += chunk.events;
        self.flaws.join(&chunk.flaws);
        let names = self.intern(&chunk, builder);
        let name = |id: NameId| StringId(names[id.0 as usize]);
        let tables = Tables {
            shapes: chunk.shapes.iter().map(|shape| self.shape(*shape, builder)).collect(),
            transfers: chunk.transfers.iter().map(|transfer| self.transfer(*transfer, builder)).collect(),
            operator_shapes: (chunk.operator_shapes.iter())
                .map(|texts| texts.map(name))
                .map(|[dims, types, values, strides]| OperatorShape { dims, strides, types, values })
                .map(|shape| self.operator_shape(shape, builder))
                .collect(),
            extras: chunk.extras.iter().map(|extra| self.extra(renamed(*extra, &names))).collect(),
        };
        for texts in &chunk.tuned {
            let texts = texts.map(name);
            if self.tuned.insert(texts) {
                let fused = tuned(texts, builder);
                builder.fused.push(fused);
            }
        }
        let mut places = Vec::with_capacity(chunk.tracks.len());
        for (key, rows) in chunk.tracks {
            let place = self.track(key, builder);
            places.push(place);
            let stored = &mut self.tracks[place as usize].rows;
            stored.extend(rows.iter().map(|row| tables.renumbered(row, &names)));
        }
        let place = |track: u32| places[track as usize];
        let allocations = chunk.allocations.iter();
        self.allocations.extend(allocations.map(|found| Allocation { track: place(found.track), ..*found }));
        self.flows.extend(chunk.flows.iter().map(|end| FlowEnd { track: place(end.track), ..*end }));
        self.samples.extend(chunk.samples.iter().map(|sample| Sample {
            name: NameId(names[sample.name.0 as usize]),
            series: NameId(names[sample.series.0 as usize]),
            ..*sample
        }));
        for naming in &chunk.namings {
            let pid = intern(naming.pid, builder);
            let called = intern(naming.name, builder);
            match naming.tid {
                None => self.process_names.insert(pid, called),
                Some(tid) => self.thread_names.insert((pid, intern(tid, builder)), called),
            };
        }
    }

    fn intern(&mut self, chunk: &Chunk<'_>, builder: &mut TraceBuilder) -> Vec<u32> {
        let texts = chunk.names.texts().iter();
        let flaws = &mut self.flaws;
        texts
            .map(|raw| {
                if raw.starts_with(b"[") && raw.contains(&b'\n') {
                    return builder.strings.intern(&compact(raw)).0;
                }
                let (text, found) = text(raw);
                if found.control {
                    flaws.add(Flaw::ControlCharacters, NOWHERE);
                }
                if found.escape {
                    flaws.add(Flaw::UnknownEscapes, NOWHERE);
                }
                builder.strings.intern(&text).0
            })
            .collect()
    }

    fn track(&mut self, key: TrackKey<&[u8]>, builder: &mut TraceBuilder) -> u32 {
        let key = match key {
            TrackKey::Thread(pid, tid) => TrackKey::Thread(intern(pid, builder), intern(tid, builder)),
            TrackKey::Async(pid) => TrackKey::Async(intern(pid, builder)),
            TrackKey::Stream(device, stream) => TrackKey::Stream(device, stream),
            TrackKey::Derived => TrackKey::Derived,
        };
        *self.track_ids.entry(key).or_insert_with(|| {
            self.tracks.push(StoredTrack { key, rows: Vec::new() });
            self.tracks.len() as u32 - 1
        })
    }

    fn shape(&mut self, shape: LaunchShape, builder: &mut TraceBuilder) -> u32 {
        let occupancy = shape.occupancy_pct.map(f32::to_bits);
        let rest = [shape.registers, shape.static_shared_bytes, shape.dynamic_shared_bytes, occupancy];
        *self.shape_ids.entry((shape.grid, shape.block, rest)).or_insert_with(|| {
            builder.launch_shapes.push(shape);
            builder.launch_shapes.len() as u32 - 1
        })
    }

    fn transfer(&mut self, transfer: Transfer, builder: &mut TraceBuilder) -> u32 {
        let key = (transfer.bytes, transfer.source as u8, transfer.destination as u8, transfer.is_async);
        *self.transfer_ids.entry(key).or_insert_with(|| {
            builder.transfers.push(transfer);
            builder.transfers.len() as u32 - 1
        })
    }

    fn operator_shape(&mut self, shape: OperatorShape, builder: &mut TraceBuilder) -> u32 {
        *self.operator_shape_ids.entry(shape).or_insert_with(|| {
            builder.operator_shapes.push(shape);
            builder.operator_shapes.len() as u32 - 1
        })
    }

    fn extra(&mut self, extra: Extra) -> u32 {
        *self.extra_ids.entry(extra).or_insert_with(|| {
            self.extras.push(extra);
            self.extras.len() as u32 - 1
        })
    }
}

/// What is said of a kernel that Triton compiled: its name, sizes, warps and stages.
fn tuned([name, kwargs, warps, stages]: [StringId; 4], builder: &mut TraceBuilder) -> FusedKernel {
    let counted = |id: StringId, one: &str| match builder.strings.get(id) {
        "" => String::new(),
        "1" => format!("1 {one}"),
        count => format!("{count} {one}s"),
    };
    let parts = [builder.strings.get(kwargs).to_owned(), counted(warps, "warp"), counted(stages, "stage")];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let config = builder.strings.intern(&parts.join(", "));
    FusedKernel { name, config, ..FusedKernel::default() }
}

/// Rows of the whole file's tables by those of a stretch.
struct Tables {
    shapes: Vec<u32>,
    transfers: Vec<u32>,
    operator_shapes: Vec<u32>,
    extras: Vec<u32>,
}

impl Tables {
    #[inline]
    fn renumbered(&self, row: &Row, names: &[u32]) -> Row {
        let kind = EventKind::from_byte(row.kind);
        let table = match kind {
            EventKind::Operator => &self.operator_shapes,
            kind if kind.is_compute() => &self.shapes,
            _ => &self.transfers,
        };
        let pick = |table: &[u32], at: u32| if at == NONE { NONE } else { table[at as usize] };
        Row {
            name: names[row.name as usize],
            detail: pick(table, row.detail),
            extra: pick(&self.extras, row.extra),
            ..*row
        }
    }
}

fn renamed(extra: Extra, names: &[u32]) -> Extra {
    let new = |id: NameId| NameId(names[id.0 as usize]);
    match extra {
        Extra::Collective { name, group, sequence, group_size, element_type, bytes_in, bytes_out } => {
            let (name, group, element_type) = (new(name), new(group), new(element_type));
            Extra::Collective { name, group, sequence, group_size, element_type, bytes_in, bytes_out }
        }
        Extra::Xla { op, module, scope, details, step, run_id, device_ordinal } => {
            let (op, module, scope, details) = (new(op), new(module), new(scope), new(details));
            Extra::Xla { op, module, scope, details, step, run_id, device_ordinal }
        }
        Extra::Launches { kernel } => Extra::Launches { kernel: new(kernel) },
        Extra::Node { id, name, module } => Extra::Node { id, name: new(name), module: new(module) },
        Extra::Own { op, module, module_id, scope, step, attribution } => {
            Extra::Own { op: new(op), module: new(module), module_id, scope: new(scope), step, attribution }
        }
    }
}

/// A list as one line: some writers put every number on its own.
fn compact(raw: &[u8]) -> String {
    let text = String::from_utf8_lossy(raw);
    text.split_ascii_whitespace().flat_map(|word| [word, if word.ends_with(',') { " " } else { "" }]).collect()
}

fn intern(raw: &[u8], builder: &mut TraceBuilder) -> StringId {
    builder.strings.intern(&text(raw).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_become_one_line() {
        assert_eq!(compact(b"[\n  [\n    64,\n    256\n  ],\n  []\n]"), "[[64, 256], []]");
    }
}
