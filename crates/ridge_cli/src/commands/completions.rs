//! `ridgeline completions`: scripts that complete commands, options and their values in a shell.

use crate::ending::Ending;
use crate::failure::Failure;
use crate::output::write_stdout;
use anstream::ColorChoice;
use clap::{Args, Command};
use clap_complete::Shell;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline completions bash > ~/.local/share/bash-completion/completions/ridgeline
  ridgeline completions zsh > ~/.zfunc/_ridgeline          with ~/.zfunc in $fpath
  ridgeline completions fish > ~/.config/fish/completions/ridgeline.fish
  ridgeline completions powershell >> $PROFILE";

/// Runs the command: completes what `command_line` takes.
pub(crate) fn run(arguments: &CompletionsArguments, command_line: &mut Command) -> Result<Ending, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, command_line, "ridgeline", &mut script);
    write_stdout(&script, ColorChoice::AlwaysAnsi)?;
    Ok(Ending::Code(0))
}
