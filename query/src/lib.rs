//! The command `ridgeline-query`: SQL over captures, which `ridgeline query` starts.
//!
//! A program of its own, because DataFusion would triple `ridgeline` and double its build.
//! The tables are those of `ridge_export::tables` and the views of the façade; nothing is computed here that they do not have.
//! Queries read: nothing is written but the answer, no file is opened but the captures named, and the network is used for
//! datasets in a bucket alone.
//!
//! Floors, lowest first: `failure`; `stores`, `raw`, `views`; `dataset`; `capture_scan`; `captures`; `catalog`; `fleet`;
//! `arguments`, `lenient`, `spelling`; `output`; `engine`; `listing`, `page`; `cluster`.

mod arguments;
mod capture_scan;
mod captures;
mod catalog;
#[cfg(feature = "fleet")]
pub mod cluster;
mod dataset;
mod engine;
mod failure;
mod fleet;
mod lenient;
mod listing;
mod output;
mod page;
mod raw;
mod spelling;
mod stores;
mod views;

use arguments::{Arguments, Request};
use capture_scan::Reading;
use captures::Captures;
use catalog::Source;
use clap::Parser as _;
use datafusion::prelude::SessionContext;
use dataset::{Answered, Dataset};
use engine::Engine;
use failure::Failure;
use ridge_export::Privacy;
use ridge_export::tables::Tables;
use ridgeline::escape::escape_controls;
use ridgeline::{OpenOptions, Session, Severity};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// As shells report a program that an interrupt ended.
const INTERRUPTED: u8 = 130;
/// How long running work may take to notice that it shall end.
const GRACE: Duration = Duration::from_millis(500);

/// Runs `ridgeline-query`.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse_from(std::env::args_os().map(arguments::told_from_options));
    execute(arguments, |context| std::future::ready(Ok(context)))
}

/// Answers what was typed in the context that `moved` makes of that of this process.
fn execute<F>(arguments: Arguments, moved: impl FnOnce(SessionContext) -> F + Send + 'static) -> ExitCode
where
    F: Future<Output = Result<SessionContext, Failure>> + Send + 'static,
{
    ridgeline::explain_lost_files();
    let started = Instant::now();
    let threads = arguments.threads.map_or_else(default_threads, |threads| usize::from(threads.get()));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return report(&Failure::new(format!("cannot start threads: {error}"))),
    };
    let timings = arguments.timings;
    let work = runtime.spawn(run(arguments, threads, moved));
    let ended = runtime.block_on(async {
        tokio::select! {
            done = work => done.unwrap_or_else(|error| Err(Failure::new(format!("the query ended early: {error}")))).map(Some),
            _ = tokio::signal::ctrl_c() => Ok(None),
        }
    });
    // What was spilled to disk goes with the work.
    runtime.shutdown_timeout(GRACE);
    if timings {
        eprintln!("{:.3} s in all, {} at most", started.elapsed().as_secs_f64(), peak_memory());
    }
    match ended {
        Ok(Some(())) => ExitCode::SUCCESS,
        Ok(None) => ExitCode::from(INTERRUPTED),
        Err(failure) => report(&failure),
    }
}

async fn run<F>(arguments: Arguments, threads: usize, moved: impl FnOnce(SessionContext) -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<SessionContext, Failure>>,
{
    let request = arguments.request()?;
    let context = engine::context(&arguments, threads)?;
    if let Some(folder) = &arguments.put {
        return put(folder, &request.paths, &context).await;
    }
    let source = source(&request, &arguments, &context).await?;
    let engine = Engine::new(source, moved(context).await?).await?;
    if arguments.skip_unreadable {
        leave_out_unreadable(&engine).await?;
    }
    match (&request.sql, arguments.fleet) {
        (_, Some(only)) => {
            let dataset = fleet::dataset(source)?;
            match &arguments.html {
                Some(path) => page::write(&engine, dataset, path).await,
                None => engine.answer(&fleet::statements(dataset, only), &arguments).await,
            }
        }
        (None, None) => listing::print(&engine, arguments.tables.as_ref().and_then(Option::as_deref)).await,
        (Some(sql), None) => engine.answer(sql, &arguments).await,
    }
}

/// Leaves out captures that can't be read, and names them. They are found before the query, so that all of it reads the same.
async fn leave_out_unreadable(engine: &Engine) -> Result<(), Failure> {
    let Source::Captures(captures) = engine.source else {
        return Err(Failure::usage("expected captures that are read each by itself, with `--skip-unreadable`")
            .hint("`--each` reads them so; a dataset has no captures that can't be read"));
    };
    let found = engine.rows("SELECT path, problem FROM raw.capture WHERE problem IS NOT NULL ORDER BY path").await?;
    let mut paths = BTreeSet::new();
    for row in &found.rows {
        let [Value::String(path), Value::String(problem)] = &row[..] else { continue };
        let (shown, problem) = (escape_controls(path), escape_controls(problem));
        eprintln!("note: left out {shown}: {problem}");
        paths.insert(path.clone());
    }
    let all = captures.listed().len();
    captures.leave_out(&paths);
    match captures.listed().is_empty() {
        true => Err(Failure::new(format!("none of {all} captures can be read"))),
        false => Ok(()),
    }
}

/// Puts the parts of a dataset in `folder` into a bucket.
async fn put(folder: &Path, to: &[PathBuf], context: &SessionContext) -> Result<(), Failure> {
    let [to] = to else { return Err(Failure::usage("expected one dataset to add to")) };
    let put = dataset::put(folder, to, context).await?;
    let parts = if put.parts == 1 { "1 part".to_owned() } else { format!("{} parts", put.parts) };
    println!("{parts} in {}: {} files, {:.1} MB", to.display(), put.files, put.bytes as f64 / 1e6);
    Ok(())
}

/// What is asked about: a dataset, or captures.
async fn source(request: &Request, arguments: &Arguments, context: &SessionContext) -> Result<Source, Failure> {
    let mut datasets = Vec::new();
    for path in &request.paths {
        datasets.extend(Dataset::of(path, arguments.answered, context).await?);
    }
    match <[Dataset; 1]>::try_from(datasets) {
        // It is there for as long as the program runs: plans may keep what refers to it.
        Ok([dataset]) if request.paths.len() == 1 => return Ok(Source::Dataset(Box::leak(Box::new(dataset)))),
        Err(none) if none.is_empty() => {}
        _ => {
            return Err(Failure::usage("expected one dataset, or captures alone")
                .hint("`ridgeline collect CAPTURES -o DATASET/` adds captures to a dataset"));
        }
    }
    if arguments.each || arguments.answered == Answered::ByExecutors {
        let how =
            Reading { read_as: arguments.read_as.clone(), max_unpacked: arguments.max_unpacked, ..Reading::default() };
        let captures = Captures::of(&request.paths, &arguments.job, how, arguments.answered)?;
        return Ok(Source::Captures(Box::leak(Box::new(captures))));
    }
    let options = OpenOptions {
        format: arguments.read_as.clone(),
        max_unpacked_bytes: arguments.max_unpacked,
        ..OpenOptions::default()
    };
    let started = Instant::now();
    let session = Session::open(&request.paths, &options).map_err(|error| Failure::of_open(&error))?;
    for note in session.notes().iter().filter(|note| note.severity != Severity::Info) {
        eprintln!("{}", ridge_report::note_line(note));
    }
    // The same holds for a capture.
    let session: &'static Session = Box::leak(Box::new(session));
    let tables: &'static Tables<'static> = Box::leak(Box::new(Tables::new(session, Privacy::Kept)));
    if arguments.timings {
        eprintln!("{:.3} s to open the capture", started.elapsed().as_secs_f64());
    }
    Ok(Source::Capture(session, tables))
}

fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Says what failed, unless nobody reads any more.
fn report(failure: &Failure) -> ExitCode {
    if failure.is_broken_pipe {
        return ExitCode::SUCCESS;
    }
    eprint!("{failure}");
    ExitCode::from(failure.code)
}

/// The most memory that the process held, as Linux counts it.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok());
    kib.map_or_else(|| "memory unknown".to_owned(), |kib| format!("{:.0} MiB", kib / 1024.0))
}
