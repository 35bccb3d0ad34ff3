//! The modules of a capture and the instructions of one, each with the device time it took.

use crate::Analysis;
use crate::context::observed_trips::module_costs;
use crate::tables::time::table as build;
use ridge_hlo::cost::{Cost, ModuleCosts};
use ridge_hlo::{HloModule, InstructionId};
use ridge_table::{Basis, Column, Rank, Table, Unit};
use rustc_hash::FxHashMap;

/// Every module, most device time first; those that did not run are rows too.
pub fn modules(analysis: &Analysis<'_>) -> Table {
    let mut time: FxHashMap<u32, i64> = FxHashMap::default();
    for group in &analysis.groups().groups {
        if let Some(op) = analysis.operation(group.op) {
            *time.entry(op.module).or_default() += group.self_ns;
        }
    }
    let modules = &analysis.trace.modules;
    let mut rows: Vec<u32> = (0..modules.len() as u32).collect();
    let self_ns = |row: u32| time.get(&row).copied().unwrap_or(0);
    rows.sort_by_key(|row| std::cmp::Reverse(self_ns(*row)));
    let hlo = |row: u32| analysis.hlo.get(modules[row as usize].hlo? as usize);
    build(
        "modules",
        "HLO modules",
        vec![
            Column::text(
                "module",
                "Module",
                "compiled program",
                rows.iter().map(|row| analysis.text(modules[*row as usize].name).to_owned()),
            )
            .ranked(Rank::Key),
            Column::text(
                "program_id",
                "Program",
                "program id in the capture",
                rows.iter().map(|row| modules[*row as usize].program_id.to_string()),
            )
            .ranked(Rank::Key),
            Column::nanos(
                "self_ns",
                "Device",
                "self times of its operations, measured",
                rows.iter().map(|row| self_ns(*row)),
            )
            .basis(Basis::Measured)
            .ranked(Rank::Key),
            Column::whole(
                "instructions",
                "Instructions",
                "instructions in all its computations",
                Unit::Count,
                rows.iter().map(|row| hlo(*row).map(|module| module.instructions.len() as u64)),
            )
            .basis(Basis::Counted),
            Column::whole(
                "computations",
                "Computations",
                "computations, fusions included",
                Unit::Count,
                rows.iter().map(|row| hlo(*row).map(|module| module.computations.len() as u64)),
            )
            .basis(Basis::Counted),
            Column::flag(
                "has_hlo",
                "HLO",
                "whether the capture has its HLO",
                rows.iter().map(|row| hlo(*row).is_some()),
            ),
        ],
    )
}

/// Instructions of one module outside fusions, most device time first, those without any in program order.
pub fn instructions(analysis: &Analysis<'_>, module: u32) -> Table {
    let mut time: FxHashMap<u32, (i64, u64)> = FxHashMap::default();
    for group in &analysis.groups().groups {
        let Some(op) = analysis.operation(group.op).filter(|op| op.module == module) else { continue };
        let entry = time.entry(op.instruction).or_default();
        entry.0 += group.self_ns;
        entry.1 += group.count();
    }
    let position = analysis.trace.modules.get(module as usize).and_then(|module| module.hlo);
    let hlo = position.and_then(|hlo| analysis.hlo.get(hlo as usize));
    let shown: Vec<InstructionId> = hlo.map_or(Vec::new(), |hlo| {
        let all = (0..hlo.instructions.len() as u32).map(InstructionId);
        all.filter(|id| !hlo.computation(hlo.instruction(*id).computation).is_fusion).collect()
    });
    let mut shown = shown;
    shown.sort_by_key(|id| std::cmp::Reverse(time.get(&id.0).map_or(0, |(ns, _)| *ns)));
    let get = |id: &InstructionId| hlo.map(|hlo| hlo.instruction(*id));
    let spent = |id: &InstructionId| time.get(&id.0).copied().unwrap_or((0, 0));
    let mut columns = vec![
        Column::text(
            "instruction",
            "Instruction",
            "name in the module",
            shown.iter().map(|id| get(id).map(|found| found.name.clone())),
        )
        .ranked(Rank::Key),
        Column::text(
            "opcode",
            "Opcode",
            "what it does",
            shown.iter().map(|id| get(id).map(|found| found.opcode.to_string())),
        )
        .ranked(Rank::Key),
        Column::text(
            "shape",
            "Shape",
            "type, dimensions and layout of its value",
            shown.iter().map(|id| get(id).map(|found| found.shape.to_string())),
        ),
        Column::nanos("self_ns", "Device", "self time, measured", shown.iter().map(|id| spent(id).0))
            .basis(Basis::Measured)
            .ranked(Rank::Key),
        Column::real(
            "self_share",
            "Share",
            "self time as a part of all device work of the capture",
            Unit::Share,
            shown.iter().map(|id| analysis.share_of_work(spent(id).0)),
        )
        .basis(Basis::Measured),
        Column::whole(
            "events",
            "Events",
            "kernels and device operations",
            Unit::Count,
            shown.iter().map(|id| spent(id).1),
        )
        .basis(Basis::Counted),
        Column::text(
            "computation",
            "Computation",
            "computation it is in",
            shown.iter().map(|id| hlo.zip(get(id)).map(|(hlo, found)| hlo.computation(found.computation).name.clone())),
        )
        .ranked(Rank::Detail),
        Column::text(
            "scope",
            "Scope",
            "scope path",
            shown.iter().map(|id| get(id).map(|found| found.metadata.op_name.clone())),
        ),
    ];
    let costs = position.and_then(|position| module_costs(analysis, position));
    if let Some((hlo, costs)) = hlo.zip(costs) {
        columns.extend(cost_columns(hlo, &costs, &shown));
    }
    build("instructions", "Instructions", columns)
}

/// What one execution of each instruction costs, with all it calls.
fn cost_columns(hlo: &HloModule, costs: &ModuleCosts, shown: &[InstructionId]) -> [Column; 6] {
    let costs: Vec<&Cost> = shown.iter().map(|id| costs.of(*id)).collect();
    let some = |number: f64| (number > 0.0).then_some(number);
    let whole = |number: f64| (number > 0.0).then_some(number as u64);
    // Part of a work that is not known is no answer: tables of what ran leave it out, too.
    let known = || costs.iter().map(|cost| Some(cost).filter(|cost| cost.unknown.is_none()));
    [
        Column::real(
            "flops",
            "Work",
            "floating-point operations, and integer ones of matrix units, of one execution; a multiply-add is two, a function one; \
             loops times their trips",
            Unit::Flops,
            known().map(|cost| some(cost?.counted_operations())),
        )
        .basis(Basis::Counted),
        Column::whole(
            "compulsory_bytes",
            "Traffic",
            "bytes memory has to carry at least in one execution: each region read once, each result written once",
            Unit::Bytes,
            known().map(|cost| whole(cost?.compulsory.total())),
        )
        .basis(Basis::Counted),
        Column::real(
            "intensity",
            "Intensity",
            "those operations per compulsory byte",
            Unit::FlopPerByte,
            known().map(|cost| cost?.intensity().and_then(some)),
        )
        .basis(Basis::Counted),
        Column::whole(
            "xla_bytes",
            "XLA's bytes",
            "bytes accessed as XLA's own analysis counts them, which bills every reader of an array",
            Unit::Bytes,
            costs.iter().map(|cost| whole(cost.bytes_accessed.total())),
        )
        .ranked(Rank::Detail)
        .basis(Basis::Counted),
        Column::text(
            "unknown_work",
            "Unknown work",
            "why its work and traffic are not known: what HLO does not tell of it, or of what it calls",
            costs.iter().map(|cost| cost.unknown.map(|unknown| unknown.reason(hlo))),
        ),
        Column::text(
            "assumes",
            "Assumes",
            "what its cost rests on besides the program",
            costs.iter().map(|cost| (!cost.assumptions.is_empty()).then(|| cost.assumptions.to_string())),
        )
        .ranked(Rank::Detail),
    ]
}
