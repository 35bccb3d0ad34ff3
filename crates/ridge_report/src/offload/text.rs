//! The answer for a terminal: one line, a table, and for each of the first regions what it rests on.

use super::Options;
use super::words::{
    basis, between, break_even, bytes, core, core_on, count, cut, factor, has_cores, marked, place, scaled_by, secs,
    share, unused,
};
use crate::note_line;
use crate::terminal::{Glyphs, Layout, bar, shortened, wrapped};
use anstyle::Style;
use ridgeline::escape::escape_controls;
use ridgeline::offloading::{BoardAnswer, Parts, RegionAnswer, Sensitivity, Verdict};
use ridgeline::{OffloadAnswer, Severity};

/// Unknowns that are shown of a region.
const SENSITIVITIES: usize = 5;

/// Regions that take less have a row and no more, unless all is asked for.
const BLOCK_SHARE: f64 = 0.03;

/// The whole answer.
pub fn full(answer: &OffloadAnswer, options: Options, layout: &Layout) -> String {
    let found = &answer.found;
    let mut blocks = vec![opening(answer, layout), overview(answer, layout)];
    let shown =
        found.regions.iter().take(options.regions()).filter(|one| options.all || one.region.share >= BLOCK_SHARE);
    blocks.extend(shown.map(|region| block(region, options, layout)));
    blocks.push(closing(answer, options, layout));
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n")
}

fn opening(answer: &OffloadAnswer, layout: &Layout) -> String {
    let mut text = String::new();
    for note in answer.notes.iter().filter(|note| note.severity != Severity::Info) {
        text.push_str(&indented(&note_line(note), "", "  ", layout));
    }
    for line in unused(answer) {
        text.push_str(&indented(&escape_controls(&line), "", "  ", layout));
    }
    for line in wrapped(&escape_controls(&answer.found.headline), layout.width) {
        text.push_str(&format!("{}\n", styled(layout.theme.title, &plain(&line, layout))));
    }
    text
}

/// A row for each region.
fn overview(answer: &OffloadAnswer, layout: &Layout) -> String {
    let found = &answer.found;
    let mut header = vec!["Region", "Share", "A call", "Headroom", "Fastest", "Speed-up", "P10 to P90", "Verdict"];
    let has_basis = has_cores(answer);
    if has_basis {
        header.insert(7, "Basis");
    }
    let row = |one: &RegionAnswer| {
        let best = one.boards.first();
        let mut row = vec![
            one.region.name.clone(),
            share(one.region.share),
            one.call_s.map_or_else(dash, |call| secs(call.p50)),
            one.headroom.map_or_else(dash, factor),
            best.map_or_else(dash, |best| marked(&best.id, best)),
            best.map_or_else(dash, |best| factor(best.speedup.p50)),
            best.map_or_else(dash, |best| between(&best.speedup)),
            one.verdict.words().to_owned(),
        ];
        if has_basis {
            row.insert(7, best.map_or_else(dash, |best| basis(best).to_owned()));
        }
        row
    };
    let rows: Vec<Vec<String>> = found.regions.iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let title = format!("Regions, compared with {}", found.baseline.device);
    let mut text = format!("{}\n", styled(layout.theme.title, &plain(&title, layout)));
    text.push_str(&grid(&header, &rows, &[6, 3, 2, 4], layout));
    if found.others.0 > 0 {
        let more = format!("{} more regions with {} together are not shown", found.others.0, share(found.others.1));
        text.push_str(&format!("{}\n", styled(layout.theme.quiet, &more)));
    }
    text
}

fn dash() -> String {
    "–".to_owned()
}

/// Columns under each other; where they do not fit, those in `dispensable` go first, then the first is shortened.
fn grid(header: &[&str], rows: &[Vec<String>], dispensable: &[usize], layout: &Layout) -> String {
    const GAP: usize = 2;
    const LEAST: usize = 14;
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([header[column].chars().count()]).max().unwrap_or(0)
    };
    let mut columns: Vec<usize> = (0..header.len()).collect();
    let needed = |columns: &[usize], first: usize| -> usize {
        first + columns.iter().skip(1).map(|column| width(*column) + GAP).sum::<usize>()
    };
    for column in dispensable {
        if needed(&columns, LEAST.max(width(0).min(24))) > layout.width {
            columns.retain(|kept| kept != column);
        }
    }
    let first = width(0).min(layout.width.saturating_sub(needed(&columns, 0))).max(4);
    let last = columns.last().copied();
    let line = |cells: &dyn Fn(usize) -> String, style: Style| {
        let mut line = String::new();
        for &column in &columns {
            let cell = cells(column);
            let field = match column {
                0 => {
                    let name = shortened(&escape_controls(&cell), first, layout.glyphs);
                    format!("{name}{}", " ".repeat(first.saturating_sub(name.chars().count())))
                }
                _ if Some(column) == last && header[column] == "Verdict" => format!("{}{cell}", " ".repeat(GAP)),
                _ => format!("{}{cell}", " ".repeat(GAP + width(column) - cell.chars().count())),
            };
            line.push_str(&field);
        }
        format!("{}\n", styled(style, plain(&line, layout).trim_end()))
    };
    let mut text = line(&|column| header[column].to_owned(), layout.theme.header);
    for row in rows {
        text.push_str(&line(&|column| row[column].clone(), Style::new()));
    }
    text
}

/// All that is known of one region.
fn block(one: &RegionAnswer, options: Options, layout: &Layout) -> String {
    let style = match one.verdict {
        Verdict::GpuFirst | Verdict::Undecided => layout.theme.partial,
        verdict if verdict.is_candidate() => layout.theme.bar,
        _ => layout.theme.quiet,
    };
    let tag = format!("{}[{}]", one.verdict.words(), share(one.region.share));
    let room = layout.width.saturating_sub(tag.chars().count() + 2);
    let name = shortened(&escape_controls(&one.region.name), room, layout.glyphs);
    let mut text =
        format!("{}{}\n", styled(style, &tag), styled(layout.theme.title, &plain(&format!(": {name}"), layout)));
    if let Some(place) = place(one) {
        text.push_str(&indented(&format!("--> {}", escape_controls(&place)), "   ", "       ", layout));
    }
    text.push_str(&entry("why", &one.why, layout));
    let module = match (&one.region.in_loop, &one.region.inside) {
        (Some(of_loop), None) => format!("loop `{of_loop}` of `{}`", one.region.module),
        (Some(of_loop), Some(around)) => {
            format!("loop `{of_loop}`, in each iteration of loop `{around}` of `{}`", one.region.module)
        }
        (None, Some(around)) => format!("in each iteration of loop `{around}` of `{}`", one.region.module),
        (None, None) => format!("`{}`", one.region.module),
    };
    let class = one.class.map_or(String::new(), |class| format!(", {}", class.name()));
    let operations = one.region.ops.len();
    text.push_str(&entry(
        "what",
        &format!("{module}{class}: operations {operations}, calls {}", count(one.region.calls)),
        layout,
    ));
    bytes(one).iter().for_each(|bytes| text.push_str(&entry("bytes", bytes, layout)));
    one.core.iter().for_each(|one| text.push_str(&entry("core", &core(one), layout)));
    if one.boards.is_empty() {
        return text;
    }
    text.push_str(&boards(one, options, layout));
    let shown = || one.boards.iter().take(options.boards());
    shown().filter_map(core_on).for_each(|basis| text.push_str(&entry("basis", &basis, layout)));
    shown().filter_map(scaled_by).for_each(|basis| text.push_str(&entry("basis", &basis, layout)));
    if let Some(best) = one.boards.iter().find(|board| board.parts.is_some()) {
        best.parts.iter().for_each(|parts| text.push_str(&tax(best, parts, layout)));
        text.push_str(&entry("break-even", &break_even(one, best), layout));
        cut(best).iter().for_each(|cut| text.push_str(&entry("best part", cut, layout)));
        text.push_str(&tornado(best, &one.sensitivities, layout));
    }
    text
}

/// A row for each of the fastest boards.
fn boards(one: &RegionAnswer, options: Options, layout: &Layout) -> String {
    let mut header =
        vec!["   Board", "P10", "P50", "P90", "Speed-up", "Whole program", "On the board", "Energy", "Bound by"];
    let has_basis = one.core.is_some();
    if has_basis {
        header.push("Basis");
    }
    let row = |board: &BoardAnswer| {
        let mut row = vec![
            format!("   {}", marked(&board.name, board)),
            secs(board.total_s.p10),
            secs(board.total_s.p50),
            secs(board.total_s.p90),
            factor(board.speedup.p50),
            factor(board.program_speedup),
            board.resident_s.map_or_else(dash, |resident| secs(resident.p50)),
            board.energy.as_ref().map_or_else(dash, |energy| factor(energy.ratio.p50)),
            board.bound.map_or_else(dash, |bound| bound.name().to_owned()),
        ];
        row.extend(has_basis.then(|| basis(board).to_owned()));
        row
    };
    let rows: Vec<Vec<String>> = one.boards.iter().take(options.boards()).map(row).collect();
    grid(&header, &rows, &[7, 6, 5, 4], layout)
}

/// What a call is made of.
fn tax(board: &BoardAnswer, parts: &Parts, layout: &Layout) -> String {
    let pieces = [
        ("in", parts.input_s),
        ("launch", parts.launch_s),
        ("fill", parts.fill_s),
        ("compute", parts.compute_s),
        ("memory", parts.memory_s),
        ("tables", parts.onchip_s),
        ("out", parts.output_s),
    ];
    let longest = pieces.iter().map(|(_, secs)| *secs).fold(0.0, f64::max).max(1e-15);
    let room = (layout.width.saturating_sub(40)).clamp(8, 48);
    let title = format!("   a call on {}; compute, memory and tables overlap", board.name);
    let mut text = format!("{}\n", styled(layout.theme.quiet, &plain(&title, layout)));
    for (name, part) in pieces.into_iter().filter(|(_, part)| *part > 0.0) {
        let drawn = bar(part / longest, room, layout.glyphs);
        text.push_str(&plain(&format!("     {name:<8} {:>9}  ", secs(part)), layout));
        text.push_str(&format!("{}\n", styled(layout.theme.bar, &drawn)));
    }
    text
}

/// What changes the time most: each unknown from its tenth to its ninetieth percentile.
fn tornado(board: &BoardAnswer, sensitivities: &[Sensitivity], layout: &Layout) -> String {
    if sensitivities.is_empty() {
        return String::new();
    }
    let shown = || sensitivities.iter().take(SENSITIVITIES);
    let ends = || shown().flat_map(|sensitivity| [sensitivity.from_s, sensitivity.to_s]);
    let (low, high) = (ends().fold(f64::INFINITY, f64::min), ends().fold(0.0, f64::max));
    let name = shown().map(|sensitivity| sensitivity.what.chars().count()).max().unwrap_or(0);
    let room = layout.width.saturating_sub(name + 34).clamp(8, 40);
    let place = |secs: f64| ((secs / low).ln() / (high / low).ln().max(1e-9) * (room - 1) as f64).round() as usize;
    let title = format!("what its time on {} depends on, each from its 10th to its 90th percentile", board.name);
    let mut text: String = wrapped(&title, layout.width.saturating_sub(3))
        .iter()
        .map(|line| format!("   {}\n", styled(layout.theme.quiet, &plain(line, layout))))
        .collect();
    let (end, line) = match layout.glyphs {
        Glyphs::Unicode => ("●", "─"),
        Glyphs::Ascii => ("o", "-"),
    };
    for sensitivity in shown() {
        let (from, to) =
            (place(sensitivity.from_s.min(sensitivity.to_s)), place(sensitivity.from_s.max(sensitivity.to_s)));
        let between = to.saturating_sub(from + 1);
        let drawn = format!("{}{end}{}{}", " ".repeat(from), line.repeat(between), if to > from { end } else { "" });
        let pad = " ".repeat(room.saturating_sub(drawn.chars().count()));
        text.push_str(&plain(&format!("     {:<name$}  ", sensitivity.what), layout));
        text.push_str(&styled(layout.theme.bar, &drawn));
        text.push_str(&plain(
            &format!("{pad}  {:>9} {:>9}\n", secs(sensitivity.from_s), secs(sensitivity.to_s)),
            layout,
        ));
    }
    text
}

fn closing(answer: &OffloadAnswer, options: Options, layout: &Layout) -> String {
    let mut text = String::new();
    for assumption in &answer.found.assumptions {
        text.push_str(&indented(&format!("assumed: {}", escape_controls(assumption)), "", "  ", layout));
    }
    let hidden = answer.found.regions.len() > options.regions()
        || answer.found.regions.iter().any(|one| one.boards.len() > options.boards());
    if hidden {
        text.push_str(&indented("`--all` shows every region and board; `-f json` has all numbers", "", "  ", layout));
    }
    text
}

fn entry(title: &str, words: &str, layout: &Layout) -> String {
    indented(&format!("{title}: {}", escape_controls(words)), "   = ", "     ", layout)
}

fn indented(text: &str, first: &str, then: &str, layout: &Layout) -> String {
    let lines = wrapped(text, layout.width.saturating_sub(first.len().max(then.len())));
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        out.push_str(&format!("{}{}\n", if at == 0 { first } else { then }, plain(line, layout)));
    }
    out
}

fn styled(style: Style, text: &str) -> String {
    if style.is_plain() { text.to_owned() } else { format!("{style}{text}{style:#}") }
}

/// The marks that the program itself makes, in ASCII where that is asked.
fn plain(text: &str, layout: &Layout) -> String {
    match layout.glyphs {
        Glyphs::Unicode => text.to_owned(),
        Glyphs::Ascii => text.replace('µ', "u").replace('–', "-").replace('…', "..."),
    }
}
