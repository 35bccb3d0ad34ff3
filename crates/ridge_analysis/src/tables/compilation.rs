//! What the program compiled: by name of the module, so that what was compiled again and again is one row.

use super::module::module_times;
use crate::context::{Compilation, Need};
use crate::view::{Shown, Topic, View};
use crate::{Analysis, Executions, WorkGroups};
use ridge_table::{Basis, Columns, Subject, Table};
use ridge_trace::ModuleRow;

/// The view.
pub(crate) static VIEW: View = View {
    topic: Topic::Time,
    id: "compilation",
    about: "name of compiled modules, with the time in the compiler",
    aliases: &["compile"],
    shown: Shown::InReport,
    needs: &[Need::of::<WorkGroups>(), Need::of::<Executions>()],
    answers: |analysis| !analysis.compilations.is_empty(),
    charts: None,
    make: |analysis, _| table(analysis),
};

/// Sets of parameters that are written out for each name.
const SHAPES: usize = 4;
const NANOS_PER_SEC: f64 = 1e9;

/// A row: what was compiled under a name, and what its modules did then.
struct Compiled<'a> {
    of: &'a Compilation,
    /// The only module of that name, where there is one.
    module: Option<ModuleRow>,
    runs: u64,
    self_ns: i64,
}

/// What was compiled, the longest first.
fn table(analysis: &Analysis<'_>) -> Table {
    let times = module_times(analysis);
    let rows: Vec<Compiled<'_>> = analysis.compilations.iter().map(|of| Compiled::new(analysis, of, &times)).collect();
    let all_s: f64 = analysis.compilations.iter().map(|of| of.compile_s).sum();
    let mut columns = Columns::over(&rows)
        .about(|row| row.module.map(Subject::Module))
        .text("module", "Module", "name of the compiled programs", |row| row.of.module.clone())
        .key();
    if analysis.compilations.iter().any(|of| of.operation.is_some()) {
        columns = columns
            .text("operation", "Operation", "operation of the benchmark that they were compiled for", |row| {
                row.of.operation.clone()
            })
            .key()
            .count("size", "Size", "size of the benchmark at which they were", Basis::Capture, |row| row.of.size);
    }
    let mut table = columns
        .count("compiled", "Compiled", "times a module of that name was compiled", Basis::Counted, |row| row.of.count)
        .key()
        .nanos(
            "compile_ns",
            "In compiler",
            "time in the compiler over all of them, a hit in its cache included; several may be compiled at a time",
            Basis::Measured,
            |row| (row.of.compile_s * NANOS_PER_SEC) as i64,
        )
        .key()
        .share("compile_share", "Share", "part of the time in the compiler", Basis::Measured, |row| {
            if all_s > 0.0 { row.of.compile_s / all_s } else { 0.0 }
        })
        .count("runs", "Runs", "times modules of that name ran, over all devices", Basis::Counted, |row| {
            Some(row.runs).filter(|runs| *runs > 0)
        })
        .nanos("run_ns", "Per run", "self time of a run: the mean over all runs", Basis::Measured, |row| {
            (row.runs > 0).then(|| row.self_ns / row.runs as i64)
        })
        .text(
            "parameters",
            "Parameters",
            "of what was compiled more than once: the types of its parameters that differed, in the order in which they came",
            |row| parameters(row.of),
        )
        .count("untimed", "Untimed", "compilations whose time is not known", Basis::Counted, |row| row.of.untimed)
        .detail()
        .table("compilation", "Compilations");
    table.footnotes.extend(again(analysis.compilations));
    table
}

impl Compiled<'_> {
    fn new<'a>(analysis: &Analysis<'_>, of: &'a Compilation, times: &[(i64, u64)]) -> Compiled<'a> {
        let modules = analysis.trace.modules.iter().enumerate();
        let named = modules.filter(|(_, module)| analysis.text(module.name) == of.module).map(|(row, _)| row);
        let (mut runs, mut self_ns, mut count, mut module) = (0_u64, 0_i64, 0, None);
        for row in named {
            let (ns, ran) = times[row];
            (runs, self_ns, count) = (runs.saturating_add(ran), self_ns.saturating_add(ns), count + 1);
            module = ModuleRow::known(row as u32);
        }
        Compiled { of, module: module.filter(|_| count == 1), runs, self_ns }
    }
}

fn parameters(of: &Compilation) -> Option<String> {
    let shown: Vec<String> = of.parameters.iter().take(SHAPES).map(|types| format!("({types})")).collect();
    let more = of.parameters.len().saturating_sub(SHAPES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!shown.is_empty()).then(|| shown.join(" ") + &more)
}

/// Says what was compiled more than once, and whether other types are the reason.
fn again(compilations: &[Compilation]) -> Option<String> {
    let repeated: Vec<&Compilation> = compilations.iter().filter(|of| of.count > 1).collect();
    let modules: u64 = repeated.iter().map(|of| of.count).sum();
    let seconds: f64 = repeated.iter().map(|of| of.compile_s).sum();
    (!repeated.is_empty()).then(|| {
        let names =
            if repeated.len() == 1 { "1 name was".to_owned() } else { format!("{} names were", repeated.len()) };
        format!("{names} compiled more than once: {modules} modules, {seconds:.2} s in the compiler")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prepared;
    use expect_test::expect;

    #[test]
    fn what_was_compiled_again_is_one_row_with_the_types_that_changed() {
        let trace = ridge_test::trace("stream 1 on gpu\n  0 +100 gemm");
        let compilation = |module: &str, count, compile_s, parameters: &[&str]| Compilation {
            module: module.to_owned(),
            count,
            compile_s,
            parameters: parameters.iter().map(|types| (*types).to_owned()).collect(),
            ..Compilation::default()
        };
        let shapes = ["f32[1]", "f32[2]", "f32[3]", "f32[4]", "f32[5]", "f32[6]"];
        let compilations = vec![compilation("jit__lambda", 30, 1.5, &shapes), compilation("jit_step", 1, 0.5, &[])];
        let prepared = Prepared::with_sheets(&trace).and_compilations(compilations);
        let analysis = prepared.analysis(&trace, &[]);
        assert!((VIEW.answers)(&analysis));
        let table = table(&analysis);
        let columns = ["module", "compiled", "compile_ns", "compile_share", "runs", "parameters"];
        expect![[r#"
            module       compiled  compile_ns  compile_share  runs  parameters
            jit__lambda  30        1500000000  0.75           -     (f32[1]) (f32[2]) (f32[3]) (f32[4]) and 2 more
            jit_step     1         500000000   0.25           -     -
            * 1 name was compiled more than once: 30 modules, 1.50 s in the compiler
        "#]]
        .assert_eq(&ridge_test::render(&table, &columns));
        assert_eq!(table.footnotes, ["1 name was compiled more than once: 30 modules, 1.50 s in the compiler"]);
        let prepared = Prepared::with_sheets(&trace);
        assert!(!(VIEW.answers)(&prepared.analysis(&trace, &[])));
    }
}
