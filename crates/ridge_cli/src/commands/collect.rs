//! `ridgeline collect`: the tables of many captures as one dataset, which `ridgeline query` reads.
//!
//! A part is the tables of one capture as `ridgeline export --to parquet` writes them, in a folder that is named
//! `job=JOB/host=HOST/rank=RANK`. Parts know nothing of each other, so every host can write its own. Parts for a bucket are written
//! to a folder first; `ridgeline-query`, which can speak to buckets, sends them.

use crate::arguments::Globals;
use crate::commands::export::write_tables;
use crate::commands::query::put_in_bucket;
use crate::ending::Ending;
use crate::failure::Failure;
use crate::output::{tell_losses, write_stdout};
use crate::timings::Timings;
use clap::{Args, ValueHint};
use indicatif::{ProgressBar, ProgressStyle};
use ridge_export::Privacy;
use ridge_export::tables::Tables;
use ridge_files::NewFolder;
use ridgeline::escape::escape_controls;
use ridgeline::{CapturePart, CeilingsChoice, OpenOptions, PartNames, Session, capture_parts, name_in_dataset};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Collect the tables of many captures in one dataset, to query a whole job or fleet
///
/// Each capture becomes a directory of Parquet files, `DIR/job=JOB/host=HOST/rank=RANK/`, with all tables that
/// `ridgeline export --to parquet` writes, and a file `_ridgeline.json` that describes the capture. `ridgeline query DIR/` reads them as one. Parts are independent: each host can
/// collect its own, and a part that is collected again replaces the earlier one. Host, user and process names, home
/// directories and tokens are removed from names in the tables. Datasets in a bucket (s3://BUCKET/PREFIX) need
/// `ridgeline-query`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct CollectArguments {
    /// Captures, one part each: files or recordings; a recording of several ranks is one part per rank
    #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    paths: Vec<PathBuf>,

    /// Dataset to add to: a directory, or s3://BUCKET/PREFIX
    #[arg(long, short, value_name = "DATASET", value_hint = ValueHint::DirPath)]
    output: PathBuf,

    /// Name of the job
    #[arg(long, value_name = "NAME", default_value = "job", value_parser = name)]
    job: String,

    /// Name of the host [default: the part of the path in which the captures differ]
    #[arg(long, value_name = "NAME", value_parser = name)]
    host: Option<String>,

    /// Keep host, user and process names, home directories and tokens
    #[arg(long = "no-redact")]
    with_private: bool,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline collect captures/node*/run -o fleet/       host=node00, host=node01, …
  ridgeline collect run/ -o /shared/fleet/ --job 4711 --host $(hostname)
  ridgeline collect run/ -o s3://traces/fleet --host $(hostname)       credentials from AWS_… variables
  ridgeline query fleet/ 'select host, median(wall_ns) from step group by host order by 2 desc limit 10'
  ridgeline check --fleet fleet/                       hosts and findings that are unlike the others";

/// The file of a part that describes its capture.
const ABOUT: &str = "_ridgeline.json";

/// Runs the command.
pub(crate) fn run(arguments: &CollectArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    let parts = capture_parts(&arguments.paths, arguments.host.as_deref());
    let mut dataset = Dataset::new(&arguments.output, &arguments.job, arguments.with_private)?;
    let bar = bar(parts.len() as u64);
    let mut lost = 0;
    for part in &parts {
        if let Err(failure) = dataset.add(part, timings) {
            lost += 1;
            bar.suspend(|| failure.print());
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let line = format!("{} of {} captures in {}\n", parts.len() - lost, parts.len(), shown(&arguments.output));
    write_stdout(line.as_bytes(), globals.color.choice(&std::io::stdout()))?;
    Ok(Ending::Code(i32::from(lost > 0)))
}

/// Adds a recording of this host to a dataset, a part for each rank.
pub(crate) fn add_recording(recording: &Path, output: &Path, job: &str, host: &str) -> Result<(), Failure> {
    let mut dataset = Dataset::new(output, job, false)?;
    let parts = capture_parts(&[recording.to_owned()], Some(host));
    parts.iter().try_for_each(|part| dataset.add(part, &mut Timings::start()))
}

/// What parts are added to.
struct Dataset<'a> {
    output: &'a Path,
    job: &'a str,
    with_private: bool,
    /// Where parts are on their way into a bucket.
    staged: Option<NewFolder>,
    /// Where the captures so far are.
    taken: BTreeMap<PathBuf, PathBuf>,
}

impl<'a> Dataset<'a> {
    fn new(output: &'a Path, job: &'a str, with_private: bool) -> Result<Dataset<'a>, Failure> {
        let staged = match is_address(output) {
            // What cannot be sent is not read first.
            true => {
                let place = std::env::temp_dir().join("ridgeline-collect");
                let failed = |error: std::io::Error| Failure::io("cannot write the dataset", &error).at(&place);
                Some(NewFolder::beside(&place).map_err(failed)?)
            }
            false => None,
        };
        Ok(Dataset { output, job, with_private, staged, taken: BTreeMap::new() })
    }

    /// Writes one part.
    fn add(&mut self, part: &CapturePart, timings: &mut Timings) -> Result<(), Failure> {
        let options = OpenOptions { ceilings: CeilingsChoice::None, ..OpenOptions::default() };
        let session = timings.phase("read", || Session::open(std::slice::from_ref(&part.capture), &options))?;
        tell_losses(session.notes());
        let rank = part.rank.or_else(|| session.only_rank()).unwrap_or(0);
        let base = self.staged.as_ref().map_or(self.output, NewFolder::path);
        let folder = base.join(format!("job={}/host={}/rank={rank}", self.job, part.host));
        if let Some(other) = self.taken.insert(folder.clone(), part.capture.clone()) {
            let told = format!("{} and {} are the same host and rank", shown(&other), shown(&part.capture));
            return Err(Failure::failed(told)
                .hint("captures of one host and one rank need different names: `--host NAME`, or `--job NAME`"));
        }
        let failed = |error: std::io::Error| Failure::io("cannot write the dataset", &error).at(&folder);
        fs::create_dir_all(folder.parent().unwrap_or(&folder)).map_err(failed)?;
        let words = ridgeline::private_words(std::slice::from_ref(&part.capture));
        let privacy = if self.with_private { Privacy::Kept } else { Privacy::RemovedWith(&words) };
        let tables = Tables::new(&session, privacy);
        timings.phase("write", || write_tables(&session, &tables, &folder, &mut |_| ()))?;
        let names = PartNames { job: self.job, host: &part.host, rank };
        let about = session.about_part(&names, (!self.with_private).then_some(&words));
        ridge_files::replace(&folder.join(ABOUT), |file| file.write_all(about.as_bytes())).map_err(failed)?;
        if self.staged.is_some() {
            timings.phase("send", || put_in_bucket(base, self.output))?;
            ridge_files::remove(&folder).map_err(failed)?;
        }
        Ok(())
    }
}

/// Whether `output` is an address rather than a path.
fn is_address(output: &Path) -> bool {
    output.to_str().is_some_and(|output| output.contains("://"))
}

/// Reads a name of a job or host.
pub(crate) fn name(text: &str) -> Result<String, String> {
    match name_in_dataset(text) == text {
        true => Ok(text.to_owned()),
        false => Err("expected letters, digits, `.`, `_` and `-`".to_owned()),
    }
}

fn shown(path: &Path) -> String {
    escape_controls(&path.display().to_string()).into_owned()
}

fn bar(parts: u64) -> ProgressBar {
    if parts < 2 {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("collecting {bar:30} {human_pos} of {human_len} captures");
    let bar = ProgressBar::new(parts);
    style.map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style))
}
