//! Rows that are computed and that nothing reads: the positions of a sequence before the last one, pixels between those that are kept.

use super::axis::{self, Axis};
use super::backward::{goes_back, gradients};
use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::{Instruction, InstructionId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The largest part of an array that may be read for the rest to be worth leaving out.
const MOST_READ: f64 = 0.6;
/// Elements of an array that is worth it.
const FEWEST: f64 = 1024.0;
/// Values that are followed.
const MOST: usize = 512;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let mut taken: FxHashSet<InstructionId> = FxHashSet::default();
    let slices = site.module.instruction_ids().filter(|id| takes_part(site.instruction(*id)));
    let arrays: Vec<InstructionId> =
        slices.filter_map(|slice| array_of(site, slice)).filter(|array| taken.insert(*array)).collect();
    arrays.into_iter().filter_map(|array| rewrite(site, array)).collect()
}

/// What a slice is of.
fn array_of(site: &Site<'_, '_>, slice: InstructionId) -> Option<InstructionId> {
    site.instruction(slice).operands.first().map(|array| site.flow.through_fusions(*array))
}

fn takes_part(instruction: &Instruction) -> bool {
    matches!(&*instruction.opcode, "slice" | "dynamic-slice" | "gather")
}

fn rewrite(site: &Site<'_, '_>, array: InstructionId) -> Option<Rewrite> {
    if site.elements(array) < FEWEST || !makes(site, array) {
        return None;
    }
    let readers = site.flow.readers(array)?;
    // The gradient of what isn't read is zero, so what goes back reads no more of it.
    let forward: Vec<InstructionId> = readers.into_iter().filter(|reader| !goes_back(site, *reader)).collect();
    // A loop that takes one row in each iteration takes them all.
    let around = site.flow.loop_around(array);
    let is_part = |reader: &InstructionId| {
        takes_part(site.instruction(*reader))
            && array_of(site, *reader) == Some(array)
            && site.flow.loop_around(*reader) == around
    };
    if forward.is_empty() || !forward.iter().all(is_part) {
        return None;
    }
    let parts = forward.iter().map(|reader| Part::of(site, *reader, array)).collect::<Option<Vec<Part>>>()?;
    let axes = parts.first()?.axes.clone();
    // The diagonal of a product has a form of its own.
    let is_diagonal = axes.len() > 1 && site.product(array).is_some() && parts.iter().any(|part| part.sizes.is_err());
    if axes.is_empty() || is_diagonal || parts.iter().any(|part| part.axes != axes) {
        return None;
    }
    let (mut old, mut better) = (Vec::new(), Work::default());
    for (id, axes) in made_for(site, array, axes, &forward) {
        let read = parts.iter().map(|part| part.read(&axes)).sum::<f64>();
        let work = site.cost(id).and_then(Work::of).filter(|_| read <= MOST_READ);
        if let Some(work) = work {
            better = better.plus(work.times(read * site.events(id)));
            old.push((id, read));
        }
    }
    if old.is_empty() {
        return None;
    }
    for (id, read) in gradients(site, &old) {
        better = better.plus(site.cost(id).and_then(Work::of).unwrap_or_default().times(read * site.events(id)));
        old.push((id, read));
    }
    let old: Vec<InstructionId> = old.into_iter().map(|(id, _)| id).collect();
    let longest = old.iter().copied().max_by_key(|id| (site.program.ns(*id), std::cmp::Reverse(*id)))?;
    Some(Rewrite {
        does: "goes to computing rows that nothing reads, because only a part of the result is selected afterwards",
        instead: "selecting that part first",
        why: "the compiler doesn't move a slice or an index through a matrix product, a convolution or a normalization",
        help: "select before computing: `head(hidden[:, -1])` instead of `head(hidden)[:, -1]`, gather the positions that the loss reads before the last layers, use `strides=` instead of `[::2]` after a convolution, and crop before filtering",
        at: if site.place(longest).is_some() { longest } else { array },
        old,
        better,
        slack: Slack::Alike,
    })
}

/// What is read of an array along some of its dimensions.
struct Part {
    axes: Vec<Axis>,
    /// Of a slice, how much of each axis; of rows at indices, how many rows in all.
    sizes: Result<Vec<f64>, f64>,
}

impl Part {
    fn of(site: &Site<'_, '_>, slice: InstructionId, array: InstructionId) -> Option<Part> {
        let (instruction, shape) = (site.instruction(slice), &site.instruction(array).shape);
        let attributes = instruction.attributes();
        let is_gather = instruction.opcode == "gather";
        let batching: &[i64] = attributes.gather.as_ref().map_or(&[], |gather| &gather.operand_batching_dims);
        let sizes = if is_gather { &attributes.slice_sizes } else { &instruction.shape.dimensions };
        let is_batch = |dimension: usize| batching.iter().any(|batch| usize::try_from(*batch) == Ok(dimension));
        let (mut axes, mut read, mut batches) = (Vec::new(), Vec::new(), 1.0);
        for (dimension, extent) in shape.dimensions.iter().enumerate() {
            let size = *sizes.get(dimension)?;
            if is_batch(dimension) {
                batches *= *extent as f64;
            } else if size < *extent {
                axes.push(Axis::whole(shape, dimension)?);
                read.push(size as f64 / *extent as f64);
            }
        }
        let each: f64 = sizes.iter().map(|size| *size as f64).product();
        let rows = site.elements(slice) / each.max(1.0) / batches;
        Some(Part { axes, sizes: if is_gather { Err(rows) } else { Ok(read) } })
    }

    /// The part of an array that is read, of which only `axes` are left.
    fn read(&self, axes: &[(usize, Axis)]) -> f64 {
        match &self.sizes {
            Ok(read) => axes.iter().filter_map(|(index, _)| read.get(*index)).product(),
            Err(rows) => (rows / axes.iter().map(|(_, axis)| axis.size as f64).product::<f64>()).min(1.0),
        }
    }
}

fn makes(site: &Site<'_, '_>, id: InstructionId) -> bool {
    !matches!(&*site.instruction(id).opcode, "parameter" | "constant" | "get-tuple-element" | "iota" | "while")
}

/// Axes of an array, each with its place among those that the slices take a part of.
type Axes = Vec<(usize, Axis)>;

/// What ran to make the array for `readers` alone, each with the axes of which it needs only what is read.
fn made_for(
    site: &Site<'_, '_>,
    array: InstructionId,
    axes: Vec<Axis>,
    readers: &[InstructionId],
) -> Vec<(InstructionId, Axes)> {
    let around = site.flow.loop_around(array);
    let mut only: FxHashSet<InstructionId> = FxHashSet::default();
    // What all readers have in common of the axes that they need only a part of.
    let mut wanted: FxHashMap<InstructionId, Axes> = FxHashMap::default();
    wanted.insert(array, axes.into_iter().enumerate().collect());
    let mut open = vec![array];
    while let Some(at) = open.pop() {
        let is_for_it = || {
            let found = site.flow.readers(at).unwrap_or_default();
            let is_known =
                |reader: &InstructionId| readers.contains(reader) || only.contains(reader) || goes_back(site, *reader);
            !found.is_empty() && found.iter().all(is_known)
        };
        let is_open = only.len() < MOST && site.flow.loop_around(at) == around && makes(site, at);
        if !is_open || !is_for_it() {
            continue;
        }
        // What needs other rows for one of them, as a sort does, is not computed row by row.
        let is_by_row = |(_, axis): &(usize, Axis)| {
            site.instruction(at).opcode == "convolution" || axis::inputs(site, at, *axis).is_some()
        };
        let axes: Axes = wanted.get(&at).cloned().unwrap_or_default().into_iter().filter(is_by_row).collect();
        wanted.insert(at, axes.clone());
        if axes.is_empty() {
            continue;
        }
        only.insert(at);
        let mut from: FxHashMap<InstructionId, Axes> = FxHashMap::default();
        for (index, axis) in axes {
            for (input, axis) in axis::inputs(site, at, axis).unwrap_or_default() {
                let known = from.entry(site.flow.through_fusions(input)).or_default();
                known.extend(axis.map(|axis| (index, axis)));
            }
        }
        for (input, axes) in from {
            let before = wanted.get(&input);
            let common: Axes = match before {
                Some(before) => before.iter().copied().filter(|axis| axes.contains(axis)).collect(),
                None => axes,
            };
            // Seen again only where less of it is left out than was known.
            if !common.is_empty() && (before != Some(&common) || !only.contains(&input)) {
                open.push(input);
            }
            wanted.insert(input, common);
        }
    }
    // A fusion whose result is for them alone runs for nothing else.
    let carried = only.iter().filter_map(|id| {
        let carrier = site.ran(*id).filter(|carrier| site.flow.through_fusions(*carrier) == *id)?;
        Some((carrier, wanted.get(id).cloned()?))
    });
    let mut ran: Vec<(InstructionId, Axes)> = carried.filter(|(_, axes)| !axes.is_empty()).collect();
    ran.sort_unstable_by_key(|(id, _)| *id);
    ran
}
