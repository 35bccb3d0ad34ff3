//! What the program compiled: by name of the module, so that what was compiled again and again is one row.

use crate::context::{Compilation, Need};
use crate::models::compilations::{Compiled, CompiledRow};
use crate::view::{Sheet, Shown, Topic, View, columns};
use ridge_table::Subject;

/// The view.
pub(crate) static VIEW: View = View {
    id: "compilation",
    about: "name of compiled modules, with the time in the compiler",
    aliases: &["compile"],
    shown: Shown::InReport,
    needs: &[Need::of::<Compiled>()],
    answers: |analysis| !analysis.compilations.is_empty(),
    make: |analysis, _| {
        let Compiled(rows) = analysis.get();
        let is_suite = rows.iter().any(|row| row.of.operation.is_some());
        let mut table = Sheet::over(analysis, rows)
            .about(|_, row| row.module.map(Subject::Module))
            .show(NAMES)
            .show(if is_suite { OF_SUITE } else { &[] })
            .show(REST)
            .table("Compilations");
        table.footnotes.extend(again(analysis.compilations));
        table
    },
    ..View::of(Topic::Time)
};

/// Sets of parameters that are written out for each name.
const SHAPES: usize = 4;
const NANOS_PER_SEC: f64 = 1e9;

columns! {
    NAMES: CompiledRow {
        module: text Key "Module", "name of the compiled programs", |_, row| row.of.module.as_str();
    }
    OF_SUITE: CompiledRow {
        operation: text Key "Operation",
            "operation of the benchmark that they were compiled for", |_, row| row.of.operation.as_deref();
        size: count Capture "Size", "size of the benchmark at which they were", |_, row| row.of.size;
    }
    REST: CompiledRow {
        compiled: count Key Counted "Compiled", "times a module of that name was compiled", |_, row| row.of.count;
        compile_ns: nanos Key Measured "In compiler",
            "time in the compiler over all of them, a hit in its cache included; several may be compiled at a time",
            |_, row| (row.of.compile_s * NANOS_PER_SEC) as i64;
        compile_share: share Measured "Share", "part of the time in the compiler", |_, row| row.share;
        runs: count Counted "Runs", "times modules of that name ran, over all devices", |_, row| row.runs;
        run_ns: nanos Measured "Per run", "self time of a run: the mean over all runs",
            |_, row| row.runs.map(|runs| row.self_ns / runs as i64);
        parameters: text "Parameters",
            "for functions compiled more than once: the differing parameter types, in order of compilation",
            |_, row| parameters(&row.of);
        untimed: count Detail Counted "Untimed", "compilations of unknown duration", |_, row| row.of.untimed;
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
    use crate::{Ask, Prepared};
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
        let table = VIEW.table(&analysis, &Ask::default());
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
