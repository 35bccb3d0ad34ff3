//! The options that commands share: how they are answered, what they read, what they compare with.

use crate::format::Format;
use anstream::AutoStream;
use anstream::stream::RawStream;
use clap::{Args, ValueEnum, ValueHint};
use ridge_report::Order;
use ridgeline::{CeilingsChoice, data_sheet};
use std::path::PathBuf;

/// What holds for every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Globals {
    /// When to use color: `auto` follows the terminal and NO_COLOR, CLICOLOR and CLICOLOR_FORCE
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = false)]
    pub(crate) color: Color,

    /// Print Ridgeline's own wall time by phase and its peak memory to standard error
    #[arg(long, global = true)]
    pub(crate) timings: bool,

    /// Show more: the meaning of each number; with `record` and `bench`, progress
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

/// When to color.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// When writing to a terminal, unless the environment overrides it
    Auto,
    /// Even to files and pipes
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
    /// Output format
    #[arg(long, short = 'f', value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,

    /// Sort the rows of tables by COLUMN, its name in JSON or its title: numbers from the largest, texts from A;
    /// `COLUMN:asc` and `COLUMN:desc` choose
    #[arg(long, value_name = "COLUMN")]
    pub(crate) sort: Option<Order>,

    /// Where it goes.
    #[command(flatten)]
    pub(crate) text: TextOutput,
}

/// Where an answer goes, for commands with forms of their own, too.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct TextOutput {
    /// Write to FILE instead of standard output; an existing file is replaced atomically
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// How it is laid out.
    #[command(flatten)]
    pub(crate) layout: TextLayout,
}

/// How text is laid out.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct TextLayout {
    /// Width of the output in characters [default: the terminal's width]
    #[arg(long, value_name = "N")]
    pub(crate) width: Option<usize>,

    /// Use ASCII characters only
    #[arg(long)]
    pub(crate) ascii: bool,
}

/// The captures to read.
#[derive(Debug, Args)]
pub(crate) struct InputArguments {
    /// Captures: files, recordings or TensorBoard log directories; several are read as one
    #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    /// Read the captures as this format instead of detecting it from their content
    #[arg(long, value_name = "NAME")]
    pub(crate) read_as: Option<String>,

    /// Maximum size that a compressed capture may unpack to [default: 16GiB, or 250 times its size]
    #[arg(long, value_name = "SIZE", value_parser = crate::quantities::size, hide_short_help = true)]
    pub(crate) max_unpacked: Option<u64>,
}

/// The ceilings that rates are compared with.
#[derive(Debug, Args)]
pub(crate) struct CeilingsArguments {
    /// Roofline ceilings: a FILE from `ridgeline calibrate -o`, a device name (`NVIDIA H100 SXM5 80GB`) for its data
    /// sheet, or `none` for data sheets only [default: measured by `ridgeline calibrate` on this device, else its data
    /// sheet]
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
