//! What the instructions of compiled modules do, counted.

use crate::error::{Details, OpenError};
use crate::hlo::{module_hlo, module_row};
use crate::session::Session;
use ridge_hlo::HloModule;
use ridge_table::{Basis, Columns, Table};
use std::collections::{BTreeMap, BTreeSet};

/// How often one opcode stands in modules.
#[derive(Debug, Default)]
struct Count {
    instructions: u64,
    in_fusions: u64,
    modules: u64,
}

impl Session {
    /// The opcodes of `module`, or of all modules, the most frequent first.
    ///
    /// # Errors
    /// [`OpenError`] where the name means no module or several, or nothing has HLO.
    pub fn opcodes(&self, module: Option<&str>) -> Result<Table, OpenError> {
        let imported = self.imported();
        let counted: Vec<&HloModule> = match module {
            Some(name) => vec![module_hlo(imported, module_row(imported, name)?)?],
            None => imported.hlo.iter().collect(),
        };
        if counted.is_empty() {
            return Err(OpenError::NotRecorded(Details::new("the capture has no HLO")));
        }
        Ok(table(&counted))
    }
}

fn table(modules: &[&HloModule]) -> Table {
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    for module in modules {
        let fused: BTreeSet<_> = (module.instructions.iter())
            .filter(|instruction| instruction.opcode == "fusion")
            .flat_map(|instruction| instruction.called.iter().copied())
            .collect();
        let mut seen = BTreeSet::new();
        for instruction in &module.instructions {
            let name = instruction.opcode.as_str();
            let count = counts.entry(name).or_default();
            count.instructions += 1;
            count.in_fusions += u64::from(fused.contains(&instruction.computation));
            count.modules += u64::from(seen.insert(name));
        }
    }
    let mut rows: Vec<(&str, Count)> = counts.into_iter().collect();
    rows.sort_by_key(|(_, count)| std::cmp::Reverse(count.instructions));
    Columns::over(&rows)
        .text("opcode", "Opcode", "the instruction's opcode in HLO", |(name, _): &(&str, Count)| {
            Some((*name).to_owned())
        })
        .count(
            "instructions",
            "Instructions",
            "instructions with it, in all computations; each counts once, however often it runs",
            Basis::Counted,
            |(_, count)| Some(count.instructions),
        )
        .count(
            "in_fusions",
            "In fusions",
            "instructions inside fusions, which aren't separate kernels",
            Basis::Counted,
            |(_, count)| Some(count.in_fusions),
        )
        .count("modules", "Modules", "modules that have one", Basis::Counted, |(_, count)| Some(count.modules))
        .table("opcodes", "Opcodes")
}

#[cfg(test)]
mod tests {
    use super::*;
    const TEXT: &str = "HloModule m\n\nfused {\n  p = f32[4] parameter(0)\n  ROOT n = f32[4] negate(p)\n}\n\nENTRY main {\n  a = f32[4] parameter(0)\n  b = f32[4] add(a, a)\n  ROOT f = f32[4] fusion(b), kind=kLoop, calls=fused\n}\n";

    #[test]
    fn each_instruction_counts_once() {
        let module = HloModule::from_text(TEXT).expect("a module");
        let counted = table(&[&module, &module]);
        let numbers = |column: usize| {
            let values = counted.batch.column(column).as_any().downcast_ref::<arrow_array::UInt64Array>();
            values.expect("whole numbers").values().to_vec()
        };
        // parameter, add, fusion, negate
        assert_eq!([numbers(1), numbers(2), numbers(3)], [vec![4, 2, 2, 2], vec![2, 0, 0, 2], vec![2, 2, 2, 2]]);
    }
}
