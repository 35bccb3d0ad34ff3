//! Cores that were generated of regions: what their bundles count, simulate and synthesise takes the place of the estimate.

use crate::board::Family;
use crate::regions::Region;
use crate::{Board, Class};
use ridge_analysis::Analysis;

/// A core, and what it was generated of.
#[derive(Debug, Clone, PartialEq)]
pub struct Bundle {
    /// The core.
    pub core: Core,
    /// The name of the region that it was made of.
    pub region: String,
    /// File and line of that; empty where not known.
    pub location: String,
    /// Its scope path; empty where not known.
    pub scope: String,
    /// Its program: [`ridge_hlo::HloModule::nameless_text`].
    pub program: String,
    /// The shapes of its parameters and results.
    pub signature: String,
}

/// A core as its bundle knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Core {
    /// The bundle, as it was named.
    pub bundle: String,
    /// Its numbers, `fixed<16,8>`.
    pub format: String,
    /// Whether it makes its arrays one after the other, rather than a result from a window each clock.
    pub is_engine: bool,
    /// Clocks of a call, from its first item to its last result, while nothing waits.
    pub call_clocks: f64,
    /// Clocks from the first item of a call to that of the next.
    pub period_clocks: f64,
    /// Bytes that its card reads for a call.
    pub input_bytes: f64,
    /// Bytes that its card writes for a call.
    pub output_bytes: f64,
    /// The simulator in which its clocks were those; `None` where they are the generator's count.
    pub simulated_by: Option<String>,
    /// All of its cells, where each of them was synthesized, or is a memory whose blocks were counted.
    pub cells: Option<Cells>,
    /// Blocks of 36 Kbit among them that were counted by the shapes of memories, and not synthesized.
    pub counted_block_rams: Option<f64>,
    /// What synthesized it.
    pub synthesized_by: Option<String>,
    /// What of it was not synthesized, in words, where something was not.
    pub not_synthesized: Option<&'static str>,
    /// Whether it divides within a clock, so that published designs say nothing of its clock.
    pub divides_in_one_clock: bool,
}

/// Cells of UltraScale+, before place and route.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cells {
    /// Look-up tables, with those that are shift registers or small memories.
    pub look_up_tables: f64,
    /// Registers.
    pub registers: f64,
    /// DSP slices.
    pub multipliers: f64,
    /// Blocks of 36 Kbit.
    pub block_rams: f64,
}

/// Bytes of a block of 36 Kbit.
const BLOCK_BYTES: f64 = 36.0 * 1024.0 / 8.0;

/// What the time of a region on a board rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DesignBasis {
    /// The model's priors, for a design that fills the board; nothing was generated.
    Prior,
    /// Clocks that the generator of a core counted; nobody simulated it.
    Counted,
    /// Clocks of a core in simulation; not all of its cells are known for the board's family.
    Simulated,
    /// Clocks of a core in simulation, and its cells by synthesis for the board's family, before place and route.
    Synthesized,
}

impl DesignBasis {
    /// The word in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            DesignBasis::Prior => "prior",
            DesignBasis::Counted => "counted",
            DesignBasis::Simulated => "simulated",
            DesignBasis::Synthesized => "synthesized",
        }
    }
}

impl Core {
    /// What a time on a board of `family` rests on.
    pub fn basis(&self, family: Family) -> DesignBasis {
        match (&self.simulated_by, self.cells) {
            (None, _) => DesignBasis::Counted,
            (Some(_), Some(_)) if family == Family::Ultrascale => DesignBasis::Synthesized,
            (Some(_), _) => DesignBasis::Simulated,
        }
    }

    /// The parts of a board that it takes, each of all that there is, where they are known for its family.
    pub fn parts_of(&self, board: &Board) -> Vec<(&'static str, f64)> {
        let blocks = |count: f64| ("memory on the chip", count * BLOCK_BYTES / board.onchip_bytes.value);
        let of_family = self.cells.filter(|_| board.family == Family::Ultrascale);
        let parts = match (of_family, self.counted_block_rams) {
            (Some(cells), _) => vec![
                ("look-up tables", cells.look_up_tables / board.lut.value),
                ("DSP slices", cells.multipliers / board.dsp.value),
                blocks(cells.block_rams),
            ],
            (None, Some(count)) => vec![blocks(count)],
            (None, None) => Vec::new(),
        };
        parts.into_iter().filter(|(_, part)| *part > 0.0).collect()
    }

    /// Whether the interval of its time is that of the clock, the link and the launch alone: its clocks were simulated, and
    /// it is a pipeline as designs with the prior's clocks are. Nobody knows which clock an engine or a divider reaches.
    pub(crate) fn is_exact(&self) -> bool {
        self.simulated_by.is_some() && !self.is_engine && !self.divides_in_one_clock
    }
}

/// What became of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleUse {
    /// The bundle, as it was named.
    pub bundle: String,
    /// The name of the region that it was made of.
    pub region: String,
    /// The regions of the capture that it stands for.
    pub regions: Vec<String>,
    /// Why it stands for none, where it does not.
    pub why_not: Option<String>,
}

/// How a region and a bundle relate.
enum Relation {
    Same,
    /// The same place at another size, with the shapes here.
    OtherSize(String),
    /// The same place, where the bundle has the whole of what the region is a part of.
    Part,
    /// The same place and shapes, but other operations or constants.
    OtherProgram,
}

/// The bundle that stands for `region`: of several the one that is known best, and of these the fastest.
pub(crate) fn of_region<'b>(region: &Region, bundles: &'b [Bundle], analysis: &Analysis<'_>) -> Option<&'b Bundle> {
    let all = bundles.iter().filter(|bundle| matches!(relation(region, bundle, analysis), Some(Relation::Same)));
    all.min_by(|one, other| {
        let basis = |bundle: &Bundle| std::cmp::Reverse(bundle.core.basis(Family::Ultrascale));
        let clocks = one.core.call_clocks.total_cmp(&other.core.call_clocks);
        basis(one).cmp(&basis(other)).then(clocks)
    })
}

/// What becomes of each bundle among `regions`.
pub(crate) fn uses(regions: &[Region], bundles: &[Bundle], analysis: &Analysis<'_>) -> Vec<BundleUse> {
    let of = |bundle: &Bundle| {
        let related: Vec<(&Region, Relation)> =
            regions.iter().filter_map(|region| Some((region, relation(region, bundle, analysis)?))).collect();
        let same = related.iter().filter(|(_, relation)| matches!(relation, Relation::Same));
        let stands_for: Vec<String> = same.map(|(region, _)| region.name.clone()).collect();
        let why_not = stands_for.is_empty().then(|| why_not(bundle, &related));
        BundleUse { bundle: bundle.core.bundle.clone(), region: bundle.region.clone(), regions: stands_for, why_not }
    };
    bundles.iter().map(of).collect()
}

fn why_not(bundle: &Bundle, related: &[(&Region, Relation)]) -> String {
    let name = &bundle.region;
    match related.first() {
        Some((_, Relation::OtherSize(here))) => format!(
            "`{name}` has another size in this capture: {here} instead of the bundle's {}; clocks and resources do not carry over",
            bundle.signature
        ),
        Some((region, Relation::Part)) => format!(
            "the bundle has all of module `{}`, and `{name}` is only a part of it in this capture",
            region.module
        ),
        Some((_, Relation::OtherProgram)) => format!(
            "`{name}` has the same shapes in this capture but other operations or constants: the program was changed, or compiled for another device"
        ),
        Some((_, Relation::Same)) | None => format!("no region of this capture has the program of `{name}`"),
    }
}

fn relation(region: &Region, bundle: &Bundle, analysis: &Analysis<'_>) -> Option<Relation> {
    let compiled = region.compiled.as_ref()?;
    let module = analysis.hlo.get(compiled.hlo as usize)?;
    let signature = module.signature(compiled.computation);
    let is_program = signature == bundle.signature && module.nameless_text(compiled.computation) == bundle.program;
    match (is_program, is_same_place(region, bundle)) {
        (true, _) if compiled.is_all => Some(Relation::Same),
        (true, _) => Some(Relation::Part),
        (false, false) => None,
        (false, true) if signature != bundle.signature => Some(Relation::OtherSize(signature)),
        (false, true) => Some(Relation::OtherProgram),
    }
}

/// Whether a region is at the source line and in the scope that a bundle was made of, whatever its size.
fn is_same_place(region: &Region, bundle: &Bundle) -> bool {
    let unnumbered = |name: &str| name.rsplit_once(" #").map_or(name, |(name, _)| name).to_owned();
    let line = |at: &str| at.rsplit(['/', '\\']).next().unwrap_or(at).to_owned();
    let here = region.location.as_ref().map(|at| format!("{}:{}", at.file, at.line)).unwrap_or_default();
    let agree = |one: &str, other: &str| one.is_empty() || other.is_empty() || one == other;
    unnumbered(&region.name) == unnumbered(&bundle.region)
        && agree(&line(&here), &line(&bundle.location))
        && agree(&region.scope, &bundle.scope)
}

/// How far the interval of a core's time is widened.
pub(crate) fn widening(core: &Core, class: Class) -> crate::Widening {
    let widening = crate::Calibration::of_this_version().widening(class, None);
    if core.is_exact() { crate::Widening { below: 1.0, above: 1.0, ..widening } } else { widening }
}
