//! `ridgeline reference`, hidden: the command line's reference page, `docs/cli.md`, from the same texts as `--help`.

use crate::ending::Ending;
use crate::failure::Failure;
use crate::output::write_stdout;
use anstream::ColorChoice;
use clap::{Args, Command};

/// Print the command line's reference page as Markdown
#[derive(Debug, Args)]
pub(crate) struct ReferenceArguments {}

const HEAD: &str = "\
# Command line

This page is made by `ridgeline reference` from the program's own help; do not edit it by hand.
";

/// Runs the command: writes the page of `command_line`.
pub(crate) fn run(command_line: Command) -> Result<Ending, Failure> {
    write_stdout(page(command_line).as_bytes(), ColorChoice::AlwaysAnsi)?;
    Ok(Ending::Code(0))
}

/// The page of `command_line`: the long help of each command.
pub(crate) fn page(command_line: Command) -> String {
    let mut root = command_line.term_width(100);
    root.build();
    let mut page = HEAD.to_owned();
    section(&mut page, &mut root);
    let names: Vec<String> = visible(&root).map(|command| command.get_name().to_owned()).collect();
    for name in names {
        section(&mut page, root.find_subcommand_mut(&name).expect("the name was just listed"));
    }
    page
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set())
}

fn section(page: &mut String, command: &mut Command) {
    let title = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
    let help = command.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    page.push_str(&format!("\n## {title}\n\n```text\n{}\n```\n", lines.join("\n").trim_end()));
}
