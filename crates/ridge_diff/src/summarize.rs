//! From a capture's answers to its summary.

use crate::place::Place;
use crate::summary::{DeviceSeen, Item, Kind, Measure, Origin, Part, Summary, Unit};
use crate::wavering::wavering;
use crate::{names, structure};
use ridge_analysis::{Analysis, BreakdownRow, ComparedTime, Group, Lines, Need, Per, TimeOwner};
use ridge_trace::{EventKind, NONE, StringId, TrackKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// The text of a line of a file, where the file can be read.
pub type LineText<'t> = dyn FnMut(&str, u32) -> Option<String> + 't;

/// Steps whose times are kept, at equal distances: more tell no rank test anything.
const MOST_PERIODS: usize = 4096;
/// Instructions up to which compiled programs are planned for their memory: a bound on what a comparison costs.
const MOST_PLANNED: usize = 200_000;

/// What of `analysis` is needed to compare it; where it is from is the caller's to say.
pub fn summarize(analysis: &Analysis<'_>, line_text: &mut LineText<'_>) -> Summary {
    analysis.prepare(&[Need::of::<ComparedTime>(), Need::of::<Lines>()]);
    let compared = analysis.compared();
    let periods = &compared.periods_ns;
    let kept = periods.len().min(MOST_PERIODS);
    let mut summary = Summary {
        unit: compared.per.map(|per| match per {
            Per::Step => Unit::Step,
            Per::Capture => Unit::Capture,
        }),
        units: compared.units,
        devices: compared.breakdown.devices.len() as u64,
        whole_ns: compared.whole_ns,
        busy_ns: compared.breakdown.busy_ns(),
        stretches: compared.stretches.iter().map(|part| Part { units: part.units, ns: part.whole_ns }).collect(),
        periods_ns: (0..kept).map(|at| periods[at * periods.len() / kept]).collect(),
        items: items(analysis, compared, line_text),
        ..Summary::default()
    };
    summary.wavering = (summary.unit == Some(Unit::Capture)).then(|| wavering(analysis.trace)).flatten();
    summary.origin = origin(analysis, compared);
    summary.measures = measures(analysis, &summary);
    summary
}

fn origin(analysis: &Analysis<'_>, compared: &ComparedTime) -> Origin {
    let devices =
        compared.breakdown.devices.iter().filter_map(|device| analysis.trace.devices.get(device.device.index()));
    let seen = devices.map(|device| DeviceSeen {
        model: device.model.clone().unwrap_or_else(|| without_number(&device.plane)),
        is_processor: device.is_processor(),
        clock_khz: device.clock_khz,
    });
    Origin {
        devices: seen.collect(),
        step_name: compared.name.map(|name| without_number(analysis.text(name))),
        ..Origin::default()
    }
}

/// `/device:GPU:3` → `/device:GPU`, `ProfilerStep#7` → `ProfilerStep`.
fn without_number(name: &str) -> String {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let stem = stem.trim_end_matches([':', '#', ' ', '_']);
    if stem.is_empty() { name.to_owned() } else { stem.to_owned() }
}

/// What makes work of one kind and name the work of one group or of several.
type WorkKey = (u32, u32, EventKind);

/// Pools of like rows of the breakdown.
#[derive(Debug, Default)]
struct Pools {
    places: FxHashMap<String, usize>,
    items: Vec<Item>,
    operations: FxHashSet<(usize, u32)>,
}

fn items(analysis: &Analysis<'_>, compared: &ComparedTime, line_text: &mut LineText<'_>) -> Vec<Item> {
    let mut groups: FxHashMap<WorkKey, Vec<&Group>> = FxHashMap::default();
    for group in &analysis.groups().groups {
        groups.entry((group.op, group.name, group.kind)).or_default().push(group);
    }
    let mut like: FxHashMap<WorkKey, Item> = FxHashMap::default();
    let mut pools = Pools::default();
    for (at, row) in compared.breakdown.rows.iter().enumerate() {
        let (item, op) = match row.owner {
            TimeOwner::Work { op, name, kind } => {
                let key = (op, name.0, kind);
                let found = groups.get(&key).map_or(&[][..], Vec::as_slice);
                let item = like.entry(key).or_insert_with(|| work(analysis, key, found, line_text)).clone();
                let bytes = bytes(analysis, found, row.events);
                (Item { bytes, ..item }, op)
            }
            TimeOwner::Idle { cause, activity, name } => {
                let during = name.map(|name| analysis.text(name).to_owned()).filter(|name| !name.is_empty());
                let category = activity.name().to_owned();
                (Item { category, during, ..Item::named(Kind::Idle, cause.name()) }, NONE)
            }
        };
        pools.add(item, op, row, compared.by_stretch(at));
    }
    let Pools { mut items, operations, .. } = pools;
    operations.iter().for_each(|(at, _)| items[*at].operations += 1);
    items.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| a.name.cmp(&b.name)));
    items
}

impl Pools {
    fn add(&mut self, item: Item, op: u32, row: &BreakdownRow, stretches: Vec<i64>) {
        let place = item.place.as_ref().map(|place| format!("{}\u{1f}{}", place.file, place.line));
        let key = format!(
            "{:?}\u{1e}{}\u{1e}{:?}\u{1e}{:?}\u{1e}{place:?}\u{1e}{:?}\u{1e}{:?}\u{1e}{}\u{1e}{:?}",
            item.kind,
            names::base(&item.name),
            item.module,
            item.structure,
            item.kernel,
            item.launch,
            item.category,
            item.during
        );
        let at = *self.places.entry(key).or_insert(self.items.len());
        if at == self.items.len() {
            self.items.push(Item { stretches: vec![0; stretches.len()], ..item });
        } else {
            self.items[at].bytes = self.items[at].bytes.saturating_add(item.bytes);
        }
        if op != NONE {
            self.operations.insert((at, op));
        }
        let pool = &mut self.items[at];
        pool.ns = pool.ns.saturating_add(row.ns);
        pool.events = pool.events.saturating_add(row.events);
        pool.stretches.iter_mut().zip(stretches).for_each(|(sum, ns)| *sum = sum.saturating_add(ns));
    }
}

/// What is known of work of one operation, name and kind, without how much of it there is.
fn work(analysis: &Analysis<'_>, key: WorkKey, groups: &[&Group], line_text: &mut LineText<'_>) -> Item {
    let (op, name, kind) = key;
    let name = analysis.text(StringId(name));
    let operation = analysis.operation(op);
    let most = groups.iter().max_by_key(|group| group.self_ns);
    let category = most.map(|group| analysis.category_of(group).into_owned()).unwrap_or_default();
    let op_name = operation.map(|operation| analysis.text(operation.name)).filter(|name| !name.is_empty());
    let module = operation.and_then(|operation| analysis.trace.modules.get(operation.module as usize));
    let instruction = analysis.instruction(op);
    let copies = kind.is_copy() || kind == EventKind::Memset;
    let is_copy = copies || instruction.is_some_and(|(module, id)| is_copying(&module.instruction(id).opcode));
    let own = if copies { kind.name() } else { op_name.unwrap_or(name) };
    Item {
        module: module.map(|module| analysis.text(module.name).to_owned()),
        structure: instruction.map(|(module, id)| structure::structure(module, id)),
        kernel: (kind == EventKind::Kernel).then(|| name.to_owned()),
        launch: most.and_then(|group| launch(analysis, group)),
        category,
        place: place(analysis, op, line_text),
        ..Item::named(if is_copy { Kind::Copy } else { Kind::Work }, own)
    }
}

fn is_copying(opcode: &str) -> bool {
    matches!(opcode, "copy" | "copy-start" | "copy-done")
}

fn launch(analysis: &Analysis<'_>, group: &Group) -> Option<String> {
    let is_kernel = group.kind == EventKind::Kernel && group.detail != NONE;
    let shape = is_kernel.then(|| analysis.trace.launch_shapes.get(group.detail as usize)).flatten()?;
    let extent = |extent: [u32; 3]| extent.map(|length| length.to_string()).join("x");
    Some(format!("{} of {}", extent(shape.grid), extent(shape.block)))
}

fn place(analysis: &Analysis<'_>, op: u32, line_text: &mut LineText<'_>) -> Option<Place> {
    let found = analysis.lines().of(op)?;
    let line = found.stack.first()?;
    Some(Place {
        file: line.file.clone(),
        line: line.line,
        function: line.function.clone(),
        text: line_text(&line.file, line.line),
        is_inferred: found.owed.is_some(),
    })
}

/// Bytes that `events` copies moved, as many each as those of their groups did.
fn bytes(analysis: &Analysis<'_>, groups: &[&Group], events: u64) -> u64 {
    let (mut moved, mut count) = (0_u128, 0_u128);
    for group in groups.iter().filter(|group| group.kind.is_copy() || group.kind == EventKind::Memset) {
        let transfer = analysis.trace.transfers.get(group.detail as usize);
        moved += u128::from(transfer.map_or(0, |transfer| transfer.bytes)) * u128::from(group.count());
        count += u128::from(group.count());
    }
    (moved * u128::from(events)).checked_div(count).and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0)
}

fn measures(analysis: &Analysis<'_>, summary: &Summary) -> Vec<Measure> {
    let per_unit = |sum: u64| sum as f64 / summary.units.max(1) as f64;
    let of = |kind: Kind| summary.items.iter().filter(move |item| item.kind == kind);
    let events = |kind: Kind| of(kind).map(|item| item.events).fold(0, u64::saturating_add);
    let mut found = Vec::new();
    let mut add = |key: &str, title: &str, unit: &str, about: &str, value: f64| {
        let (key, title, unit, about) = (key.to_owned(), title.to_owned(), unit.to_owned(), about.to_owned());
        found.push(Measure { key, title, unit, about, value });
    };
    if summary.devices > 0 {
        add("kernels", "kernels and operations", "count", "work", per_unit(events(Kind::Work)));
        add("copies", "copies", "count", "copy", per_unit(events(Kind::Copy)));
        let bytes = of(Kind::Copy).map(|item| item.bytes).fold(0, u64::saturating_add);
        add("copied_bytes", "copied", "bytes", "copy", per_unit(bytes));
    }
    let (compile_ns, compilations) = compiled(analysis);
    if compilations > 0 {
        add("compile_ns", "compiling, whole capture", "ns", "compile", compile_ns as f64);
        add("compilations", "compilations, whole capture", "count", "compile", compilations as f64);
    }
    if let Some(mhz) = clock_mhz(analysis) {
        add("clock_mhz", "core clock in MHz, mean of its samples", "count", "clock", mhz);
    }
    for (key, title, bytes) in memory(analysis) {
        add(key, title, "bytes", "memory", bytes as f64);
    }
    found
}

/// Time in which threads compiled, and outermost compilations.
fn compiled(analysis: &Analysis<'_>) -> (i64, u64) {
    let trace = analysis.trace;
    let threads = trace.tracks.iter().filter(|track| track.kind == TrackKind::HostThread);
    let (mut sum, mut count) = (0_i64, 0);
    for track in threads {
        let mut until = i64::MIN;
        for row in track.rows.start as usize..track.rows.end as usize {
            if trace.events.kind[row] == EventKind::Compile as u8 {
                let (start, end) = (trace.events.start_ns[row].max(until), trace.events.end_ns(row));
                count += u64::from(trace.events.start_ns[row] >= until);
                sum = sum.saturating_add(end.saturating_sub(start).max(0));
                until = until.max(end);
            }
        }
    }
    (sum, count)
}

/// Words of the metrics that are core clocks: of `nvidia-smi` queried and `dmon`, of `rocm-smi`, of Nsight Systems.
const CLOCKS: [&str; 6] = ["clocks.sm", "clocks.current.sm", "clocks.gr", "pclk", "sclk", "gpc clock freq"];

/// Mean of the samples of core clocks, of all devices that have any.
fn clock_mhz(analysis: &Analysis<'_>) -> Option<f64> {
    let counters = &analysis.trace.counters;
    let mut known: FxHashMap<StringId, bool> = FxHashMap::default();
    let (mut sum, mut count) = (0.0, 0_u64);
    for (metric, value) in counters.metric.iter().zip(&counters.value) {
        let is_clock = *known.entry(*metric).or_insert_with(|| {
            let name = analysis.text(*metric).to_ascii_lowercase();
            name.contains("mhz") && CLOCKS.iter().any(|word| name.contains(word))
        });
        if is_clock && value.is_finite() {
            (sum, count) = (sum + value, count + 1);
        }
    }
    (count > 0).then(|| sum / count as f64)
}

/// The planned peak of the largest module, and the measured one of the allocator that held most.
fn memory(analysis: &Analysis<'_>) -> Vec<(&'static str, &'static str, u64)> {
    let instructions: usize = analysis.hlo.iter().map(|module| module.instructions.len()).sum();
    if instructions > MOST_PLANNED {
        return Vec::new();
    }
    let (trace, memory) = (analysis.trace, analysis.memory());
    let allocators = || memory.allocators.iter();
    let kinds = [
        (
            "planned_peak_bytes",
            "planned peak of the largest program",
            memory.modules.iter().map(|module| module.plan.peak_bytes).max(),
        ),
        ("peak_bytes", "most memory in use", allocators().map(|allocator| allocator.peak_bytes(trace)).max()),
        (
            "reserved_bytes",
            "peak memory reserved",
            allocators().filter_map(|allocator| allocator.most_reserved(trace)).max(),
        ),
    ];
    kinds.into_iter().filter_map(|(key, title, bytes)| Some((key, title, bytes?))).collect()
}
