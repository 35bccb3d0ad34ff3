//! What the user types.

use crate::dataset::Answered;
use crate::failure::Failure;
use crate::fleet::Fleet;
use clap::{Parser, ValueEnum, ValueHint};
use datafusion::common::ScalarValue;
use std::ffi::OsString;
use std::io::{IsTerminal as _, Read as _};
use std::num::NonZeroU16;
use std::path::PathBuf;

/// Query captures with SQL
///
/// Every table that other commands show is here under its name (op, kernel, idle.gap), what was recorded in raw (event,
/// track, counter), and the names of other tools: Perfetto's (slice, thread, counter, args), those of Nsight Systems
/// (CUPTI_ACTIVITY_KIND_KERNEL, NVTX_EVENTS, StringIds) and rocpd's (kernels, regions). Times are whole nanoseconds.
/// Nothing is written but the answer, and nothing is read but the captures.
#[derive(Debug, Parser)]
#[command(name = "ridgeline query", bin_name = "ridgeline query", version, after_long_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Captures, several of which are read as one, or a dataset that `ridgeline collect` made, in a directory or at
    /// s3://BUCKET/PREFIX; and behind them the query, which is read from standard input if it isn't there
    #[arg(required = true, value_name = "PATH... SQL", value_hint = ValueHint::AnyPath)]
    words: Vec<OsString>,

    /// Read the query from FILE; statements end with `;`, and CREATE VIEW names one for those that follow
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: Option<PathBuf>,

    /// Value of $NAME in the query: a number, true, false, null, else a text; repeatable
    #[arg(long = "param", short, value_name = "NAME=VALUE", value_parser = param)]
    pub(crate) params: Vec<(String, ScalarValue)>,

    /// List the tables of the capture, or the columns of TABLE
    #[arg(long, value_name = "TABLE", num_args = 0..=1, require_equals = true)]
    pub(crate) tables: Option<Option<String>>,

    /// Compare the hosts of a dataset, and their findings; with a value only one of these tables
    #[arg(long, value_name = "TABLE", num_args = 0..=1, require_equals = true, conflicts_with = "tables")]
    pub(crate) fleet: Option<Option<Fleet>>,

    /// With --fleet, write a page of the dataset to FILE instead: a heat map of step times by host, and both tables
    #[arg(long, value_name = "FILE", requires = "fleet", conflicts_with = "output", value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,

    /// Add the parts of a dataset in FOLDER to the dataset that is named, which is in a bucket; `ridgeline collect` does so
    #[arg(long, value_name = "FOLDER", hide = true, value_hint = ValueHint::DirPath)]
    pub(crate) put: Option<PathBuf>,

    /// Show the plan of the query instead of its answer
    #[arg(long)]
    pub(crate) explain: bool,

    /// Output format
    #[arg(long, short = 'f', value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,

    /// Write to FILE instead of standard output; an existing file is replaced atomically
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Rows that text and Markdown show; 0 for all
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) rows: usize,

    /// Most memory for sorting, joining and grouping; more is put on disk where that is possible
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = size)]
    pub(crate) memory: u64,

    /// Threads [default: as many as there are processors]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroU16>,

    /// Read each capture by itself instead of several as one: tables have the columns job, host and rank, as in a dataset
    #[arg(long)]
    pub(crate) each: bool,

    /// With --each, the name of the job
    #[arg(long, value_name = "NAME", default_value = "job")]
    pub(crate) job: String,

    /// With --each, name and leave out captures that can't be read, instead of failing; reads every capture once more
    #[arg(long)]
    pub(crate) skip_unreadable: bool,

    /// Read the captures as this format instead of detecting it from their content
    #[arg(long, value_name = "NAME")]
    pub(crate) read_as: Option<String>,

    /// Maximum size that a compressed capture may unpack to [default: 16GiB, or 250 times its size]
    #[arg(long, value_name = "SIZE", value_parser = size, hide_short_help = true)]
    pub(crate) max_unpacked: Option<u64>,

    /// Print wall time and peak memory to standard error
    #[arg(long)]
    pub(crate) timings: bool,

    /// Who answers.
    #[arg(skip)]
    pub(crate) answered: Answered,
}

/// `word`, so that a query which begins with a comment isn't taken for an option.
pub(crate) fn told_from_options(word: OsString) -> OsString {
    match word.as_encoded_bytes() {
        [b'-', b'-', b' ' | b'\t' | b'\n' | b'\r', ..] => {
            let mut told = OsString::from("\n");
            told.push(word);
            told
        }
        _ => word,
    }
}

const EXAMPLES: &str = "\
Examples:
  ridgeline query run/ 'select op, self_ns from op limit 5'
  ridgeline query run/ 'select name, count(*), sum(dur) from slice group by 1 order by 3 desc limit 10'
  ridgeline query run.sqlite 'select s.value, sum(k.end - k.start) from CUPTI_ACTIVITY_KIND_KERNEL k
      join StringIds s on s.id = k.shortName group by 1 order by 2 desc'
  ridgeline query run/ --tables                        every table
  ridgeline query run/ --tables=event                  the columns of one
  ridgeline query fleet/ 'select host, median(wall_ns) from step group by host order by 2 desc limit 10'
  ridgeline query --each node*/run 'select host, count(*) from event group by host'
  ridgeline query s3://traces/fleet --tables           a dataset in a bucket; credentials from AWS_… variables
  ridgeline query fleet/ --fleet                       hosts and findings that are unlike the others
  ridgeline query fleet/ --fleet --html fleet.html     the same as a page, with a heat map of steps
  ridgeline query run/ --file report.sql -p least=1000000 -f csv -o report.csv
  ridgeline query run/ --explain 'select count(*) from event where kind = $kind' -p kind=kernel

Exit status:
  0  success
  1  the query failed
  2  usage error
  130  interrupted";

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned text for a terminal
    #[value(name = "text", alias = "table")]
    Text,
    /// A versioned document; see docs/json
    Json,
    /// A header of names, then raw values
    Csv,
    /// The same with tabs between the values
    Tsv,
    /// GitHub-flavored Markdown
    Markdown,
    /// Arrow IPC: a stream on standard output, a file (Feather) with -o
    Arrow,
    /// Parquet
    Parquet,
}

/// What is asked for.
#[derive(Debug)]
pub(crate) struct Request {
    /// The captures.
    pub(crate) paths: Vec<PathBuf>,
    /// The query; `None` where none was typed.
    pub(crate) sql: Option<String>,
}

impl Arguments {
    /// Tells captures from the query.
    pub(crate) fn request(&self) -> Result<Request, Failure> {
        let paths = |words: &[OsString]| words.iter().map(PathBuf::from).collect::<Vec<_>>();
        if self.tables.is_some() || self.fleet.is_some() || self.put.is_some() {
            return Ok(Request { paths: paths(&self.words), sql: None });
        }
        if let Some(file) = &self.file {
            let text = std::fs::read_to_string(file);
            let text = text.map_err(|error| Failure::new(format!("cannot read {}: {error}", file.display())))?;
            return Ok(Request { paths: paths(&self.words), sql: Some(text) });
        }
        match &self.words[..] {
            [only] if std::io::stdin().is_terminal() => Err(Failure::usage("expected a query behind the captures")
                .hint(format!("`ridgeline query {} --tables` lists what can be asked", only.to_string_lossy()))),
            [_] => {
                let mut sql = String::new();
                let read = std::io::stdin().read_to_string(&mut sql);
                read.map_err(|error| Failure::new(format!("cannot read standard input: {error}")))?;
                Ok(Request { paths: paths(&self.words), sql: Some(sql) })
            }
            [captures @ .., sql] => {
                let sql = sql.to_str().ok_or_else(|| Failure::usage("expected a query in UTF-8"))?;
                Ok(Request { paths: paths(captures), sql: Some(sql.to_owned()) })
            }
            [] => Err(Failure::usage("expected a capture and a query")),
        }
    }
}

/// Reads `name=value`.
fn param(text: &str) -> Result<(String, ScalarValue), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| "expected NAME=VALUE".to_owned())?;
    let name = name.trim_start_matches('$').to_owned();
    let value = match value {
        "null" => ScalarValue::Null,
        "true" | "false" => ScalarValue::from(value == "true"),
        _ => match (value.parse::<i64>(), value.parse::<f64>()) {
            (Ok(whole), _) => ScalarValue::from(whole),
            (_, Ok(real)) => ScalarValue::from(real),
            _ => ScalarValue::from(value),
        },
    };
    Ok((name, value))
}

/// Reads `512MiB`, `2GB`, `1000000`.
fn size(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 7] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("KB", 1000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("B", 1),
    ];
    let unit = UNITS.iter().find_map(|(name, size)| Some((text.strip_suffix(name)?, *size)));
    let (number, unit) = unit.unwrap_or((text, 1));
    let number: f64 = number.trim().parse().map_err(|_| format!("expected a size such as 512MiB, found `{text}`"))?;
    match number.is_finite() && number >= 0.0 {
        true => Ok((number * unit as f64) as u64),
        false => Err(format!("expected a size such as 512MiB, found `{text}`")),
    }
}
