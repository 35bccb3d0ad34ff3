//! The order of a graph's kernels against captures that name the operation of every kernel.
//!
//! The kernels of each run of a module are taken as those of a graph, without the operations that the capture gives
//! them; what is then found is laid beside what the capture says. A command buffer holds a part of a schedule, so parts
//! of each run are asked for, too.

use expect_test::{Expect, expect};
use ridge_hlo::{FoundBy, HloModule, InstructionId, KernelFinder};
use ridge_import::{Source, import};
use ridge_test::real;
use ridge_trace::{Attribution, EventKind, NONE, Trace};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

/// A kernel's name and the instruction that the capture names, in a module's run.
type Known<'t> = (&'t str, InstructionId);

#[derive(Debug, Default)]
struct Score {
    right: usize,
    twin: usize,
    wrong: usize,
    open: usize,
}

#[test]
fn real_captures_agree() {
    let folder = real("xplane");
    check(
        &folder,
        "mi300_conv_08",
        expect![[r#"
        by name: 591 right, 0 its twin, 0 wrong, 0 left open
        by order: 392 right, 0 its twin, 0 wrong, 1 left open
    "#]],
    );
    check(
        &folder,
        "mi300_gemm",
        expect![[r#"
        by name: 21 right, 0 its twin, 0 wrong, 0 left open
        by order: 0 right, 0 its twin, 0 wrong, 57 left open
    "#]],
    );
    check(
        &folder,
        "mi300_te_fused_attn",
        expect![[r#"
        by name: 1355 right, 5 its twin, 0 wrong, 0 left open
        by order: 1490 right, 0 its twin, 0 wrong, 1650 left open
    "#]],
    );
}

#[track_caller]
fn check(folder: &Path, name: &str, expected: Expect) {
    let bytes = std::fs::read(folder.join(format!("{name}.xplane.pb"))).expect("a fixture");
    let imported = import(&[Source { name: "capture", bytes: &bytes }], None).expect("an intact capture");
    let mut text = String::new();
    let (mut by_name, mut by_order) = (Score::default(), Score::default());
    for (hlo, run) in runs(&imported.trace, &imported.hlo) {
        let module = &imported.hlo[hlo as usize];
        let mut finder = KernelFinder::new(module);
        for part in parts(run.len()) {
            let names: Vec<&str> = run[part.clone()].iter().map(|(name, _)| *name).collect();
            for (found, (name, truth)) in finder.instructions(&names).into_iter().zip(&run[part]) {
                let (score, found) = match found {
                    None => (&mut by_order, None),
                    Some((found, FoundBy::Name)) => (&mut by_name, Some(found)),
                    Some((found, FoundBy::Order)) => (&mut by_order, Some(found)),
                };
                match found {
                    None => score.open += 1,
                    Some(found) if found == *truth => score.right += 1,
                    Some(_) if module.kernel_candidates(name).contains(truth) => score.twin += 1,
                    Some(found) => {
                        score.wrong += 1;
                        let [found, truth] = [found, *truth].map(|id| &module.instruction(id).name);
                        writeln!(text, "{name:.60}: {found}, not {truth}").expect("a string");
                    }
                }
            }
        }
    }
    for (how, score) in [("by name", by_name), ("by order", by_order)] {
        let Score { right, twin, wrong, open } = score;
        writeln!(text, "{how}: {right} right, {twin} its twin, {wrong} wrong, {open} left open").expect("a string");
    }
    expected.assert_eq(&text);
}

/// The whole of `len` kernels, and from each on, and up to each.
fn parts(len: usize) -> Vec<Range<usize>> {
    let ends = (1..len).flat_map(|at| [at..len, 0..at]);
    std::iter::once(0..len).chain(ends).collect()
}

/// Runs of modules on each stream: the HLO and its kernels until the schedule begins anew.
fn runs<'t>(trace: &'t Trace, modules: &[HloModule]) -> Vec<(u32, Vec<Known<'t>>)> {
    let mut runs: Vec<(u32, Vec<Known<'t>>)> = Vec::new();
    for track in trace.device_tracks() {
        let mut last: Option<(u32, usize)> = None;
        for row in track.rows.clone().map(|row| row as usize) {
            let events = &trace.events;
            if events.kind(row) != EventKind::Kernel
                || Attribution::from_byte(events.attribution[row]) != Attribution::ByStat
            {
                continue;
            }
            let Some(operation) = trace.operation(row).filter(|operation| operation.instruction != NONE) else {
                continue;
            };
            let Some(hlo) = trace.modules[operation.module as usize].hlo else { continue };
            let id = InstructionId(operation.instruction);
            let place = place(&modules[hlo as usize], id);
            let goes_on = last.is_some_and(|(before, at)| before == hlo && at <= place);
            if !goes_on {
                runs.push((hlo, Vec::new()));
            }
            last = Some((hlo, place));
            runs.last_mut().expect("one was pushed").1.push((trace.name(row), id));
        }
    }
    runs
}

/// Where an instruction stands in the schedule of its computation.
fn place(module: &HloModule, id: InstructionId) -> usize {
    let order = module.computation(module.instruction(id).computation).in_order();
    order.iter().position(|other| *other == id).expect("an instruction is in its computation")
}
