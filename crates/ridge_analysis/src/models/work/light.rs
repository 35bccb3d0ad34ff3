//! The least time that a piece of work can take on a device, and which roof that is.

use crate::device::{Ceilings, ComputeUnit, Limit, NumberType};
use ridge_hlo::ElementType;
use ridge_hlo::cost::{Cost, OpKind, Unit, WorkItem};

/// How much faster than memory the last-level cache of an accelerator is taken to be where neither a sheet nor a measurement
/// says. It is a GPU's: of a processor's caches nothing follows from it.
///
/// `kL2CacheSpeedup` of openxla/xla, `xla/service/gpu/model/gpu_performance_model_base.h`.
const CACHE_SPEEDUP: f64 = 2.5;

/// What keeps an operation from being faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bound {
    /// Arithmetic takes longest at the roof.
    Compute,
    /// Memory traffic takes longest at the roof.
    Memory,
    /// The work is so small that starting a kernel takes longer.
    Launch,
    /// The work is not known. Where only a roof is not, nothing is said of what bounds it.
    Unknown,
}

impl Bound {
    /// All of them.
    pub const ALL: [Bound; 4] = [Bound::Compute, Bound::Memory, Bound::Launch, Bound::Unknown];

    /// The word in tables.
    pub fn name(self) -> &'static str {
        match self {
            Bound::Compute => "compute",
            Bound::Memory => "memory",
            Bound::Launch => "launch",
            Bound::Unknown => "unknown",
        }
    }
}

/// The time of one execution at the roofs of its device.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Light {
    /// Sum over types of operations by their peak rate, seconds.
    pub(crate) compute_secs: f64,
    /// Compulsory traffic by the bandwidth, seconds.
    pub(crate) memory_secs: f64,
    /// Starting the kernel, seconds; 0 for what is not started by itself.
    pub(crate) launch_secs: f64,
    /// The rate that most of the compute time runs at.
    pub(crate) roof: Option<Limit>,
}

impl Light {
    /// The longer of the two, seconds: they overlap at best.
    pub(crate) fn secs(self) -> f64 {
        self.compute_secs.max(self.memory_secs)
    }

    /// The least time that an event of `measured_secs` can take: at the roof, or starting it where that takes longer.
    ///
    /// The time to start a kernel is from one kernel to the next, of which the kernel itself may be a part only: where it
    /// took less than that, it took the least.
    pub(crate) fn least_secs(self, measured_secs: f64) -> f64 {
        self.secs().max(self.launch_secs.min(measured_secs))
    }

    /// What bounds it; `None` where there is no work.
    pub(crate) fn bound(self) -> Option<Bound> {
        match self.secs() {
            secs if secs <= 0.0 => None,
            secs if secs < self.launch_secs => Some(Bound::Launch),
            _ if self.compute_secs > self.memory_secs => Some(Bound::Compute),
            _ => Some(Bound::Memory),
        }
    }
}

/// Whether 32-bit products may be computed from shortened mantissas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Products {
    /// The program left it to the compiler.
    MayBeShort,
    /// The program asked for full precision.
    Full,
}

/// What computes, and so which arithmetic has rates of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Computes {
    /// An accelerator: its peak rates stand for all arithmetic.
    Accelerator,
    /// A processor: functions such as `exp` are series of many operations there.
    Processor,
    /// A sort on a processor: its comparisons wait for branches and memory.
    SortOnProcessor,
}

/// The time of one execution of `cost` at the roofs in `ceilings`; `None` where a roof that it needs is not known.
pub(crate) fn light(ceilings: &Ceilings, cost: &Cost, products: Products, computes: Computes) -> Option<Light> {
    let mut light =
        Light { memory_secs: memory_secs(ceilings, cost.compulsory.total(), computes)?, ..Light::default() };
    let mut longest = 0.0;
    for item in cost.work.by().iter().filter(|item| counts(item)) {
        let (limit, rate) = match own_limit(item, computes) {
            Some(limit) => (limit, ceilings.value(limit)?),
            None => roof_of(ceilings, item, products)?,
        };
        let secs = item.operations() / rate;
        light.compute_secs += secs;
        if secs > longest {
            (longest, light.roof) = (secs, Some(limit));
        }
    }
    Some(light)
}

/// The least time of one execution of `cost` at the roofs in `ceilings`, seconds: of its arithmetic and of its compulsory
/// traffic; `None` where a roof that it needs is not known.
pub fn least_secs(ceilings: &Ceilings, cost: &Cost) -> Option<(f64, f64)> {
    let found = light(ceilings, cost, Products::MayBeShort, Computes::Accelerator)?;
    Some((found.compute_secs, found.memory_secs))
}

/// Traffic that fits the last-level cache may come from there, from an earlier operation; on a processor whose cache nobody
/// measured, that traffic has no roof.
fn memory_secs(ceilings: &Ceilings, bytes: f64, computes: Computes) -> Option<f64> {
    let memory = ceilings.value(Limit::Memory)?;
    if bytes <= 0.0 || !ceilings.cache_bytes.is_some_and(|cache| bytes <= cache as f64) {
        return Some(bytes / memory);
    }
    let usual = (computes == Computes::Accelerator).then_some(memory * CACHE_SPEEDUP);
    Some(bytes / ceilings.value(Limit::Cache).or(usual)?.max(memory))
}

/// Floating-point work, and integer products of matrix units: other integer arithmetic has no peak in data sheets.
fn counts(item: &WorkItem) -> bool {
    item.is_floating() || (item.unit == Unit::Matrix && !item.element_type.is_float())
}

/// The rate of its own that `item` needs on a processor; without a measurement of it the work is not judged.
fn own_limit(item: &WorkItem, computes: Computes) -> Option<Limit> {
    let number = match item.element_type {
        ElementType::F64 => NumberType::F64,
        _ => NumberType::F32,
    };
    match (computes, item.kind) {
        (Computes::Processor | Computes::SortOnProcessor, OpKind::Transcendental) => {
            Some(Limit::Transcendental(number))
        }
        (Computes::SortOnProcessor, OpKind::Compare) => Some(Limit::Comparison(number)),
        _ => None,
    }
}

/// The fastest rate that the device has for `item`.
fn roof_of(ceilings: &Ceilings, item: &WorkItem, products: Products) -> Option<(Limit, f64)> {
    let own = number_type(item.element_type)?;
    let unit = if item.unit == Unit::Matrix { ComputeUnit::Matrix } else { ComputeUnit::Plain };
    let is_short = matches!(own, NumberType::Bf16 | NumberType::F16 | NumberType::F8);
    let candidates = [
        Some((own, unit)),
        Some((own, ComputeUnit::Plain)),
        // Types without a rate of their own are computed as 32 bits.
        is_short.then_some((NumberType::F32, ComputeUnit::Plain)),
        (own == NumberType::F32 && unit == ComputeUnit::Matrix && products == Products::MayBeShort)
            .then_some((NumberType::Tf32, ComputeUnit::Matrix)),
    ];
    let rates = candidates.into_iter().flatten().map(|(number, unit)| Limit::Rate(number, unit));
    rates.filter_map(|limit| Some((limit, ceilings.value(limit)?))).max_by(|one, other| one.1.total_cmp(&other.1))
}

fn number_type(element_type: ElementType) -> Option<NumberType> {
    match element_type {
        ElementType::F64 => Some(NumberType::F64),
        ElementType::F32 => Some(NumberType::F32),
        ElementType::Bf16 => Some(NumberType::Bf16),
        ElementType::F16 => Some(NumberType::F16),
        ElementType::S8 | ElementType::U8 => Some(NumberType::I8),
        other if other.is_float() && other.bits() == Some(8) => Some(NumberType::F8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Ceiling, sheets};
    use ridge_hlo::HloModule;
    use ridge_hlo::cost::ModuleCosts;
    use ridge_table::Basis;

    /// The time at the roofs of an H100 of `%out`, in nanoseconds, with the roof of its arithmetic.
    #[track_caller]
    fn check(parameters: &str, instruction: &str, products: Products, expected: &str) {
        let text = format!("HloModule m\n\nENTRY %main {{\n{parameters}\n  ROOT %out = {instruction}\n}}\n");
        let module = HloModule::from_text(&text).expect("HLO text of the test");
        let costs = ModuleCosts::new(&module);
        let out = module.instruction_named("out").expect("the root");
        let h100 = sheets().iter().find(|sheet| sheet.name == "NVIDIA H100 SXM5 80GB").expect("its sheet");
        let light = light(&h100.ceilings, costs.of(out), products, Computes::Accelerator).expect("all roofs are known");
        let roof = light.roof.map_or("-".to_owned(), |roof| roof.to_string());
        let found = format!("compute {:.0} memory {:.0} {roof}", light.compute_secs * 1e9, light.memory_secs * 1e9);
        assert_eq!(found, expected, "{instruction}");
    }

    #[test]
    fn each_type_has_its_own_roof() {
        let two = |shape: &str| format!("  %a = {shape} parameter(0)\n  %b = {shape} parameter(1)");
        let dot = "dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
        // 2 * 8192^3 = 1.0995e12; by 989.4e12: 1 111 291 ns. 3 * 8192^2 * 2 bytes by 3.352e12: 120 123 ns.
        let bf16 = "bf16[8192,8192]{1,0}";
        check(&two(bf16), &format!("{bf16} {dot}"), Products::MayBeShort, "compute 1111291 memory 120123 bf16.matrix");
        // The same in 32 bits: by 494.7e12 with short products, by 66.9e12 without.
        let f32 = "f32[8192,8192]{1,0}";
        check(&two(f32), &format!("{f32} {dot}"), Products::MayBeShort, "compute 2222583 memory 240247 tf32.matrix");
        check(&two(f32), &format!("{f32} {dot}"), Products::Full, "compute 16435151 memory 240247 f32.plain");
        // 8192^2 sums by 133.8e12: 502 ns.
        check(&two(bf16), &format!("{bf16} add(%a, %b)"), Products::Full, "compute 502 memory 120123 bf16.plain");
    }

    #[test]
    fn small_operands_may_come_from_the_cache() {
        // 3 * 1024^2 * 4 bytes fit 50 MiB: by 2.5 * 3.352e12.
        let parameters = "  %a = f32[1024,1024]{1,0} parameter(0)\n  %b = f32[1024,1024]{1,0} parameter(1)";
        let add = "f32[1024,1024]{1,0} add(%a, %b)";
        check(parameters, add, Products::Full, "compute 16 memory 1502 f32.plain");
    }

    #[test]
    fn the_cache_of_a_processor_is_measured_or_not_judged() {
        let text = "HloModule m\n\nENTRY %main {\n  %a = f32[1000]{0} parameter(0)\n  ROOT %out = f32[1000]{0} add(%a, %a)\n}\n";
        let module = HloModule::from_text(text).expect("HLO text of the test");
        let costs = ModuleCosts::new(&module);
        let cost = costs.of(module.instruction_named("out").expect("the root"));
        let entry = |limit, value| Ceiling { limit, value, basis: Basis::Measured, source: "here".to_owned() };
        let entries = vec![entry(Limit::Rate(NumberType::F32, ComputeUnit::Plain), 1e11), entry(Limit::Memory, 1e9)];
        let mut ceilings = Ceilings { entries, cache_bytes: Some(1 << 20), ..Ceilings::default() };
        let nanos = |ceilings: &Ceilings, computes| {
            Some((light(ceilings, cost, Products::Full, computes)?.memory_secs * 1e9).round())
        };
        // 8000 bytes by 1 GB/s, 2.5 GB/s, 4 GB/s.
        assert_eq!(nanos(&ceilings, Computes::Accelerator), Some(3200.0));
        assert_eq!(nanos(&ceilings, Computes::Processor), None);
        ceilings.entries.push(entry(Limit::Cache, 4e9));
        assert_eq!(nanos(&ceilings, Computes::Processor), Some(2000.0));
        ceilings.cache_bytes = Some(1 << 10);
        assert_eq!(nanos(&ceilings, Computes::Processor), Some(8000.0));
    }

    #[test]
    fn a_roof_that_is_not_known_is_not_guessed() {
        let module = HloModule::from_text(
            "HloModule m\n\nENTRY %main {\n  %a = f64[8]{0} parameter(0)\n  ROOT %out = f64[8]{0} add(%a, %a)\n}\n",
        )
        .expect("HLO text of the test");
        let costs = ModuleCosts::new(&module);
        let out = module.instruction_named("out").expect("the root");
        let a6000 = sheets().iter().find(|sheet| sheet.name == "NVIDIA RTX A6000").expect("its sheet");
        assert_eq!(
            light(&a6000.ceilings, costs.of(out), Products::Full, Computes::Accelerator),
            None,
            "the sheet has no 64-bit rate"
        );
        assert_eq!(light(&Ceilings::default(), costs.of(out), Products::Full, Computes::Accelerator), None);
    }

    #[test]
    fn functions_and_sorts_of_a_processor_have_rates_of_their_own_or_none() {
        let text =
            "HloModule m\n\nENTRY %main {\n  %a = f32[1000]{0} parameter(0)\n  ROOT %out = f32[1000]{0} tanh(%a)\n}\n";
        let module = HloModule::from_text(text).expect("HLO text of the test");
        let costs = ModuleCosts::new(&module);
        let cost = costs.of(module.instruction_named("out").expect("the root"));
        let entry = |limit, value| Ceiling { limit, value, basis: Basis::Measured, source: "here".to_owned() };
        let plain = Limit::Rate(NumberType::F32, ComputeUnit::Plain);
        let mut ceilings =
            Ceilings { entries: vec![entry(plain, 1e11), entry(Limit::Memory, 1e10)], ..Ceilings::default() };
        let judged = |ceilings: &Ceilings| light(ceilings, cost, Products::Full, Computes::Processor);
        assert_eq!(judged(&ceilings), None, "the multiply-add roof says nothing of tanh");
        ceilings.entries.push(entry(Limit::Transcendental(NumberType::F32), 1e9));
        let found = judged(&ceilings).expect("its rate was measured");
        assert_eq!((found.compute_secs * 1e9).round(), 1000.0);
        assert_eq!(found.bound(), Some(Bound::Compute));
    }
}
