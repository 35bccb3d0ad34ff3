//! The user's source with what each line did, as `ridgeline annotate` shows it.
//!
//! [`text::render`] is for a terminal, [`html::page`] a file that needs nothing beside it, [`json::document`] for programs.

mod columns;
mod fold;
pub mod html;
pub mod json;
pub mod text;

/// How much of a file is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folding {
    /// Lines of which something is known, with so many around them, and the heads of what they are in.
    Around(usize),
    /// All lines.
    Nothing,
}

use crate::number::show_share;
use ridgeline::units::Nanos;
use ridgeline::{AnnotatedFile, AnnotatedLine, Annotation, TextOrigin, TimeOf};

/// The time that all lines are compared with, in words.
fn time_of(annotation: &Annotation) -> &'static str {
    match annotation.of {
        TimeOf::Devices => "device time",
        TimeOf::Host => "operators' time",
    }
}

/// A line's time as a part of all, 0 to 1.
fn share(annotation: &Annotation, line: &AnnotatedLine) -> f64 {
    part(line.sums.held_ns(), annotation.all_ns)
}

fn part(ns: i64, of_ns: i64) -> f64 {
    if of_ns > 0 { ns as f64 / of_ns as f64 } else { 0.0 }
}

/// What is known of all time, one sentence.
fn summary(annotation: &Annotation) -> String {
    let inferred = annotation.files.iter().map(|file| &file.sums).chain(annotation.others.iter().map(|(_, sums)| sums));
    let inferred_ns = inferred.fold(0_i64, |sum, sums| sum.saturating_add(sums.inferred_ns));
    let unknown_ns = annotation.unknown.held_ns();
    let mut said = format!("{} {}", time_of(annotation), Nanos(annotation.all_ns));
    let mut add = |ns: i64, what: &str| {
        if ns > 0 {
            let share = show_share(part(ns, annotation.all_ns)).joined();
            said.push_str(&format!(" · {} {what} ({share})", Nanos(ns)));
        }
    };
    add(annotation.all_ns.saturating_sub(unknown_ns).saturating_sub(inferred_ns), "measured for lines");
    add(inferred_ns, "inferred for lines");
    add(unknown_ns, "without a line");
    if annotation.idle_ns > 0 {
        let known = match annotation.idle_known_ns {
            0 => "none of it given to lines".to_owned(),
            known => format!("{} of it given to lines", Nanos(known)),
        };
        said.push_str(&format!(" · idle {}, {known}", Nanos(annotation.idle_ns)));
    }
    said
}

/// What is known of a file, one sentence.
fn file_summary(annotation: &Annotation, file: &AnnotatedFile) -> String {
    let held_ns = file.sums.held_ns();
    let share = show_share(part(held_ns, annotation.all_ns)).joined();
    let mut said = format!("{} of {} ({share})", Nanos(held_ns), time_of(annotation));
    if file.sums.inferred_ns > 0 {
        said.push_str(&format!(", {} of it inferred", Nanos(file.sums.inferred_ns)));
    }
    if file.idle_ns > 0 {
        said.push_str(&format!(" · idle {}", Nanos(file.idle_ns)));
    }
    said.push_str(match file.text.as_ref().map(|(origin, _)| origin) {
        Some(TextOrigin::Ran) => " · the text that ran",
        Some(TextOrigin::Changed) => " · the text that ran; the file changed since",
        Some(TextOrigin::Today) => " · today's text, which may not be what ran",
        None => " · its text cannot be read",
    });
    said
}

/// The reasons of a line's idle time: `host late (Python) 250 ms, in the launch call 50 ms`.
fn idle_reasons(line: &AnnotatedLine) -> String {
    const MOST: usize = 3;
    let mut said: Vec<String> = Vec::new();
    for (cause, activity, ns) in line.idle.iter().take(MOST) {
        said.push(format!("{} ({}) {}", cause.name(), activity.name(), Nanos(*ns)));
    }
    let rest = line.idle.iter().skip(MOST).fold(0_i64, |sum, part| sum.saturating_add(part.2));
    if rest > 0 {
        said.push(format!("other reasons {}", Nanos(rest)));
    }
    said.join(", ")
}

/// Files with time that are not shown, in words; empty where there are none.
fn others(annotation: &Annotation) -> String {
    const MOST: usize = 5;
    let names = annotation.others.iter().take(MOST).map(|(name, sums)| format!("{name} ({})", Nanos(sums.held_ns())));
    let names: Vec<String> = names.collect();
    match annotation.others.len().saturating_sub(MOST) {
        _ if names.is_empty() => String::new(),
        0 => format!("other files with time: {}", names.join(", ")),
        more => format!("other files with time: {} and {more} more", names.join(", ")),
    }
}
