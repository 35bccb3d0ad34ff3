//! An emulation as a page for a terminal of 80 columns.

use super::report::{Replaced, Report};
use anstyle::{AnsiColor, Style};
use ridge_record::ProgramStatus;
use ridge_report::escape_controls;
use ridgeline::handing_over::Fixed;
use ridgeline::handing_over::emulate::{Difference, Other, Seen};
use ridgeline::units::{Bytes, Nanos};
use std::time::Duration;

/// Columns of the names of facts.
const NAMES: usize = 12;

/// Boards that are named, and others of the region's name.
const MOST_BOARDS: usize = 5;
const MOST_OTHERS: usize = 4;

/// Lines of a failed run that are shown.
const LAST_LINES: usize = 5;

pub(super) fn page(report: &Report) -> String {
    let bold = Style::new().bold();
    let command = report.command.join(" ");
    let mut text =
        format!("{bold}{}{bold:#} in `{}`\n\n", escape_controls(&report.place.region), escape_controls(&command));
    report.problems.iter().for_each(|problem| warning(problem, &mut text));
    found(report, &mut text);
    if report.typed().is_some_and(|run| run.tally.calls > 0) {
        typed(report, &mut text);
        errors(report, &mut text);
        values(report, &mut text);
        transfers(report, &mut text);
        times(report, &mut text);
        text.push_str("\nNothing here ran on a board: values come from the bundle's code, and board times from a\nmodel (docs/offload.md).\n");
    }
    for run in report.replaced.iter().filter(|run| run.status != ProgramStatus::Exited(0)) {
        failed(run, &mut text);
    }
    if let Some(kept) = &report.kept {
        fact("kept", &format!("{}: code, libraries, results and logs of every run", kept.display()), &mut text);
    }
    text
}

/// Where the region was found, or why not and what to do.
fn found(report: &Report, text: &mut String) {
    let Some(run) = report.typed() else { return };
    let places = run.events.modules.iter().map(|module| format!("all of module `{module}`, in the unmodified program"));
    let hooks = run.events.hooks.iter().map(|hook| format!("ridgeline.region(\"{hook}\") in the program"));
    let places: Vec<String> = places.chain(hooks).collect();
    if run.tally.calls == 0 {
        warning("the region was never called, so nothing was replaced", text);
        not_found(report, run, text);
        return;
    }
    for (at, place) in places.iter().enumerate() {
        fact(if at == 0 { "replaced" } else { "" }, place, text);
    }
    let others = if run.others > 0 {
        format!("; {} with other shapes or code ran unchanged", run.others)
    } else {
        String::new()
    };
    fact("calls", &format!("{} in a run{others}", run.tally.calls), text);
    others_named(run.events.others.iter(), text);
    for (part, why) in &run.events.lost {
        fact("", &format!("{part} failed: {}", escape_controls(why)), text);
    }
}

fn not_found(report: &Report, run: &Replaced, text: &mut String) {
    let place = &report.place;
    if let Some(module) = &run.events.inside {
        fact(
            "inside",
            &format!("its line {} is compiled into the larger `{}`", place.location, escape_controls(module)),
            text,
        );
    } else if !place.is_whole {
        fact("inside", &format!("it is part of module `{}`, which is compiled as a whole", place.module), text);
    }
    others_named(run.events.others.iter(), text);
    for (part, why) in &run.events.lost {
        fact("", &format!("{part} failed: {}", escape_controls(why)), text);
    }
    if place.is_whole && run.events.others.is_empty() && run.events.inside.is_none() {
        fact("", &format!("no module `{}` with its code was compiled", place.module), text);
    }
    text.push_str("\nIf the region is part of a larger compiled function, the program has to name that\nfunction:\n\n");
    let hook = &report.hook;
    text.push_str(&format!(
        "  import ridgeline\n  {hook} = ridgeline.region(\"{hook}\")({hook})\n\nIts inputs and outputs must match the bundle:\n\n  {} ->\n  {}\n",
        report.inputs.ports.join(", "),
        report.outputs.ports.join(", ")
    ));
}

fn others_named<'a>(others: impl Iterator<Item = &'a Other>, text: &mut String) {
    let all: Vec<&Other> = others.collect();
    for other in all.iter().take(MOST_OTHERS) {
        let line = format!("`{}` {}", escape_controls(&other.name), escape_controls(&other.ports));
        fact("", &line, text);
    }
    if all.len() > MOST_OTHERS {
        fact("", &format!("and {} more", all.len() - MOST_OTHERS), text);
    }
}

/// Whether the region in its own types gives the same bits, and the program with it.
fn typed(report: &Report, text: &mut String) {
    let Some(run) = report.typed() else { return };
    let all = run.tally.outputs.iter().fold((0, 0, 0), |sum, one| {
        (sum.0 + one.difference.values, sum.1 + one.difference.same, sum.2 + one.difference.tiny)
    });
    let region = if all.0 == all.1 {
        format!("the region produces the same bits: all {} values", all.0)
    } else {
        let tiny =
            if all.2 > 0 { format!("; {} of them are denormals, which XLA flushes", all.2) } else { String::new() };
        format!("{} of {} values of the region differ from XLA's in their bits{tiny}", all.0 - all.1, all.0)
    };
    fact("as typed", &region, text);
    if all.0 != all.1 {
        fact("", "reordered sums and contracted operations cause this; `record --golden` and", text);
        fact("", "`handoff verify` checks each value against its own bound", text);
    }
    for result in &run.results {
        let name = escape_controls(&result.name);
        let line = match &result.difference {
            Err(why) => format!("result {name} cannot be compared: {why}"),
            Ok(found) if found.is_none() => format!("result {name}: the same bits, all {} values", found.values),
            Ok(found) if all.0 == all.1 => format!(
                "result {name}: {} of {} values differ although the region's do not: the program varies from run to run, or the code around the region was compiled differently",
                found.values - found.same,
                found.values
            ),
            Ok(found) => {
                format!("result {name}: {} of {} values differ in their bits", found.values - found.same, found.values)
            }
        };
        fact("", &line, text);
    }
    if run.results.is_empty() {
        fact(
            "",
            "the program names no result: call `ridgeline.result(\"name\", array)` in it, or pass --compare FILE.npy",
            text,
        );
    }
}

/// The table of errors by number format.
fn errors(report: &Report, text: &mut String) {
    let bold = Style::new().bold();
    text.push_str(&format!(
        "\n{bold}{:20} {:13} {:>9} {:>9} {:>9} {:>9} {:>7}{bold:#}\n",
        "error", "format", "same bits", "largest", "rms", "relative", "beyond"
    ));
    let runs: Vec<&Replaced> = report.replaced.iter().filter(|run| run.tally.calls > 0).collect();
    for at in 0..report.outputs.ports.len() {
        for (place, run) in runs.iter().enumerate() {
            let name = if place == 0 { format!("region, out{at}") } else { String::new() };
            row(&name, run.format, &run.tally.outputs[at].difference, text);
        }
    }
    let names: Vec<&str> = runs.iter().flat_map(|run| run.results.iter().map(|one| one.name.as_str())).collect();
    let mut said: Vec<&str> = Vec::new();
    for name in names {
        if said.contains(&name) {
            continue;
        }
        said.push(name);
        let mut is_first = true;
        for run in &runs {
            let Some(result) = run.results.iter().find(|one| one.name == name) else { continue };
            let label = if is_first { format!("result {}", escape_controls(name)) } else { String::new() };
            is_first = false;
            match &result.difference {
                Ok(found) => row(&label, run.format, found, text),
                Err(why) => text.push_str(&format!("{label:20} {:13} {why}\n", format_name(run.format))),
            }
            if result.times.0 != result.times.1 {
                text.push_str(&format!("{:34} given {} times, {} as it is\n", "", result.times.1, result.times.0));
            }
        }
    }
    text.push_str("largest and rms are absolute; relative is rms over the original's rms; values beyond\nthe format's range are excluded\n\n");
}

fn row(name: &str, format: Option<Fixed>, found: &Difference, text: &mut String) {
    let part = found.same as f64 / found.values.max(1) as f64 * 100.0;
    let part = if found.is_none() {
        "all".to_owned()
    } else if found.same == 0 {
        "none".to_owned()
    } else if part < 0.01 {
        "<0.01%".to_owned()
    } else {
        format!("{part:.2}%")
    };
    let beyond = if found.unlike > 0 { format!("{}+{}", found.beyond, found.unlike) } else { found.beyond.to_string() };
    text.push_str(&format!(
        "{name:20} {:13} {part:>9} {:>9} {:>9} {:>9} {beyond:>7}\n",
        format_name(format),
        number(Some(found.largest)),
        number(found.rms()),
        number(found.relative())
    ));
}

fn format_name(format: Option<Fixed>) -> String {
    format.map_or("as typed".to_owned(), |format| format.to_string())
}

fn number(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(value) => format!("{value:.2e}"),
    }
}

/// What ranges the values had, and what holds them.
fn values(report: &Report, text: &mut String) {
    let Some(run) = report.typed() else { return };
    let sides = [("in", &report.inputs, &run.tally.inputs), ("out", &report.outputs, &run.tally.outputs)];
    let mut most = 0.0_f64;
    let mut is_first = true;
    for (side, ports, seen) in sides {
        for (at, (port, seen)) in ports.ports.iter().zip(seen).enumerate() {
            let Some((low, high)) = seen.range else { continue };
            if port.starts_with('f') {
                most = most.max(low.abs()).max(high.abs());
            }
            let (low, high) =
                if port.starts_with('f') { (real(low), real(high)) } else { (low.to_string(), high.to_string()) };
            fact(if is_first { "values" } else { "" }, &format!("{side}{at} {port}: {low} to {high}"), text);
            is_first = false;
        }
    }
    let bits = (1..=32).find(|bits| most < f64::from(bits - 1).exp2());
    if let Some(bits) = bits.filter(|_| most > 0.0) {
        fact(
            "",
            &format!(
                "{bits} {} before the point, fixed<W,{bits}>; intermediate values may need more",
                if bits == 1 { "bit holds them" } else { "bits hold them" }
            ),
            text,
        );
    }
    for run in report.replaced.iter().filter(|run| run.format.is_some()) {
        let beyond: u64 = run.tally.inputs.iter().map(|seen: &Seen| seen.difference.beyond).sum();
        if beyond > 0 {
            fact("", &format!("{beyond} input values are beyond {}", format_name(run.format)), text);
        }
    }
}

fn real(value: f64) -> String {
    if value == 0.0 || (1e-3..1e5).contains(&value.abs()) { format!("{value:.4}") } else { format!("{value:.3e}") }
}

fn transfers(report: &Report, text: &mut String) {
    let calls = report.calls_in_a_run();
    let (inputs, outputs) = (report.inputs.bytes, report.outputs.bytes);
    let all = calls.saturating_mul(inputs + outputs);
    fact(
        "transfers",
        &format!(
            "{} to the board and {} back per call; {} in {calls} calls, if no data stays there",
            Bytes(inputs),
            Bytes(outputs),
            Bytes(all)
        ),
        text,
    );
}

fn times(report: &Report, text: &mut String) {
    let calls = report.calls_in_a_run();
    match report.call_ns() {
        Some(call) => {
            let mean =
                if report.calls.region == 1 { "once".to_owned() } else { format!("mean of {}", report.calls.region) };
            fact("a call", &format!("{} on this CPU (measured, {mean})", time(call)), text);
        }
        None => fact("a call", "not measured here: it runs inside a larger compiled function", text),
    }
    let Some(predicted) = &report.predicted else {
        fact("", "no prediction: the bundle is not of a region that `ridgeline offload` names", text);
        return;
    };
    if let Some(call) = predicted.call_ns {
        let how = if predicted.times == "sheet" { "by its data sheet" } else { &predicted.times };
        fact("", &format!("{} on {} ({how})", time(call), escape_controls(&predicted.device)), text);
    }
    for board in predicted.boards.iter().take(MOST_BOARDS) {
        fact(
            "",
            &format!(
                "{} on {} (predicted, {} to {}; copies are {})",
                time(board.p50_ns),
                escape_controls(&board.name),
                time(board.p10_ns),
                time(board.p90_ns),
                time(board.transfers_ns)
            ),
            text,
        );
    }
    if predicted.boards.len() > MOST_BOARDS {
        fact("", &format!("and {} more boards, in perf/offload.json", predicted.boards.len() - MOST_BOARDS), text);
    }
    let Some(board) = predicted.boards.first() else { return };
    if report.calls.region != calls {
        let inside = calls.saturating_sub(report.calls.region);
        let line = format!(
            "{} as it is; {inside} calls run inside larger functions and are not timed",
            wall_time(report.wall)
        );
        fact("program", &line, text);
        return;
    }
    let (measured, instead) = (report.calls.region_ns as f64, board.p50_ns * calls as f64);
    let wall = report.wall.as_secs_f64() * 1e9;
    let line = format!(
        "{} as it is, {} of it in the region; with {} instead,",
        wall_time(report.wall),
        time(measured),
        time(instead)
    );
    fact("program", &line, text);
    let with = time((wall - measured + instead).max(instead));
    fact("", &format!("as predicted for {}, {with}", escape_controls(&board.name)), text);
}

fn failed(run: &Replaced, text: &mut String) {
    let how = match run.status {
        ProgramStatus::Exited(code) => format!("exit status {code}"),
        ProgramStatus::Signaled(signal) => format!("signal {signal}"),
    };
    warning(&format!("the program ended with {how} where the region was replaced, {}", format_name(run.format)), text);
    let log = std::fs::read(&run.log).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    for line in lines.iter().skip(lines.len().saturating_sub(LAST_LINES)) {
        let line: String = line.chars().take(160).collect();
        text.push_str(&format!("  | {}\n", escape_controls(&line)));
    }
}

fn fact(name: &str, value: &str, text: &mut String) {
    text.push_str(&format!("{name:NAMES$} {value}\n"));
}

fn warning(what: &str, text: &mut String) {
    let style = AnsiColor::Yellow.on_default().bold();
    text.push_str(&format!("{style}{:NAMES$}{style:#} {}\n", "missing", escape_controls(what)));
}

fn time(ns: f64) -> Nanos {
    Nanos(ns.round() as i64)
}

fn wall_time(wall: Duration) -> Nanos {
    Nanos(i64::try_from(wall.as_nanos()).unwrap_or(i64::MAX))
}
