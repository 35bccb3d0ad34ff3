//! The options that commands share: how they are answered, what they read, what they compare with.

use crate::output::Format;
use anstream::AutoStream;
use anstream::stream::RawStream;
use clap::{Args, ValueEnum, ValueHint};
use ridgeline::{CeilingsChoice, data_sheet};
use std::path::PathBuf;

/// What holds for every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Globals {
    /// When to color: `auto` follows the terminal and NO_COLOR, CLICOLOR, CLICOLOR_FORCE
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = false)]
    pub(crate) color: Color,

    /// Print our own wall time by phase and our peak memory to standard error
    #[arg(long, global = true)]
    pub(crate) timings: bool,

    /// Show more: what each number means; with record and bench, what happens as it happens
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

/// When to color.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// Where a terminal reads it and the environment does not object
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

impl Color {
    fn as_choice(self) -> anstream::ColorChoice {
        match self {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        }
    }

    /// Makes this the choice for standard output and standard error.
    pub(crate) fn write_global(self) {
        self.as_choice().write_global();
    }

    /// What this choice means for `stream`.
    pub(crate) fn choice(self, stream: &impl RawStream) -> anstream::ColorChoice {
        match self {
            Color::Auto => AutoStream::choice(stream),
            decided => decided.as_choice(),
        }
    }

    /// Whether colors are wanted even in files.
    pub(crate) fn is_always(self) -> bool {
        self == Color::Always
    }
}

/// The form of an answer and where it goes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArguments {
    /// Form of the answer
    #[arg(long, short = 'f', value_name = "FORMAT", default_value = "table")]
    pub(crate) format: Format,

    /// Write to FILE instead of standard output; replaced atomically
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Columns of text for tables; the terminal's width if not given
    #[arg(long, value_name = "N")]
    pub(crate) width: Option<usize>,

    /// Draw bars and marks in ASCII
    #[arg(long)]
    pub(crate) ascii: bool,
}

/// The captures to read.
#[derive(Debug, Args)]
pub(crate) struct InputArguments {
    /// Captures: files, run folders, TensorBoard log folders; several are read as one
    #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    /// Read the captures as this format rather than as what their content says
    #[arg(long, value_name = "NAME")]
    pub(crate) read_as: Option<String>,

    /// Read no more than this of what a compressed capture unpacks to [default: 16GiB, or 250 times its size]
    #[arg(long, value_name = "SIZE", value_parser = crate::quantities::size, hide_short_help = true)]
    pub(crate) max_unpacked: Option<u64>,
}

/// The ceilings that rates are compared with.
#[derive(Debug, Args)]
pub(crate) struct CeilingsArguments {
    /// Compare with the measured ceilings in FILE, with the data sheet of a device by its name (`NVIDIA H100 SXM5 80GB`)
    /// where the capture does not name it, or with data sheets alone for `none` [default: those that `ridgeline calibrate`
    /// kept for this device, else its data sheet]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    ceilings: Option<PathBuf>,
}

impl CeilingsArguments {
    /// What was chosen.
    pub(crate) fn choice(&self) -> CeilingsChoice {
        match &self.ceilings {
            None => CeilingsChoice::Kept,
            Some(path) if path.as_os_str() == "none" => CeilingsChoice::None,
            Some(path) => match path.to_str().filter(|name| !path.exists() && data_sheet(name, None).is_some()) {
                Some(name) => CeilingsChoice::Sheet(name.to_owned()),
                None => CeilingsChoice::File(path.clone()),
            },
        }
    }
}
