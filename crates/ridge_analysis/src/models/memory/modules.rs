//! Tables of planned memory: every module's peak, what is alive at one module's, and donations that were missed.

use super::plan::{Class, Held, Plan};
use super::runs::FirstRuns;
use crate::Analysis;
use crate::tables::time::table as build;
use ridge_hlo::memory::{Liveness, MissedDonation, Schedule, missed_donations};
use ridge_hlo::{HloModule, InstructionId, Shape};
use ridge_table::{Basis, Column, Rank, Table, Unit};

/// One module with its plan.
#[derive(Debug)]
pub(crate) struct PlannedModule {
    /// Row of the modules table.
    pub(crate) row: u32,
    /// Its position among the HLO modules.
    hlo: u32,
    pub(crate) schedule: Schedule,
    pub(crate) plan: Plan,
    pub(crate) missed: Vec<MissedDonation>,
}

impl PlannedModule {
    /// Plans the module at row `row`; `None` without HLO.
    pub(crate) fn new(analysis: &Analysis<'_>, row: u32) -> Option<PlannedModule> {
        let position = analysis.trace.modules.get(row as usize)?.hlo?;
        let hlo = analysis.hlo.get(position as usize)?;
        let schedule = Schedule::new(hlo);
        let liveness = Liveness::new(hlo, &schedule);
        let plan = Plan::new(hlo, &schedule, &liveness)?;
        let missed = missed_donations(hlo, &liveness);
        Some(PlannedModule { row, hlo: position, schedule, plan, missed })
    }

    /// Its HLO.
    pub(crate) fn hlo<'a>(&self, analysis: &Analysis<'a>) -> &'a HloModule {
        &analysis.hlo[self.hlo as usize]
    }

    /// Name of the module.
    pub(crate) fn name<'a>(&self, analysis: &Analysis<'a>) -> &'a str {
        analysis.text(analysis.trace.modules[self.row as usize].name)
    }

    /// Bytes that the missed donations would save.
    pub(crate) fn missed_bytes(&self) -> u64 {
        self.missed.iter().fold(0, |sum, missed| sum.saturating_add(missed.bytes))
    }

    fn program_id(&self, analysis: &Analysis<'_>) -> u64 {
        analysis.trace.modules[self.row as usize].program_id
    }
}

/// The basis that holds for all of `modules`.
fn basis(modules: &[PlannedModule]) -> Basis {
    let all_counted = modules.iter().all(|module| module.plan.basis == Basis::Counted);
    if all_counted { Basis::Counted } else { Basis::Modelled }
}

/// Every module with HLO, largest peak first.
pub(crate) fn table(analysis: &Analysis<'_>, modules: &[PlannedModule]) -> Table {
    let basis = basis(modules);
    let class = |key, title, definition, class: Class| {
        Column::whole(
            key,
            title,
            definition,
            Unit::Bytes,
            modules.iter().map(move |module| module.plan.bytes_of(class)),
        )
        .basis(basis)
    };
    let columns = vec![
        Column::text(
            "module",
            "Module",
            "compiled program",
            modules.iter().map(|module| module.name(analysis).to_owned()),
        )
        .ranked(Rank::Key),
        Column::text(
            "program_id",
            "Program",
            "program id in the capture",
            modules.iter().map(|module| module.program_id(analysis).to_string()),
        )
        .ranked(Rank::Detail),
        Column::whole(
            "peak_bytes",
            "Peak",
            "most bytes that one run of the module needs at one time on one device: parameters, results and constants \
             throughout, the rest as the compiler planned it, else while it lives",
            Unit::Bytes,
            modules.iter().map(|module| module.plan.peak_bytes),
        )
        .ranked(Rank::Key)
        .basis(basis),
        class("parameter_bytes", "Parameters", "arguments whose memory no result takes over", Class::Parameter),
        class("output_bytes", "Outputs", "results with memory of their own", Class::Output),
        class("donated_bytes", "Donated", "arguments whose memory is also a result's", Class::Donated),
        class(
            "temporary_bytes",
            "Temporary",
            "memory set aside for values that live only inside a run",
            Class::Temporary,
        ),
        class("constant_bytes", "Constants", "constants of the program", Class::Constant).ranked(Rank::Detail),
        Column::whole(
            "missed_donation_bytes",
            "Missed donation",
            "bytes of parameters that are dead when a result of the same type and extents is made and that are not \
             donated: at most this much less memory, where the caller no longer needs them",
            Unit::Bytes,
            modules.iter().map(PlannedModule::missed_bytes),
        )
        .basis(Basis::Modelled),
        Column::text(
            "peak_at",
            "Peak at",
            "instruction at which the peak is reached",
            modules
                .iter()
                .map(|module| module.plan.peak_at.map(|at| module.hlo(analysis).instruction(at).name.clone())),
        ),
        Column::text(
            "peak_source",
            "Peak source",
            "line of the program that made this instruction",
            modules.iter().map(|module| module.plan.peak_at.and_then(|at| source(module.hlo(analysis), at))),
        ),
        Column::text(
            "plan",
            "Plan",
            "compiler: from the buffer assignment in the capture; modelled: from the schedule, no value sharing \
             another's memory unless the program says so",
            modules.iter().map(|module| plan_name(&module.plan).to_owned()),
        ),
    ];
    build("memory_modules", "Planned memory by module", columns)
}

fn plan_name(plan: &Plan) -> &'static str {
    if plan.basis == Basis::Counted { "compiler" } else { "modelled" }
}

/// What is alive at the peak of one module, most bytes first.
pub(crate) fn alive(analysis: &Analysis<'_>, module: Option<&PlannedModule>) -> Table {
    let held: Vec<&Held> = module.map_or(Vec::new(), |module| module.plan.held.iter().collect());
    let runs = module.map(|module| FirstRuns::new(analysis.trace, module.row, &module.schedule));
    let basis = module.map_or(Basis::Counted, |module| module.plan.basis);
    let peak = module.map_or(0, |module| module.plan.peak_bytes);
    let hlo = |held: &Held| module.map(|module| module.hlo(analysis)).zip(held.at);
    let shape = |held: &Held| hlo(held).and_then(|(hlo, at)| part(&hlo.instruction(at).shape, &held.index));
    let logical = |held: &Held| shape(held).and_then(|shape| shape.byte_size().ok());
    let columns = vec![
        Column::text(
            "value",
            "Value",
            "instruction that makes it, with the position in its tuple",
            held.iter().map(|held| {
                hlo(held).map_or_else(|| "(holds nothing now)".to_owned(), |(hlo, at)| value_name(hlo, at, &held.index))
            }),
        )
        .ranked(Rank::Key),
        Column::text("class", "Class", "what the memory is for", held.iter().map(|held| held.class.name().to_owned()))
            .ranked(Rank::Key),
        Column::whole("bytes", "Size", "bytes set aside for it", Unit::Bytes, held.iter().map(|held| held.bytes))
            .ranked(Rank::Key)
            .basis(basis),
        Column::real(
            "share",
            "Share",
            "size as a part of the module's peak",
            Unit::Share,
            held.iter().map(|held| if peak == 0 { 0.0 } else { held.bytes as f64 / peak as f64 }),
        )
        .basis(basis),
        Column::whole(
            "padding_bytes",
            "Padding",
            "bytes set aside beyond those of its elements: layout tiles, and the rest of its allocation",
            Unit::Bytes,
            held.iter().map(|held| logical(held).map(|logical| held.bytes.saturating_sub(logical))),
        )
        .basis(basis),
        Column::text(
            "shape",
            "Shape",
            "type, extents and layout",
            held.iter().map(|held| shape(held).map(ToString::to_string)),
        ),
        Column::text(
            "source",
            "Source",
            "line of the program that made it",
            held.iter().map(|held| hlo(held).and_then(|(hlo, at)| source(hlo, at))),
        ),
        Column::text(
            "scope",
            "Scope",
            "scope path, or the argument's name",
            held.iter().map(|held| hlo(held).map(|(hlo, at)| hlo.op_name_in_fusion(at).to_owned())),
        ),
        Column::text(
            "opcode",
            "Opcode",
            "what makes it",
            held.iter().map(|held| hlo(held).map(|(hlo, at)| hlo.instruction(at).opcode.to_string())),
        )
        .ranked(Rank::Detail),
        Column::whole(
            "from_position",
            "From",
            "position in the schedule that makes it",
            Unit::Count,
            held.iter().map(|held| held.lives.map(|(from, _)| u64::from(from))),
        )
        .basis(Basis::Counted)
        .ranked(Rank::Detail),
        Column::whole(
            "to_position",
            "To",
            "last position in the schedule that needs it",
            Unit::Count,
            held.iter().map(|held| held.lives.map(|(_, to)| u64::from(to))),
        )
        .basis(Basis::Counted)
        .ranked(Rank::Detail),
        Column::nanos(
            "live_ns",
            "Lives",
            "device time from the first event that makes or first follows it to the end of the last one that needs \
             it, in the first run of the capture",
            held.iter().map(|held| runs.as_ref().zip(held.lives).and_then(|(runs, lives)| runs.between(lives))),
        )
        .basis(Basis::Measured),
    ];
    let mut table = build("memory_alive", "Alive at the peak", columns);
    if let Some(module) = module {
        table.title = format!("Alive at the peak of {}", module.name(analysis));
        let positions = module.schedule.len();
        let at = module.plan.peak_at.and_then(|at| module.schedule.position(at));
        let at = at.map_or(String::new(), |at| format!("; the peak is at position {at}"));
        table.footnotes.push(format!("the schedule has {positions} positions{at}"));
        if module.plan.basis == Basis::Modelled {
            table.footnotes.push("the capture has no buffer assignment of this module: sizes are modelled".to_owned());
        }
    }
    table
}

/// Parameters that could have been donated, over all modules, most bytes first.
pub(crate) fn donations(analysis: &Analysis<'_>, modules: &[PlannedModule]) -> Table {
    let mut rows: Vec<(&PlannedModule, &MissedDonation)> =
        modules.iter().flat_map(|module| module.missed.iter().map(move |missed| (module, missed))).collect();
    rows.sort_by_key(|(_, missed)| std::cmp::Reverse(missed.bytes));
    let columns = vec![
        Column::text(
            "module",
            "Module",
            "compiled program",
            rows.iter().map(|(module, _)| module.name(analysis).to_owned()),
        )
        .ranked(Rank::Key),
        Column::text(
            "parameter",
            "Parameter",
            "argument that is dead when the result is made",
            rows.iter()
                .map(|(module, missed)| value_name(module.hlo(analysis), missed.parameter, &missed.parameter_index)),
        )
        .ranked(Rank::Key),
        Column::text(
            "argument",
            "Argument",
            "its name in the program, where the compiler kept it",
            rows.iter()
                .map(|(module, missed)| module.hlo(analysis).instruction(missed.parameter).metadata.op_name.clone()),
        ),
        Column::whole(
            "saving_bytes",
            "Saving",
            "bytes that the module would need less, where the caller no longer needs the argument",
            Unit::Bytes,
            rows.iter().map(|(_, missed)| missed.bytes),
        )
        .ranked(Rank::Key)
        .basis(Basis::Modelled),
        Column::text(
            "shape",
            "Shape",
            "type and extents of both",
            rows.iter().map(|(module, missed)| {
                let shape = part(&module.hlo(analysis).instruction(missed.parameter).shape, &missed.parameter_index);
                shape.map(|shape| shape.without_layout().to_string())
            }),
        ),
        Column::text(
            "output",
            "Output",
            "result that could have its memory: its position in the program's result",
            rows.iter().map(|(_, missed)| path(&missed.output_index)),
        ),
        Column::text(
            "made_by",
            "Made by",
            "instruction that makes the result",
            rows.iter().map(|(module, missed)| module.hlo(analysis).instruction(missed.made_by).name.clone()),
        ),
        Column::text(
            "source",
            "Source",
            "line of the program that makes the result",
            rows.iter().map(|(module, missed)| source(module.hlo(analysis), missed.made_by)),
        ),
    ];
    let mut table = build("memory_donations", "Missed donations", columns);
    if !rows.is_empty() {
        table.footnotes.push(
            "donate with `jax.jit(f, donate_argnames=…)`; a donated argument cannot be used after the call".to_owned(),
        );
    }
    table
}

fn part<'s>(shape: &'s Shape, index: &[i64]) -> Option<&'s Shape> {
    shape.at(index).or_else(|| shape.leaves().get(shape.leaf_at(index)?).copied())
}

/// `fusion.3{1}`; without the braces where the value is no part of a tuple.
fn value_name(hlo: &HloModule, at: InstructionId, index: &[i64]) -> String {
    let name = &hlo.instruction(at).name;
    if index.is_empty() { name.clone() } else { format!("{name}{}", path(index)) }
}

fn path(index: &[i64]) -> String {
    format!("{{{}}}", index.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
}

fn source(hlo: &HloModule, at: InstructionId) -> Option<String> {
    let frames = hlo.source_in_fusion(at);
    frames.first().map(|frame| format!("{}:{}", frame.file, frame.line))
}
