//! The answer for a report.

use super::Options;
use super::words::{
    basis, between, break_even, bytes, core, core_on, cut, factor, has_cores, marked, place, scaled_by, secs, share,
    unused,
};
use ridgeline::OffloadAnswer;
use ridgeline::escape::escape_controls;
use ridgeline::offloading::{BoardAnswer, RegionAnswer};

/// The answer as GitHub-flavored Markdown.
pub fn render(answer: &OffloadAnswer, options: Options) -> String {
    let found = &answer.found;
    let mut text = format!("**{}**\n\n", escaped(&found.headline));
    unused(answer).iter().for_each(|line| text.push_str(&format!("- {}\n", escaped(line))));
    if !found.bundles.iter().all(|one| one.why_not.is_none()) {
        text.push('\n');
    }
    let has_basis = has_cores(answer);
    let (title, rule) = if has_basis { (" basis |", "---|") } else { ("", "") };
    text.push_str(&format!(
        "| region | line | share | a call | headroom | fastest | speed-up, P10 to P90 |{title} verdict |\n"
    ));
    text.push_str(&format!("|---|---|---|---|---|---|---|---|{rule}\n"));
    found.regions.iter().for_each(|one| text.push_str(&row(one, has_basis)));
    for one in found.regions.iter().take(options.regions()) {
        text.push_str(&section(one, options));
    }
    text.push('\n');
    for assumption in &found.assumptions {
        text.push_str(&format!("- Assumed: {}.\n", escaped(assumption)));
    }
    text
}

fn row(one: &RegionAnswer, has_basis: bool) -> String {
    let best = one.boards.first();
    let dash = || "–".to_owned();
    format!(
        "| {} | {} | {} | {} | {} | {} | {} |{} {} |\n",
        escaped(&one.region.name),
        place(one).map_or_else(dash, |place| escaped(&place)),
        share(one.region.share),
        one.call_s.map_or_else(dash, |call| secs(call.p50)),
        one.headroom.map_or_else(dash, factor),
        best.map_or_else(dash, |best| marked(&best.name, best)),
        best.map_or_else(dash, |best| format!("{} ({})", factor(best.speedup.p50), between(&best.speedup))),
        if has_basis { format!(" {} |", best.map_or("–", basis)) } else { String::new() },
        one.verdict.words(),
    )
}

fn section(one: &RegionAnswer, options: Options) -> String {
    let mut text = format!("\n### {}: {}\n\n", escaped(&one.region.name), one.verdict.words());
    text.push_str(&format!("- {}\n", escaped(&one.why)));
    bytes(one).iter().for_each(|bytes| text.push_str(&format!("- {bytes}\n")));
    if let Some(best) = one.boards.iter().find(|board| board.parts.is_some()) {
        text.push_str(&format!("- {}\n", break_even(one, best)));
        cut(best).iter().for_each(|cut| text.push_str(&format!("- {}\n", escaped(cut))));
    }
    one.core.iter().for_each(|one| text.push_str(&format!("- {}\n", escaped(&core(one)))));
    if one.boards.is_empty() {
        return text;
    }
    text.push_str("\n| board | P10 | P50 | P90 | speed-up | whole program | on the board | bound by |\n|---|---|---|---|---|---|---|---|\n");
    let line = |board: &BoardAnswer| {
        format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |\n",
            marked(&board.name, board),
            secs(board.total_s.p10),
            secs(board.total_s.p50),
            secs(board.total_s.p90),
            factor(board.speedup.p50),
            factor(board.program_speedup),
            board.resident_s.map_or_else(|| "–".to_owned(), |resident| secs(resident.p50)),
            board.bound.map_or("–", |bound| bound.name()),
        )
    };
    let shown = || one.boards.iter().take(options.boards());
    shown().for_each(|board| text.push_str(&line(board)));
    let bases: Vec<String> = shown().filter_map(core_on).chain(shown().filter_map(scaled_by)).collect();
    if !bases.is_empty() {
        text.push('\n');
        bases.iter().for_each(|basis| text.push_str(&format!("- {}\n", escaped(basis))));
    }
    text
}

fn escaped(text: &str) -> String {
    escape_controls(text).replace('|', "\\|")
}
