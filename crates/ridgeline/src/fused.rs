//! What the compiler fused: the operations of a module before optimization, the kernels that hold them after it, and what another
//! compilation of the same module did otherwise.

use crate::error::{Details, OpenError};
use crate::hlo::{HloStage, dumped, module_hlo, module_row};
use crate::session::Session;
use ridge_compile::{Fused, Kernel, Operation, Outcome, fused, refusals};
use ridge_hlo::HloModule;
use ridge_table::{Basis, Columns, Table};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// XLA's account of its fusion pass, in a run folder.
const STEPS: &str = "fusion_steps.txt";

/// Names that a cell shows; of more, the number is said.
const MOST_NAMES: usize = 3;

impl Session {
    /// What became of the operations of `module`: each operation, each kernel, and counts by opcode.
    ///
    /// # Errors
    /// [`OpenError`] where the module is not there, or its HLO before optimization was not kept.
    pub fn hlo_fused(&self, module: &str) -> Result<Vec<Table>, OpenError> {
        let found = self.fused_of(module)?;
        Ok(vec![operations(&found), kernels(&found), opcodes(&found)])
    }

    /// What `other` fused differently of `module`.
    ///
    /// # Errors
    /// As [`Session::hlo_fused`], of either.
    pub fn hlo_fused_changes(&self, other: &Session, module: &str) -> Result<Table, OpenError> {
        Ok(changes(&self.fused_of(module)?, &other.fused_of(module)?))
    }

    fn fused_of(&self, module: &str) -> Result<Fused, OpenError> {
        let row = module_row(self.imported(), module)?;
        let after = module_hlo(self.imported(), row)?;
        let text = dumped(self.imported(), row, HloStage::Before.file_name(), self.manifest())?;
        let unreadable = |error| format!("the HLO of `{module}` before optimization cannot be read: {error}");
        let before =
            HloModule::from_text(&text).map_err(|error| OpenError::NotRecorded(Details::new(unreadable(error))))?;
        let steps = dumped(self.imported(), row, STEPS, self.manifest()).unwrap_or_default();
        Ok(fused(&before, after, &refusals(&steps)))
    }
}

fn line(operation: &Operation) -> Option<String> {
    operation.line.as_ref().map(|(file, line)| format!("{}:{line}", file.rsplit('/').next().unwrap_or(file)))
}

fn names<'a>(all: impl ExactSizeIterator<Item = &'a str>) -> Option<String> {
    let (count, shown) = (all.len(), all.take(MOST_NAMES).collect::<Vec<_>>().join(", "));
    match count {
        0 => None,
        count if count > MOST_NAMES => Some(format!("{shown} and {} more", count - MOST_NAMES)),
        _ => Some(shown),
    }
}

fn held_by(found: &Fused, operation: &Operation) -> Option<String> {
    let all: Vec<&str> =
        operation.held_by.iter().filter_map(|at| Some(found.kernels.get(*at)?.instruction.as_str())).collect();
    names(all.into_iter())
}

fn operations(found: &Fused) -> Table {
    let mut table = Columns::over(&found.operations)
        .text("operation", "Operation", "its name as the framework gave it", |row| row.name.clone())
        .key()
        .text("line", "Line", "the line of the program that made it", line)
        .text("opcode", "Opcode", "its opcode in HLO", |row| row.opcode.clone())
        .count("before", "Before", "how many there are before optimization, calls opened", Basis::Counted, |row| {
            row.before as u64
        })
        .count("after", "After", "how many there are after it, in all kernels", Basis::Counted, |row| row.after as u64)
        .text("fate", "Became", "the compiler's result", |row| row.outcome.words())
        .key()
        .text("kernels", "In", "the instructions of the optimized HLO that contain it", |row| held_by(found, row))
        .key()
        .table("fused", "Operations and the kernels that contain them");
    let of = |is: &dyn Fn(&Outcome) -> bool| found.operations.iter().filter(|one| is(&one.outcome)).count();
    table.footnotes.push(format!(
        "{} fused, {} fused and computed again, {} alone in their kernels, {} became something else, {} folded away",
        of(&|outcome| *outcome == Outcome::Fused),
        of(&|outcome| *outcome == Outcome::Duplicated),
        of(&|outcome| *outcome == Outcome::Alone),
        of(&|outcome| matches!(outcome, Outcome::Became(_))),
        of(&|outcome| *outcome == Outcome::Gone),
    ));
    if found.made_anew > 0 {
        table.footnotes.push(format!("{} operations of the optimized HLO are the compiler's own", found.made_anew));
    }
    if found.is_cut {
        table.footnotes.push("the program is so large that only its beginning was walked".to_owned());
    }
    table
}

fn kernels(found: &Fused) -> Table {
    Columns::over(&found.kernels)
        .text("instruction", "Kernel", "the instruction of the optimized HLO", |row| row.instruction.clone())
        .key()
        .text("emitter", "Made as", "XLA's emitter of the kernel", |row| row.emitter.clone())
        .key()
        .count("operations", "Contains", "operations in it", Basis::Counted, |row| row.operations as u64)
        .key()
        .count("results", "Results", "arrays that it writes", Basis::Counted, |row| row.results as u64)
        .text("read_by", "Read by", "readers of its results in the same computation", read_by)
        .key()
        .text("refused", "Not fused into them because", "XLA's fusion pass, in its own words", |row| {
            row.refused.clone()
        })
        .table("kernels", "Kernels, and why they end where they do")
}

fn read_by(kernel: &Kernel) -> Option<String> {
    let inside = names(kernel.read_by.iter().map(String::as_str).collect::<Vec<_>>().into_iter());
    match (inside, kernel.is_result) {
        (Some(inside), true) => Some(format!("{inside}, and it is a result")),
        (None, true) => Some("it is a result".to_owned()),
        (inside, false) => inside,
    }
}

fn opcodes(found: &Fused) -> Table {
    let mut rows: Vec<(&String, [usize; 3])> = found.opcodes.iter().map(|(opcode, counts)| (opcode, *counts)).collect();
    rows.sort_by_key(|(opcode, [before, fused, alone])| {
        (std::cmp::Reverse(before.max(&(fused + alone)).to_owned()), *opcode)
    });
    Columns::over(&rows)
        .text("opcode", "Opcode", "the instruction's opcode in HLO", |row| row.0.clone())
        .key()
        .count("before", "Before", "instructions before optimization, calls opened", Basis::Counted, |row| {
            row.1[0] as u64
        })
        .key()
        .count("fused", "In fusions", "instructions after it, within fusions", Basis::Counted, |row| row.1[1] as u64)
        .key()
        .count("own", "On their own", "instructions after it, outside of fusions", Basis::Counted, |row| {
            row.1[2] as u64
        })
        .key()
        .table("opcodes", "Instructions by opcode")
}

/// An operation with what it shares a kernel with, whatever that is called.
struct Shared<'a> {
    operation: &'a Operation,
    with: BTreeSet<usize>,
    in_words: String,
}

/// By name, line and opcode, as both compilations know it, and which one it is of several on that line.
type Known = (String, Option<(String, u32)>, String, usize);

/// Each operation of a compilation by what it is known by.
fn known(found: &Fused) -> Vec<Known> {
    let mut times: FxHashMap<_, usize> = FxHashMap::default();
    let mut all = Vec::with_capacity(found.operations.len());
    for operation in &found.operations {
        let place = times.entry((&operation.name, &operation.line, &operation.opcode)).or_default();
        all.push((operation.name.clone(), operation.line.clone(), operation.opcode.clone(), *place));
        *place += 1;
    }
    all
}

fn shared<'a>(found: &'a Fused, numbers: &FxHashMap<Known, usize>) -> FxHashMap<usize, Shared<'a>> {
    let own: Vec<Option<usize>> = known(found).iter().map(|known| numbers.get(known).copied()).collect();
    let mut inside: FxHashMap<usize, BTreeSet<usize>> = FxHashMap::default();
    for (operation, number) in found.operations.iter().zip(&own) {
        for at in &operation.held_by {
            inside.entry(*at).or_default().extend(number);
        }
    }
    let of = |(operation, number): (&'a Operation, &Option<usize>)| {
        let with: BTreeSet<usize> =
            operation.held_by.iter().flat_map(|at| inside.get(at).into_iter().flatten()).copied().collect();
        let others = with.len().saturating_sub(1);
        let place = held_by(found, operation).map(|names| format!(" in {names}")).unwrap_or_default();
        let in_words = match operation.outcome {
            Outcome::Fused | Outcome::Duplicated => {
                format!("{} with {others} others{place}", operation.outcome.words())
            }
            _ => format!("{}{place}", operation.outcome.words()),
        };
        Some(((*number)?, Shared { operation, with, in_words }))
    };
    found.operations.iter().zip(&own).filter_map(of).collect()
}

fn changes(one: &Fused, other: &Fused) -> Table {
    let mut numbers: FxHashMap<Known, usize> = FxHashMap::default();
    for known in known(one).into_iter().chain(known(other)) {
        let next = numbers.len();
        numbers.entry(known).or_insert(next);
    }
    let (here, there) = (shared(one, &numbers), shared(other, &numbers));
    let mut rows: Vec<(usize, &Operation, Option<&Shared<'_>>, Option<&Shared<'_>>)> = Vec::new();
    for number in 0..numbers.len() {
        let (a, b) = (here.get(&number), there.get(&number));
        let is_same = match (a, b) {
            (Some(a), Some(b)) => a.operation.outcome == b.operation.outcome && a.with == b.with,
            _ => false,
        };
        if let Some(either) = a.or(b).filter(|_| !is_same) {
            rows.push((number, either.operation, a, b));
        }
    }
    let alike = numbers.len() - rows.len();
    let words = |side: Option<&Shared<'_>>| side.map_or_else(|| "not there".to_owned(), |side| side.in_words.clone());
    let mut table = Columns::over(&rows)
        .text("operation", "Operation", "its name as the framework gave it", |row| row.1.name.clone())
        .key()
        .text("line", "Line", "the line of the program that made it", |row| line(row.1))
        .text("opcode", "Opcode", "its opcode in HLO", |row| row.1.opcode.clone())
        .text("here", "Here", "the first compilation's result", |row| words(row.2))
        .key()
        .text("there", "Against", "the other compilation's result", |row| words(row.3))
        .key()
        .table("fused_differently", "Fused differently");
    table.footnotes.push(format!("{alike} operations are fused with the same others on both sides"));
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(name: &str, outcome: Outcome, held_by: &[usize]) -> Operation {
        let held_by = held_by.to_vec();
        Operation { name: name.to_owned(), line: None, opcode: "add".to_owned(), before: 1, after: 1, outcome, held_by }
    }

    fn kernel(instruction: &str) -> Kernel {
        Kernel {
            instruction: instruction.to_owned(),
            emitter: String::new(),
            operations: 1,
            results: 1,
            read_by: Vec::new(),
            is_result: true,
            refused: None,
        }
    }

    fn compiled(operations: Vec<Operation>) -> Fused {
        Fused { operations, kernels: vec![kernel("k0"), kernel("k1")], ..Fused::default() }
    }

    #[test]
    fn what_is_fused_with_others_is_a_change_and_another_name_is_none() {
        let one = compiled(vec![
            operation("a", Outcome::Fused, &[0]),
            operation("b", Outcome::Fused, &[0]),
            operation("c", Outcome::Alone, &[1]),
        ]);
        let renamed = compiled(vec![
            operation("a", Outcome::Fused, &[1]),
            operation("b", Outcome::Fused, &[1]),
            operation("c", Outcome::Alone, &[0]),
        ]);
        assert_eq!(changes(&one, &renamed).batch.num_rows(), 0);
        let split = compiled(vec![
            operation("a", Outcome::Alone, &[0]),
            operation("b", Outcome::Alone, &[1]),
            operation("d", Outcome::Gone, &[]),
        ]);
        let table = changes(&one, &split);
        assert_eq!(table.batch.num_rows(), 4);
        assert_eq!(table.footnotes, ["0 operations are fused with the same others on both sides"]);
    }
}
