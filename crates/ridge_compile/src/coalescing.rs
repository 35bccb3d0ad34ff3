//! How the threads of an elementwise kernel touch memory, from its HLO: the sectors that a warp fetches, and those that it needs.
//!
//! XLA's loop emitter gives thread `t` the elements `t·u … t·u + u − 1` of the result, in the order in which they lie in memory
//! (`GetDefaultThreadIdIndexingMap` of openxla/xla, xla/service/gpu/model/indexing_analysis.cc).
//! From an element of the result, the elements of every operand follow by slices, transposes, broadcasts, reshapes and the like,
//! whose maps are affine: they are evaluated for each thread of some warps, so what is counted is exact for these.
//! What is read at places that are computed (gathers, dynamic slices) is left out and said.

use ridge_hlo::{HloModule, Instruction, InstructionId, Shape};
use rustc_hash::{FxHashMap, FxHashSet};

/// Bytes of a sector, the least that memory is read in; NVIDIA, Nsight Compute's documentation, memory tables.
const SECTOR_BYTES: i64 = 32;

/// Threads of a warp.
const WARP: i64 = 32;

/// Warps that are looked at, spread over the grid.
const WARPS: i64 = 4;

/// Elements of a thread; where there are more, its threads do something else.
const MOST_UNROLLED: i64 = 64;

/// Steps from a result to its operands, for one element; a fusion has hundreds of instructions.
const MOST_STEPS: usize = 20_000;

/// What the warps of a kernel fetch.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Coalescing {
    /// Sectors that a warp touches for its share of the result, on average, loads and stores.
    pub sectors: f64,
    /// Sectors that would hold the bytes that it uses, on average.
    pub needed: f64,
    /// Warps of the whole launch.
    pub warps: f64,
    /// Whether operands that are read at computed places are left out.
    pub is_partial: bool,
}

impl Coalescing {
    /// Bytes that all warps ask for, where each asks for what it uses once.
    pub fn asked_bytes(&self) -> f64 {
        self.needed * SECTOR_BYTES as f64 * self.warps
    }

    /// The part of the sectors that is fetched for nothing.
    pub fn excess(&self) -> f64 {
        if self.sectors > 0.0 { (1.0 - self.needed / self.sectors).max(0.0) } else { 0.0 }
    }
}

/// What the threads of the fusion `id` fetch, where each computes elements of the result in order: `threads` of them in all.
///
/// `None` where the kernel is no elementwise loop, or a shape says nothing of its layout.
pub fn coalescing(module: &HloModule, id: InstructionId, threads: u64) -> Option<Coalescing> {
    let fusion = module.instruction(id);
    if fusion.fusion_kind.as_deref() != Some("kLoop") || threads == 0 {
        return None;
    }
    let root = module.computation(*fusion.called.first()?).root?;
    let results = match module.instruction(root).opcode.as_str() {
        "tuple" => module.instruction(root).operands.clone(),
        _ => vec![root],
    };
    if results.iter().any(|result| is_in_place(module, *result)) {
        return None;
    }
    let elements = i64::try_from(module.instruction(*results.first()?).shape.element_count().ok()?).ok()?;
    let threads = i64::try_from(threads).ok()?;
    let unrolled = ((elements + threads - 1) / threads).max(1);
    if unrolled > MOST_UNROLLED {
        return None;
    }
    let warps = (elements / unrolled / WARP).max(1);
    let mut all = Coalescing { warps: warps as f64, ..Coalescing::default() };
    let looked_at = warps.min(WARPS);
    for place in 0..looked_at {
        let first = warps * place / looked_at * WARP;
        let mut warp = Warp { module, touched: FxHashMap::default(), used: FxHashMap::default(), is_partial: false };
        for element in first * unrolled..((first + WARP) * unrolled).min(elements) {
            for result in &results {
                warp.element(*result, element)?;
            }
        }
        all.sectors += warp.touched.values().map(|sectors| sectors.len() as f64).sum::<f64>() / looked_at as f64;
        let bytes = |used: &FxHashSet<i64>, size: i64| (used.len() as f64 * size as f64 / SECTOR_BYTES as f64).ceil();
        all.needed += warp.used.values().map(|(size, used)| bytes(used, *size)).sum::<f64>() / looked_at as f64;
        all.is_partial |= warp.is_partial;
    }
    Some(all)
}

/// Whether a result is an operand of which a part is changed: its threads are those of the part.
fn is_in_place(module: &HloModule, result: InstructionId) -> bool {
    let instruction = module.instruction(result);
    let inner = instruction.operands.first().filter(|_| instruction.opcode == "bitcast");
    let made_by = inner.map_or(instruction, |inner| module.instruction(*inner));
    matches!(made_by.opcode.as_str(), "dynamic-update-slice" | "scatter")
}

/// What one warp touches: sectors and elements of each array, which is known by what stands for it in the fusion.
struct Warp<'m> {
    module: &'m HloModule,
    touched: FxHashMap<InstructionId, FxHashSet<i64>>,
    used: FxHashMap<InstructionId, (i64, FxHashSet<i64>)>,
    is_partial: bool,
}

impl Warp<'_> {
    /// The element of `result` at this place in memory: written, and all that it is made of read.
    fn element(&mut self, result: InstructionId, place: i64) -> Option<()> {
        let module = self.module;
        let shape = &module.instruction(result).shape;
        let index = unlinear(shape, place)?;
        self.touch(result, shape, place)?;
        let mut open = vec![(result, index)];
        let mut seen: FxHashSet<(InstructionId, Vec<i64>)> = FxHashSet::default();
        while let Some((id, index)) = open.pop() {
            if !seen.insert((id, index.clone())) {
                continue;
            }
            if seen.len() > MOST_STEPS {
                return None;
            }
            let instruction = module.instruction(id);
            if instruction.opcode == "parameter" {
                let place = linear(&instruction.shape, &index)?;
                self.touch(id, &instruction.shape, place)?;
                continue;
            }
            if !self.operands(instruction, &index, &mut open)? {
                self.is_partial = true;
            }
        }
        Some(())
    }

    fn touch(&mut self, array: InstructionId, shape: &Shape, place: i64) -> Option<()> {
        let size = i64::from(shape.element_type.bits()?.div_ceil(8));
        self.touched.entry(array).or_default().insert(place.checked_mul(size)? / SECTOR_BYTES);
        self.used.entry(array).or_insert_with(|| (size, FxHashSet::default())).1.insert(place);
        Some(())
    }

    /// The elements of the operands that the element at `index` is made of; `false` where their place is computed.
    fn operands(
        &self,
        instruction: &Instruction,
        index: &[i64],
        open: &mut Vec<(InstructionId, Vec<i64>)>,
    ) -> Option<bool> {
        let operand = |number: usize| instruction.operands.get(number).copied();
        let shape = |id: InstructionId| &self.module.instruction(id).shape;
        match instruction.opcode.as_str() {
            "constant" | "iota" => {}
            "broadcast" => {
                let of = instruction.dimensions.iter().map(|at| index.get(usize::try_from(*at).ok()?).copied());
                open.push((operand(0)?, of.collect::<Option<Vec<i64>>>()?));
            }
            "transpose" => {
                let mut of = vec![0; index.len()];
                for (value, at) in index.iter().zip(&instruction.dimensions) {
                    *of.get_mut(usize::try_from(*at).ok()?)? = *value;
                }
                open.push((operand(0)?, of));
            }
            "bitcast" => {
                let of = unlinear(shape(operand(0)?), linear(&instruction.shape, index)?)?;
                open.push((operand(0)?, of));
            }
            "reshape" => {
                let plain = |shape: &Shape| Shape { layout: None, ..shape.clone() };
                let place = linear(&plain(&instruction.shape), index)?;
                open.push((operand(0)?, unlinear(&plain(shape(operand(0)?)), place)?));
            }
            "slice" => {
                let bounds = &instruction.attributes().slices;
                let of =
                    index.iter().zip(bounds).map(|(at, bound)| bound.start.checked_add(at.checked_mul(bound.stride)?));
                open.push((operand(0)?, of.collect::<Option<Vec<i64>>>()?));
            }
            "reverse" => {
                let mut of = index.to_vec();
                for at in &instruction.dimensions {
                    let at = usize::try_from(*at).ok()?;
                    *of.get_mut(at)? = instruction.shape.dimensions.get(at)? - 1 - index.get(at)?;
                }
                open.push((operand(0)?, of));
            }
            "concatenate" => {
                let at = usize::try_from(*instruction.dimensions.first()?).ok()?;
                let mut of = index.to_vec();
                for part in &instruction.operands {
                    let extent = *shape(*part).dimensions.get(at)?;
                    if *of.get(at)? < extent {
                        open.push((*part, of));
                        return Some(true);
                    }
                    *of.get_mut(at)? -= extent;
                }
            }
            "pad" => {
                let inner = shape(operand(0)?);
                let edges = index.iter().zip(&instruction.attributes().padding).zip(&inner.dimensions);
                let of = edges.map(|((at, edge), extent)| {
                    let (shifted, step) = (at - edge.low, edge.interior + 1);
                    (step > 0 && shifted >= 0 && shifted % step == 0 && shifted / step < *extent)
                        .then(|| shifted / step)
                });
                // Outside of the array it is the padding value, which is one number.
                if let Some(of) = of.collect::<Option<Vec<i64>>>() {
                    open.push((operand(0)?, of));
                }
            }
            // Both sides of a selection are taken to be read: which is, the values decide.
            "copy" | "convert" | "bitcast-convert" | "clamp" | "reduce-precision" => same(instruction, index, open),
            _ if instruction.opcode.is_elementwise() => same(instruction, index, open),
            _ => return Some(false),
        }
        Some(true)
    }
}

fn same(instruction: &Instruction, index: &[i64], open: &mut Vec<(InstructionId, Vec<i64>)>) {
    open.extend(instruction.operands.iter().map(|operand| (*operand, index.to_vec())));
}

/// The dimensions of a shape, from the fastest to the slowest; `None` of tiles.
fn fastest_first(shape: &Shape) -> Option<Vec<usize>> {
    match &shape.layout {
        Some(layout) if !layout.tiles.is_empty() => None,
        Some(layout) if layout.minor_to_major.len() == shape.dimensions.len() => {
            layout.minor_to_major.iter().map(|at| usize::try_from(*at).ok()).collect()
        }
        _ => Some((0..shape.dimensions.len()).rev().collect()),
    }
}

/// Where an element lies, in elements.
fn linear(shape: &Shape, index: &[i64]) -> Option<i64> {
    let (mut place, mut step) = (0_i64, 1_i64);
    for at in fastest_first(shape)? {
        // A scalar among operands of an array, as in `clamp`, has one element.
        place = place.checked_add(index.get(at).copied().unwrap_or(0).checked_mul(step)?)?;
        step = step.checked_mul(*shape.dimensions.get(at)?)?;
    }
    Some(place)
}

/// The index of the element at a place.
fn unlinear(shape: &Shape, place: i64) -> Option<Vec<i64>> {
    let (mut index, mut left) = (vec![0; shape.dimensions.len()], place);
    for at in fastest_first(shape)? {
        let extent = *shape.dimensions.get(at)?;
        *index.get_mut(at)? = left.checked_rem(extent)?;
        left = left.checked_div(extent)?;
    }
    Some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sectors, needed sectors, and whether something is left out, of a fusion with this body.
    fn told(parameter: &str, body: &str, threads: u64) -> Option<(f64, f64, bool)> {
        let result =
            body.rsplit("ROOT %r = ").next().and_then(|root| root.split_whitespace().next()).unwrap_or_default();
        let text = format!(
            "HloModule m\n\n%f (p: {parameter}) -> {result} {{\n  %p = {parameter} parameter(0)\n{body}\n}}\n\n\
             ENTRY %main (x: {parameter}) -> {result} {{\n  %x = {parameter} parameter(0)\n  \
             ROOT %k = {result} fusion(%x), kind=kLoop, calls=%f\n}}\n"
        );
        let module = HloModule::from_text(&text).expect("a module");
        let found = coalescing(&module, module.instruction_named("k").expect("the fusion"), threads)?;
        Some((found.sectors, found.needed, found.is_partial))
    }

    #[test]
    fn neighbours_share_sectors_and_strides_do_not() {
        // 32 threads read and write 128 bytes each: four sectors.
        let row = "f32[64,64]{1,0}";
        assert_eq!(told(row, &format!("  ROOT %r = {row} negate(%p)"), 4096), Some((8.0, 8.0, false)));
        // A transpose reads a column: a sector a thread.
        let transposed = format!("  ROOT %r = {row} transpose(%p), dimensions={{1,0}}");
        assert_eq!(told(row, &transposed, 4096), Some((36.0, 8.0, false)));
        // The same, where the layout makes it none.
        let column = "f32[64,64]{0,1}";
        let other = format!("  ROOT %r = {row} transpose(%p), dimensions={{1,0}}");
        assert_eq!(told(column, &other, 4096), Some((8.0, 8.0, false)));
        // Every fourth element.
        let strided = "  ROOT %r = f32[64,16]{1,0} slice(%p), slice={[0:64], [0:64:4]}";
        assert_eq!(told(row, strided, 1024), Some((20.0, 8.0, false)));
        // Four elements a thread: a warp has a quarter of the rows, and reads a row for all.
        let spread =
            "  %s = f32[64]{0} slice(%p), slice={[0:64]}\n  ROOT %r = f32[64,64]{1,0} broadcast(%s), dimensions={1}";
        assert_eq!(told("f32[64]{0}", spread, 1024), Some((24.0, 24.0, false)));
    }

    #[test]
    fn what_is_read_at_computed_places_is_left_out() {
        let gathered = "  %i = s32[64,1]{1,0} iota(), iota_dimension=0\n  ROOT %r = f32[64]{0} gather(%p, %i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}";
        assert_eq!(told("f32[64]{0}", gathered, 64), Some((4.0, 4.0, true)));
        assert_eq!(told("f32[64]{0}", "  ROOT %r = f32[64]{0} negate(%p)", 0), None);
    }
}
