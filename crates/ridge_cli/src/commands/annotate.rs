//! `ridgeline annotate`: the user's source with what each line did.

use crate::arguments::{CeilingsArguments, Globals, TextOutput};
use crate::ending::Ending;
use crate::failure::Failure;
use crate::output::deliver_checked;
use crate::timings::Timings;
use clap::{Args, ValueEnum, ValueHint};
use ridge_report::annotate::{Folding, html, json, text};
use ridge_report::terminal::Layout;
use ridgeline::{AnnotateOptions, OpenOptions};
use std::path::{Path, PathBuf};

/// Lines around those with time.
const AROUND: usize = 1;

/// Show your source with device time, idle time, copies, launches, work and findings for each line
///
/// Times per line agree with `ridgeline stats --by source`; measured times are separate from times inferred from the
/// data flow. The text shown was recorded with the program; if none was recorded, the current file is shown, and marked
/// as such. See docs/annotate.md.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct AnnotateArguments {
    /// Source files (`*.py`), then captures; without source files, those with the most time are shown
    #[arg(required = true, value_name = "FILE.py|CAPTURE", value_hint = ValueHint::AnyPath)]
    paths: Vec<PathBuf>,

    /// A source file that does not end in `.py`; may be repeated
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: Vec<PathBuf>,

    /// Number of files to show if none is named
    #[arg(long, value_name = "N", default_value = "3")]
    top: usize,

    /// Output format
    #[arg(long, short = 'f', value_name = "FORMAT", default_value = "text")]
    format: AnnotateFormat,

    /// Lines of context around those with time
    #[arg(long, value_name = "N", default_value_t = AROUND, conflicts_with = "all")]
    context: usize,

    /// Show every line
    #[arg(long)]
    all: bool,

    /// Whether to run the rules of `ridgeline check`; `auto` runs them unless the capture is large
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    findings: Findings,

    /// Read the captures as this format instead of detecting it from their content
    #[arg(long, value_name = "NAME")]
    read_as: Option<String>,

    #[command(flatten)]
    ceilings: CeilingsArguments,

    #[command(flatten)]
    text: TextOutput,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline annotate solver.py run/                     one file
  ridgeline annotate run/                               the files with the most time
  ridgeline annotate model.py train.py trace.json.gz    several files, another tool's capture
  ridgeline annotate run/ --all -f html -o lines.html   whole files, as a page to share
  ridgeline annotate run/ -f json                       for programs; docs/json has the schema";

/// Forms of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AnnotateFormat {
    /// For a terminal
    #[value(alias = "table")]
    Text,
    /// A self-contained page
    Html,
    /// A versioned document; see docs/json
    Json,
}

/// Whether the rules are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Findings {
    /// If the capture has at most a million events
    Auto,
    /// However large the capture is
    Always,
    /// Never
    Never,
}

/// Runs the command.
pub(crate) fn run(arguments: &AnnotateArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    let (mut files, captures): (Vec<PathBuf>, Vec<PathBuf>) =
        arguments.paths.iter().cloned().partition(|path| is_source(path));
    files.extend(arguments.file.iter().cloned());
    if captures.is_empty() {
        return Err(Failure::usage("expected a capture in addition to the source files, found none")
            .hint("name it last: `ridgeline annotate solver.py run/`"));
    }
    let open = OpenOptions {
        format: arguments.read_as.clone(),
        ceilings: arguments.ceilings.choice(),
        ..OpenOptions::default()
    };
    let session = super::open_paths(&captures, &open, timings)?;
    let is_small = session.trace().events.len() <= super::MOST_JUDGED_UNASKED;
    let findings = match arguments.findings {
        Findings::Auto => is_small,
        Findings::Always => true,
        Findings::Never => false,
    };
    let options = AnnotateOptions { files, most_files: arguments.top, findings };
    let mut annotation = timings.phase("annotate", || session.annotate(&options))?;
    if arguments.findings == Findings::Auto && !is_small {
        annotation
            .footnotes
            .push("findings are left out, the capture is large: `--findings always` includes them".to_owned());
    }
    let folding = if arguments.all { Folding::Nothing } else { Folding::Around(arguments.context) };
    let render = |layout: &Layout| match arguments.format {
        AnnotateFormat::Text => text::render(&annotation, folding, layout),
        AnnotateFormat::Html => html::page(&annotation, folding),
        AnnotateFormat::Json => json::document(&annotation),
    };
    timings.phase("output", || {
        deliver_checked(render, arguments.text.output.as_deref(), &arguments.text.layout, globals)
    })?;
    Ok(Ending::Code(0))
}

/// Captures have other names.
fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "py") && !path.is_dir()
}
