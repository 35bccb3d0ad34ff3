//! Where answers go and in which form.
//!
//! Files are written beside their target and renamed, so that a reader never sees half of one.

use crate::arguments::{Globals, OutputArguments, TextLayout};
use crate::failure::Failure;
use crate::format::Format;
use anstream::{AutoStream, ColorChoice};
use ridge_report::terminal::{Definitions, Glyphs, Layout, Theme};
use ridge_report::{Listing, Report, arrow, csv, escape_controls_in_text, json, markdown, note_line, terminal};
use ridgeline::{Note, Severity};
use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write};
use std::path::Path;

/// Width where standard output is no terminal and none was asked.
const USUAL_WIDTH: usize = 120;
/// Below this nothing useful fits.
const LEAST_WIDTH: usize = 20;

/// Writes `report` in the form and to the place that `output` says.
pub(crate) fn deliver(report: &Report, output: &OutputArguments, globals: &Globals) -> Result<(), Failure> {
    match output.format {
        Format::Table => deliver_table(report, output, globals),
        Format::Json => write(output, json::stats(report).as_bytes()),
        Format::Markdown => write(output, markdown::render(report).as_bytes()),
        Format::Csv => {
            tell_losses(&report.notes);
            write(output, csv::table(only(report)).as_bytes())
        }
        Format::Arrow => {
            tell_losses(&report.notes);
            deliver_arrow(only(report), output)
        }
    }
}

/// [`deliver`], with a drawing between the sections and the tables where the form is for a terminal.
pub(crate) fn deliver_drawn(
    report: &Report,
    draw: impl Fn(&Layout) -> String,
    output: &OutputArguments,
    globals: &Globals,
) -> Result<(), Failure> {
    let above = Report { tables: Vec::new(), ..report.clone() };
    let below = Report { tables: report.tables.clone(), ..Report::EMPTY };
    let parts =
        |layout: &Layout| vec![terminal::render(&above, layout), draw(layout), terminal::render(&below, layout)];
    deliver_parts(report, parts, output, globals)
}

/// [`deliver`], with `follow` after everything else where the form is for a terminal.
pub(crate) fn deliver_followed(
    report: &Report,
    follow: impl Fn(&Layout) -> String,
    output: &OutputArguments,
    globals: &Globals,
) -> Result<(), Failure> {
    deliver_parts(report, |layout| vec![terminal::render(report, layout), follow(layout)], output, globals)
}

/// [`deliver`], with `parts` one below the other in its place where the form is for a terminal.
fn deliver_parts(
    report: &Report,
    parts: impl Fn(&Layout) -> Vec<String>,
    output: &OutputArguments,
    globals: &Globals,
) -> Result<(), Failure> {
    if output.format != Format::Table {
        return deliver(report, output, globals);
    }
    let render = |layout: &Layout| {
        let mut parts = parts(layout);
        parts.retain(|part| !part.is_empty());
        parts.join("\n")
    };
    deliver_rendered(render, output, globals)
}

/// Writes `drawing`, an SVG, to the files that were asked for.
pub(crate) fn write_drawing(drawing: &str, svg: Option<&Path>, png: Option<&Path>) -> Result<(), Failure> {
    if let Some(path) = svg {
        write_file(path, drawing.as_bytes())?;
    }
    if let Some(path) = png {
        write_file(path, &picture(drawing).map_err(|failure| failure.at(path))?)?;
    }
    Ok(())
}

/// `drawing` as the bytes of a PNG file.
#[cfg(feature = "png")]
fn picture(drawing: &str) -> Result<Vec<u8>, Failure> {
    ridge_report::png(drawing).map_err(|error| Failure::failed(error.to_string()))
}

/// `drawing` cannot become a picture in this build.
#[cfg(not(feature = "png"))]
fn picture(_drawing: &str) -> Result<Vec<u8>, Failure> {
    Err(Failure::failed("this build of ridgeline cannot draw PNGs")
        .hint("use `--svg`, or build with the feature `png`"))
}

/// Writes `text`, which may hold anything a capture holds, and ends its last line.
///
/// A terminal gets it with controls made visible.
pub(crate) fn deliver_text(text: &str, output: &OutputArguments) -> Result<(), Failure> {
    let mut shown = if to_terminal(output) { escape_controls_in_text(text) } else { Cow::Borrowed(text) };
    if !shown.ends_with('\n') {
        shown.to_mut().push('\n');
    }
    write(output, shown.as_bytes())
}

/// Writes JSON, which is safe everywhere.
pub(crate) fn deliver_json(text: &str, output: &OutputArguments) -> Result<(), Failure> {
    write(output, text.as_bytes())
}

/// Commands ask for one table before they open anything, so exactly one is here.
fn only(report: &Report) -> &Listing {
    report.tables.first().expect("expected one table")
}

fn deliver_table(report: &Report, output: &OutputArguments, globals: &Globals) -> Result<(), Failure> {
    deliver_rendered(|layout| terminal::render(report, layout), output, globals)
}

/// Writes what `render` makes of a layout: in color to a terminal, plain to a file.
fn deliver_rendered(
    render: impl Fn(&Layout) -> String,
    output: &OutputArguments,
    globals: &Globals,
) -> Result<(), Failure> {
    deliver_checked(render, output.text.output.as_deref(), &output.text.layout, globals)
}

/// The same for a command that has forms of its own: `to` a file or standard output, with a width and in ASCII where asked for.
pub(crate) fn deliver_checked(
    render: impl Fn(&Layout) -> String,
    to: Option<&Path>,
    asked: &TextLayout,
    globals: &Globals,
) -> Result<(), Failure> {
    let layout = layout_of(asked, globals);
    let text = render(&layout);
    match to {
        None => write_stdout(text.as_bytes(), globals.color.choice(&io::stdout())),
        Some(path) => {
            let plain = Layout { theme: Theme::PLAIN, ..layout };
            let text = if globals.color.is_always() { text } else { render(&plain) };
            write_file(path, text.as_bytes())
        }
    }
}

/// How text is laid out on standard error, which is as wide as standard output.
pub(crate) fn layout_of_notes(globals: &Globals) -> Layout {
    layout_of(&TextLayout::default(), globals)
}

fn layout_of(asked: &TextLayout, globals: &Globals) -> Layout {
    Layout {
        width: asked.width.unwrap_or_else(terminal_width).max(LEAST_WIDTH),
        glyphs: if asked.ascii { Glyphs::Ascii } else { Glyphs::Unicode },
        theme: Theme::COLOR,
        definitions: if globals.verbose { Definitions::Shown } else { Definitions::Hidden },
    }
}

fn terminal_width() -> usize {
    let asked = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let real = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    real.filter(|&width| width > 0).or_else(asked).unwrap_or(USUAL_WIDTH)
}

fn deliver_arrow(listing: &Listing, output: &OutputArguments) -> Result<(), Failure> {
    if to_terminal(output) {
        return Err(Failure::usage("expected a file or a pipe for Arrow data, found a terminal")
            .hint("write it to a file with `-o FILE`, or pipe it to a program"));
    }
    let bytes = if output.text.output.is_some() { arrow::file(listing) } else { arrow::stream(listing) };
    let bytes = bytes.map_err(|error| Failure::failed(format!("cannot encode the table as Arrow: {error}")))?;
    write(output, &bytes)
}

/// Forms that hold nothing but a table cannot say what was lost; standard error can.
pub(crate) fn tell_losses(notes: &[Note]) {
    let severe = notes.iter().filter(|note| note.severity != Severity::Info);
    let text: String = severe.map(|note| note_line(note) + "\n").collect();
    // Where standard error is closed nobody wants to know.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

fn to_terminal(output: &OutputArguments) -> bool {
    output.text.output.is_none() && io::stdout().is_terminal()
}

fn write(output: &OutputArguments, bytes: &[u8]) -> Result<(), Failure> {
    match &output.text.output {
        None => write_stdout(bytes, ColorChoice::AlwaysAnsi),
        Some(path) => write_file(path, bytes),
    }
}

/// Writes `bytes` to standard output as they are, or without styles where `color` says so.
pub(crate) fn write_stdout(bytes: &[u8], color: ColorChoice) -> Result<(), Failure> {
    let mut stdout = AutoStream::new(io::stdout().lock(), color);
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    written.map_err(|error| Failure::io("cannot write to standard output", &error))
}

/// Writes `bytes` to `path`, which is replaced at once or not at all.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    ridge_files::write(path, bytes).map_err(|error| Failure::io("cannot write the output", &error).at(path))
}

/// Has `write` fill the file at `path`, or standard output for `-`, without holding it all in memory.
pub(crate) fn write_streamed(
    path: &Path,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    if path == Path::new("-") {
        return write(&mut io::stdout().lock()).map_err(|error| Failure::io("cannot write to standard output", &error));
    }
    let written = ridge_files::replace(path, |file| write(file));
    written.map_err(|error| Failure::io("cannot write the output", &error).at(path))
}
