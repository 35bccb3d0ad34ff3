//! For a terminal: the verdict, how it came about, and what changed in the captures.

use super::{course, headline, reasons, times};
use crate::diff;
use crate::terminal::{Glyphs, Layout, wrapped};
use anstyle::Style;
use ridgeline::comparison::State;
use ridgeline::escape::{escape_controls, shell_word};
use ridgeline::units::Share;
use ridgeline::{Tested, Trial, TrialOutput};

/// The whole answer.
pub fn render(trial: &Trial, layout: &Layout) -> String {
    let style = match trial.state() {
        State::Slower => layout.theme.lost,
        State::CannotJudge => layout.theme.partial,
        State::Faster | State::NoChange => layout.theme.title,
    };
    let mut text = sentence(&headline(trial), style, layout);
    let mut entry = |title: &str, words: &str| text.push_str(&entry(title, words, layout));
    entry("baseline", &trial.baseline);
    entry("candidate", &trial.candidate);
    entry("runs", &course(trial));
    for reason in reasons(trial) {
        entry("reason", &reason);
    }
    if let Some(judged) = &trial.judged {
        if judged.is_by_captures {
            entry("also", &times("program", &judged.program));
        } else if let Some(captures) = &judged.captures {
            entry("also", &diff::headline(&captures.comparison));
        }
    }
    for output in &trial.outputs {
        entry("output", &agreement(output));
    }
    if let Some(tested) = &trial.tested {
        entry("tested", &prediction(tested));
    }
    for note in &trial.notes {
        entry("note", note);
    }
    entry("captures", &trial.folder.display().to_string());
    if let Some(captures) = trial.judged.as_ref().and_then(|judged| judged.captures.as_ref()) {
        let side = |name: &str| shell_word(&trial.folder.join(name).to_string_lossy());
        entry("next", &format!("ridgeline diff {} {}", side("before"), side("after")));
        if trial.tested.is_some() {
            entry("keep", &format!("ridgeline rules --add-trial {}", shell_word(&trial.folder.to_string_lossy())));
        }
        text.push('\n');
        text.push_str(&diff::text::render(captures, &diff::Options::default(), layout));
    }
    text
}

/// `host-callback is resolved; predicted saving 20.1% to 25.0%, and the change saves 22.4% (predicted/measured 0.98)`
fn prediction(tested: &Tested) -> String {
    let percent = |part: f64| Share(part).to_string();
    let (low, high) = (percent(tested.predicted_low), percent(tested.predicted_high));
    let says = format!("{} is resolved; predicted saving {low} to {high}, and the change", tested.rule);
    match tested.ratio {
        Some(ratio) => format!("{says} saves {} (predicted/measured {ratio:.2})", percent(tested.measured)),
        None => format!("{says} saves nothing significant"),
    }
}

fn agreement(output: &TrialOutput) -> String {
    let why = output.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let words = match output.state {
        "same" => "identical on both sides",
        "close" => "equal up to rounding",
        "differs" => "differs",
        "not repeatable" => "differs between runs of the baseline, so it shows nothing",
        "missing" => "was not written",
        _ => "was not compared",
    };
    format!("{} {words}{why}", output.file)
}

fn entry(title: &str, words: &str, layout: &Layout) -> String {
    let indent = 11;
    let lines = wrapped(&plain(&escape_controls(words), layout), layout.width.saturating_sub(indent));
    let lines = lines.iter().enumerate();
    lines.map(|(at, line)| format!("  {:<9}{line}\n", if at == 0 { title } else { "" })).collect()
}

fn sentence(words: &str, style: Style, layout: &Layout) -> String {
    let lines = wrapped(&plain(&escape_controls(words), layout), layout.width);
    let styled =
        |line: &String| if style.is_plain() { format!("{line}\n") } else { format!("{style}{line}{style:#}\n") };
    lines.iter().map(styled).collect()
}

fn plain(text: &str, layout: &Layout) -> String {
    match layout.glyphs {
        Glyphs::Unicode => text.to_owned(),
        Glyphs::Ascii => text.replace('µ', "u").replace('…', "...").replace('→', "->").replace('±', "+-"),
    }
}
