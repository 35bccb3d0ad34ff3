//! For a terminal: what each finding would save, as measured, and what else was tried.

use super::{headline, results, results_of, saved, verb};
use crate::terminal::{Glyphs, Layout, wrapped};
use ridgeline::escape::escape_controls;
use ridgeline::units::{Nanos, Share};
use ridgeline::{Experiment, Finding, SavingBasis};

/// The whole answer.
pub fn render(experiment: &Experiment, layout: &Layout) -> String {
    let mut text = lines(&headline(experiment), 0, layout);
    for (finding, at) in &experiment.chosen {
        text.push('\n');
        text.push_str(&block(experiment, *finding, *at, layout));
    }
    let others = others(experiment);
    if !others.is_empty() {
        text.push_str("\nAlso tried\n");
        others.iter().for_each(|other| text.push_str(&lines(other, 2, layout)));
    }
    let unmeasured = unmeasured(experiment);
    if !unmeasured.is_empty() {
        text.push_str("\nNot measured\n");
        unmeasured.iter().for_each(|other| text.push_str(&lines(other, 2, layout)));
    }
    text.push('\n');
    experiment.notes.iter().for_each(|note| text.push_str(&entry("mind", note, layout)));
    text.push_str(&entry("runs", &course(experiment), layout));
    text.push_str(&entry("folder", &experiment.folder.display().to_string(), layout));
    text
}

fn block(experiment: &Experiment, finding: Option<usize>, at: usize, layout: &Layout) -> String {
    let (plan, tried) = (&experiment.planned[at], &experiment.tried[at]);
    let found = finding.and_then(|at| experiment.check.as_ref()?.diagnosis.findings.get(at));
    let mut text = match found {
        Some(found) => lines(&head(found), 0, layout),
        None => lines(&format!("change `{}`", plan.change.name), 0, layout),
    };
    let last = experiment.samples.iter().rfind(|sample| sample.change == Some(at));
    let sites = last.map(|last| sites(&last.applied)).unwrap_or_default();
    text.push_str(&entry("change", &format!("{}: {}{sites}", plan.change.name, plan.change.what), layout));
    if let Some(effect) = &tried.effect {
        let (before, after) = (Nanos(effect.before_ns), Nanos(effect.after_ns));
        let per = if effect.of_loop.is_some() { " per iteration" } else { "" };
        let words = format!("{} of {}: {before} → {after}{per}", saved(effect), effect.what());
        text.push_str(&entry(verb(plan.change.kind), &words, layout));
    }
    if let Some(why) = &tried.why_not {
        text.push_str(&entry("unknown", why, layout));
    }
    text.push_str(&entry("results", &results(results_of(experiment, at)), layout));
    if let Some(saving) = finding.and_then(|at| experiment.predicted.get(at)?.as_ref()) {
        let (low, high) = (Share(saving.share_low).rounded(), Share(saving.share_high).rounded());
        let words = match saving.basis {
            SavingBasis::Bound => format!("at most {high}"),
            _ => format!("{low} to {high} ({})", saving.basis.words()),
        };
        text.push_str(&entry("predicted", &words, layout));
    }
    text
}

fn head(found: &Finding) -> String {
    let place = found.place.as_ref().map(|place| format!(" ({}:{})", place.file, place.line)).unwrap_or_default();
    format!("{}[{}]: {}{place}", found.level.name(), found.rule, found.message)
}

/// ` (bad.py:35, 200 times)`
fn sites(applied: &[(String, u64)]) -> String {
    const SHOWN: usize = 2;
    let shown = applied.iter().take(SHOWN).map(|(site, times)| match times {
        1 => format!("{site}, once"),
        times => format!("{site}, {times} times"),
    });
    let more = if applied.len() > SHOWN { format!("; {} more", applied.len() - SHOWN) } else { String::new() };
    let all = shown.collect::<Vec<_>>().join("; ");
    if all.is_empty() { all } else { format!(" ({all}{more})") }
}

/// Changes that were run and are not measured for a finding, a line each.
fn others(experiment: &Experiment) -> Vec<String> {
    let is_chosen = |at: usize| experiment.chosen.iter().any(|(_, chosen)| *chosen == at);
    let rest = (0..experiment.planned.len()).filter(|at| !is_chosen(*at));
    rest.map(|at| {
        let (plan, tried) = (&experiment.planned[at], &experiment.tried[at]);
        let name = plan.change.name;
        match (&tried.effect, &tried.why_not) {
            (_, Some(why)) => format!("{name}: does not apply: {why}"),
            (Some(effect), None) => {
                let agree = results_of(experiment, at).is_none_or(ridgeline::ExperimentResults::agree);
                let changed = if agree { "" } else { ", and results changed" };
                format!("{name}: {} {}{changed}", verb(plan.change.kind), saved(effect))
            }
            (None, None) => format!("{name}: unknown"),
        }
    })
    .collect()
}

/// Findings worth mending that no change was measured for.
fn unmeasured(experiment: &Experiment) -> Vec<String> {
    let Some(check) = &experiment.check else { return Vec::new() };
    let has = |at: usize| experiment.chosen.iter().any(|(finding, _)| *finding == Some(at));
    let is_asked = |at: &usize| experiment.findings.contains(at) && !has(*at);
    let all = (0..check.diagnosis.findings.len()).filter(is_asked);
    all.map(|at| format!("{}: no change from outside applies and helps", head(&check.diagnosis.findings[at]))).collect()
}

fn course(experiment: &Experiment) -> String {
    if experiment.samples.is_empty() {
        return format!("none, after {} of recording", Nanos(experiment.took_ns));
    }
    let as_it_is = experiment.samples.iter().filter(|sample| sample.change.is_none()).count();
    let changed = experiment.samples.len() - as_it_is;
    let why = match experiment.ended {
        "narrow" => "precision reached",
        "budget" => "the budget is spent",
        "interrupted" => "interrupted",
        _ => "all rounds were made",
    };
    format!("{as_it_is} unchanged and {changed} changed, in {}: {why}", Nanos(experiment.took_ns))
}

fn entry(title: &str, words: &str, layout: &Layout) -> String {
    let indent = 13;
    let lines = wrapped(&plain(&escape_controls(words), layout), layout.width.saturating_sub(indent));
    let lines = lines.iter().enumerate();
    lines.map(|(at, line)| format!("  {:<11}{line}\n", if at == 0 { title } else { "" })).collect()
}

fn lines(words: &str, indent: usize, layout: &Layout) -> String {
    let lines = wrapped(&plain(&escape_controls(words), layout), layout.width.saturating_sub(indent));
    lines.iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
}

fn plain(text: &str, layout: &Layout) -> String {
    match layout.glyphs {
        Glyphs::Unicode => text.to_owned(),
        Glyphs::Ascii => text.replace('µ', "u").replace('…', "...").replace('→', "->"),
    }
}
