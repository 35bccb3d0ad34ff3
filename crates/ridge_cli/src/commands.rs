//! The subcommands, one file each, and what several of them do alike.

pub(crate) mod annotate;
pub(crate) mod bench;
pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod collect;
pub(crate) mod compile;
pub(crate) mod completions;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod experiment;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod guide;
pub(crate) mod handoff;
pub(crate) mod hlo;
pub(crate) mod idle;
pub(crate) mod info;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
pub(crate) mod memory;
pub(crate) mod offload;
pub(crate) mod query;
pub(crate) mod record;
pub(crate) mod redact;
pub(crate) mod reference;
mod remote;
#[cfg(feature = "page")]
pub(crate) mod report;
pub(crate) mod roofline;
pub(crate) mod rules;
pub(crate) mod scaling;
pub(crate) mod snapshot;
pub(crate) mod stats;
pub(crate) mod top;
pub(crate) mod transfers;
pub(crate) mod trial;
#[cfg(feature = "page")]
pub(crate) mod view;
pub(crate) mod what_if;

use crate::arguments::{InputArguments, OutputArguments};
use crate::compiled_as::required_as;
use crate::failure::Failure;
use crate::timings::Timings;
use indicatif::ProgressBar;
use ridge_report::Listing;
use ridgeline::units::Bytes;
use ridgeline::{CeilingsChoice, Check, Note, OpenOptions, Selection, Session, Shown, Table, Topic, View};
use std::path::PathBuf;
use std::time::Duration;

/// Refuses a form that holds one table where not one was named by `--by`; `how` ends the advice "name one".
fn require_one_table(output: &OutputArguments, named: usize, how: &str) -> Result<(), Failure> {
    if !output.format.holds_one_table() || named == 1 {
        return Ok(());
    }
    let found = if named == 0 { "none".to_owned() } else { named.to_string() };
    Err(Failure::usage(format!("expected one table for this format, found {found}"))
        .hint(format!("name one{how}; `--format json` has all of them")))
}

/// Rows of a table: those asked for, 0 for all; else all where a program reads them, else `usual`.
fn rows_of(asked: Option<usize>, output: &OutputArguments, usual: usize) -> usize {
    match asked {
        Some(0) => usize::MAX,
        Some(rows) => rows,
        None if output.format.is_for_programs() => usize::MAX,
        None => usual,
    }
}

/// The views of `topic` that a report has where none is named.
fn shown(session: &Session, topic: Topic, output: &OutputArguments) -> Vec<&'static View> {
    let mut views = session.answered(topic);
    views.retain(|view| view.shown != Shown::ForPrograms || output.format.is_for_programs());
    views
}

/// `tables` as they are shown: in the order that was asked for, no more than `rows` of each.
fn listed(tables: Vec<Table>, rows: usize, output: &OutputArguments) -> Result<Vec<Listing>, Failure> {
    let Some(order) = &output.sort else {
        return Ok(tables.into_iter().map(|table| Listing::top(table, rows)).collect());
    };
    let sorted: Vec<_> = tables.iter().map(|table| order.of(table)).collect();
    if !tables.is_empty() && sorted.iter().all(Option::is_none) {
        let schema = tables[0].batch.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        return Err(Failure::usage(format!("unknown column `{}` to sort by", order.column)).hint(format!(
            "the table `{}` has {}",
            tables[0].name,
            names.join(", ")
        )));
    }
    Ok(tables.into_iter().zip(sorted).map(|(table, sorted)| Listing::top(sorted.unwrap_or(table), rows)).collect())
}

/// The tables of `views` as they are shown; one that says nothing is left out where it was not `named`.
fn listings(
    views: &[&View],
    tables: Vec<Table>,
    rows: usize,
    named: bool,
    output: &OutputArguments,
) -> Result<Vec<Listing>, Failure> {
    let says_something = |view: &View, table: &Table| match view.shown {
        Shown::WithRows(least) => table.rows_total >= least,
        _ => true,
    };
    let shown = views.iter().zip(tables).filter(|(view, table)| named || says_something(view, table));
    listed(shown.map(|(_, table)| table).collect(), rows, output)
}

/// Opens the captures in `input`.
fn open(input: &InputArguments, timings: &mut Timings) -> Result<Session, Failure> {
    open_with(input, CeilingsChoice::None, timings)
}

/// Opens the captures in `input`, with what their rates are compared with.
fn open_with(input: &InputArguments, ceilings: CeilingsChoice, timings: &mut Timings) -> Result<Session, Failure> {
    open_paths(&input.paths, &options(input, ceilings), timings)
}

fn options(input: &InputArguments, ceilings: CeilingsChoice) -> OpenOptions {
    OpenOptions { format: input.read_as.clone(), max_unpacked_bytes: input.max_unpacked, ceilings }
}

fn open_paths(paths: &[PathBuf], options: &OpenOptions, timings: &mut Timings) -> Result<Session, Failure> {
    let may_tick = ridgeline::start_threads();
    let spinner = spinner_for(paths).filter(|_| may_tick);
    spinner.iter().for_each(|spinner| spinner.enable_steady_tick(Duration::from_millis(100)));
    let session = timings.phase("open", || Session::open(paths, options));
    if let Some(spinner) = spinner {
        spinner.finish_and_clear();
    }
    Ok(session?)
}

/// A capture as the GPU that is meant would run it, where one is meant, with what a reader must know of that.
fn meant(session: Session, gpu: Option<&str>, timings: &mut Timings) -> Result<(Session, Vec<Note>), Failure> {
    match gpu {
        None => Ok((session, Vec::new())),
        Some(gpu) => required_as(session, gpu, timings),
    }
}

/// Captures with more events are judged only where that is asked for: replaying them would take longer than reading them.
const MOST_JUDGED_UNASKED: usize = 1 << 20;

/// What holds the program back, for the end of another command's answer; `None` where the capture is too large to say unasked.
fn judged_unasked(session: &Session) -> Option<Check> {
    (session.trace().events.len() <= MOST_JUDGED_UNASKED).then(|| session.check(&Selection::default()))
}

/// Files below this open before anybody would look for a sign of life.
const LONG_WORK_BYTES: u64 = 256 << 20;

/// A sign of life on the terminal while large files are read; nothing where standard error is no terminal.
fn spinner_for(paths: &[PathBuf]) -> Option<ProgressBar> {
    let sizes = paths.iter().filter_map(|path| std::fs::metadata(path).ok()).filter(|found| found.is_file());
    let bytes: u64 = sizes.map(|found| found.len()).sum();
    if bytes < LONG_WORK_BYTES {
        return None;
    }
    Some(ProgressBar::new_spinner().with_message(format!("reading {}", Bytes(bytes))))
}
