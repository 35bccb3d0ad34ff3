//! Pages that list what is compiled in: the rules of `check`, and the devices that are known.

use ridge_analysis::{Limit, processor_sheets, sheets};
use ridge_diagnose::{Find, RULES, Rule, SavingBasis, record_of};
use std::fmt::Write;

const RULES_HEAD: &str = "\
# Rules

This page is made by `cargo xtask gen` from the rules themselves; do not edit it by hand.

Each rule has a page with what to do, how its saving is computed, when it is wrong, and examples. `ridgeline explain RULE` prints it.
*Doubts* judge the capture, *causes* the program. The record is predicted over measured savings on pairs of programs that the rule was
tuned with; [accuracy](accuracy.md) has the results on programs that no rule was tuned with.
";

/// Each rule with a link to its page, by group.
pub(super) fn rules() -> String {
    let mut page = RULES_HEAD.to_owned();
    let mut groups: Vec<&str> = Vec::new();
    for rule in RULES {
        if !groups.contains(&rule.group.name()) {
            groups.push(rule.group.name());
        }
    }
    for group in groups {
        let _ = write!(page, "\n## {group}\n\n| rule | problem | kind | record, tuned |\n|---|---|---|---|\n");
        for rule in RULES.iter().filter(|rule| rule.group.name() == group) {
            let _ = writeln!(page, "{}", row(rule));
        }
    }
    page
}

fn row(rule: &Rule) -> String {
    let file = rule.id.replace('-', "_");
    let kind = if matches!(rule.find, Find::Doubts(_)) { "doubt" } else { "cause" };
    let record = [SavingBasis::Replay, SavingBasis::Wall].into_iter().find_map(|basis| record_of(rule.id, basis));
    let record = record.map_or(String::new(), |record| {
        let pairs = if record.pairs == 1 { "pair" } else { "pairs" };
        format!("{} {pairs}, {:.2} to {:.2}", record.pairs, record.lowest_ratio, record.highest_ratio)
    });
    let id = rule.id;
    format!("| [`{id}`](../crates/ridge_diagnose/src/rules/{file}.md) | {} | {kind} | {record} |", rule.summary)
}

const DEVICES_HEAD: &str = "\
# Devices

This page is made by `cargo xtask gen` from the data sheets that Ridgeline carries; do not edit it by hand.

A device without a data sheet keeps what the capture itself reports, and rooflines need `ridgeline calibrate`.
Every figure names its source in the file of its device.
";

/// GPUs, processors, boards and compile targets.
pub(super) fn devices() -> String {
    let mut page = DEVICES_HEAD.to_owned();
    page.push_str(
        "\n## GPUs and accelerators\n\nFor `roofline`, `offload --target`, `what-if --target` and `check`.\n\n",
    );
    page.push_str("| device | architecture | compute units | memory | bandwidth |\n|---|---|---|---|---|\n");
    for sheet in sheets() {
        let bandwidth = sheet.ceilings.value(Limit::Memory).map(|rate| format!("{:.0} GB/s", rate / 1e9));
        let bandwidth = bandwidth.unwrap_or_default();
        let (cores, memory) = (sheet.cores.value, sheet.memory_gib.value);
        let (name, architecture) = (&sheet.name, &sheet.architecture);
        let _ = writeln!(page, "| {name} | {architecture} | {cores:.0} | {memory:.0} GiB | {bandwidth} |");
    }
    page.push_str("\n## Compile targets\n\nFor `ridgeline compile --for`. Times on them are predictions.\n\n");
    page.push_str("| name | device | compute capability |\n|---|---|---|\n");
    for target in ridge_compile::targets() {
        let (major, minor) = target.compute_capability;
        let _ = writeln!(page, "| `{}` | {} | {major}.{minor} |", target.id, target.name);
    }
    page.push_str("\n## FPGA boards\n\nFor `ridgeline offload`; the others score published kernels.\n\n");
    page.push_str("| name | board | offered |\n|---|---|---|\n");
    for board in ridge_offload::boards() {
        let _ = writeln!(page, "| `{}` | {} | {} |", board.id, board.name, if board.is_offered { "yes" } else { "no" });
    }
    page.push_str("\n## CPUs\n\n");
    for sheet in processor_sheets() {
        let _ = writeln!(page, "- {}", sheet.name);
    }
    page
}
