//! `ridgeline query`: SQL over captures, by a program of its own.
//!
//! The engine is four times as large as everything else here, so it is not linked in: the program `ridgeline-query` is looked
//! for beside this one and then on the path, as cargo finds its subcommands. With `--scheduler`, `ridgeline-fleet` answers.

use crate::ending::Ending;
use crate::failure::Failure;
use crate::output::write_stdout;
use anstream::ColorChoice;
use clap::{Args, Command as CommandLine};
use ridge_record::{find_program, search_path};
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program that answers.
const PROGRAM: &str = "ridgeline-query";
/// The program that has executors answer, and the option that asks for it.
const FLEET_PROGRAM: &str = "ridgeline-fleet";
const SCHEDULER: &str = "--scheduler";

/// Query captures with SQL; runs `ridgeline-query`, which is installed separately
///
/// Tables include the tables of other commands (op, kernel, idle.gap), all recorded data (raw.event), and the tables of
/// Perfetto, Nsight Systems and rocpd. `ridgeline query --help` lists the options; see docs/query.md.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_long_help = EXAMPLES)]
pub(crate) struct QueryArguments {
    /// Captures, the query and options, passed to `ridgeline-query`
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline query run/ 'select op, self_ns from op limit 5'
  ridgeline query run/ 'select name, sum(dur) from slice group by 1 order by 2 desc limit 10'
  ridgeline query --each node*/run 'select host, count(*) from event group by host'
  ridgeline query --scheduler 10.0.0.1:50050 /shared/node*/run 'select count(*) from event'
  ridgeline query run/ --tables";

/// Runs the command; `command_line` has its help for those who have not installed it.
pub(crate) fn run(
    QueryArguments { arguments }: &QueryArguments,
    command_line: &mut CommandLine,
) -> Result<Ending, Failure> {
    if on_executors(arguments) {
        let Some(program) = found(FLEET_PROGRAM) else { return Err(fleet_not_installed()) };
        return Err(replaced_by(Command::new(&program).arg("query").args(arguments), &program));
    }
    let Some(program) = program() else {
        if arguments.first().is_some_and(|first| first == "--help" || first == "-h") {
            command_line.build();
            let own = command_line.find_subcommand_mut("query").map(CommandLine::render_long_help);
            write_stdout(own.map(|help| help.to_string()).unwrap_or_default().as_bytes(), ColorChoice::AlwaysAnsi)?;
            return Ok(Ending::Code(0));
        }
        return Err(
            not_installed().hint("`ridgeline export PATH --to parquet -o tables/` writes the same tables for DuckDB")
        );
    };
    Err(replaced_by(Command::new(&program).args(arguments), &program))
}

/// Whether the executors of a cluster shall answer.
fn on_executors(arguments: &[OsString]) -> bool {
    let mut options = arguments.iter().take_while(|word| *word != "--").filter_map(|word| word.to_str());
    options.any(|word| word.strip_prefix(SCHEDULER).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')))
}

/// Lets the program compare the hosts of a dataset, in the form `format` or as the page `html`; the failure where it cannot.
pub(crate) fn compare_hosts(paths: &[PathBuf], format: &str, html: Option<&Path>) -> Failure {
    let Some(program) = program() else { return not_installed() };
    let mut command = Command::new(&program);
    command.args(paths).args(["--fleet", "--format", format]);
    if let Some(html) = html {
        command.arg("--html").arg(html);
    }
    replaced_by(&mut command, &program)
}

/// Lets the program send the parts of the dataset in `folder` to the one at `address`.
pub(crate) fn put_in_bucket(folder: &Path, address: &Path) -> Result<(), Failure> {
    let Some(program) = program() else { return Err(not_installed()) };
    let ended = Command::new(&program).arg("--put").arg(folder).arg(address).stdout(Stdio::null()).status();
    match ended {
        Ok(status) if status.success() => Ok(()),
        // It has said why.
        Ok(_) => Err(Failure::failed("the part was not sent").at(address)),
        Err(error) => Err(Failure::io("cannot run the program", &error).at(&program)),
    }
}

/// Where the program is: beside this one, else on the path.
pub(crate) fn program() -> Option<PathBuf> {
    found(PROGRAM)
}

fn found(program: &str) -> Option<PathBuf> {
    let beside = env::current_exe().ok().and_then(|own| own.parent().map(Path::to_owned));
    // A relative folder of the path would find what lies in the directory of a stranger's capture.
    let folders = beside.into_iter().chain(search_path()).filter(|folder| folder.is_absolute());
    find_program(Path::new(program), folders)
}

fn not_installed() -> Failure {
    Failure::failed(format!("`{PROGRAM}` is neither next to `ridgeline` nor on PATH"))
        .hint("`make query` in a checkout builds it; `cargo install --path query` installs it")
}

fn fleet_not_installed() -> Failure {
    Failure::failed(format!("`{FLEET_PROGRAM}` is neither next to `ridgeline` nor on PATH"))
        .hint("in a checkout, `cargo build --manifest-path query/Cargo.toml --profile dist --features fleet` builds it")
}

/// Lets `command` take the place of this process, with its signals and its exit status; the failure where it cannot.
fn replaced_by(command: &mut Command, program: &Path) -> Failure {
    use std::os::unix::process::CommandExt as _;
    let error = command.exec();
    Failure::io("cannot run the program", &error).at(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executors_answer_where_their_scheduler_is_named() {
        let asked = |words: &[&str]| on_executors(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(
            asked(&["run/", "select 1", "--scheduler", "10.0.0.1:50050"]) && asked(&["--scheduler=10.0.0.1:50050"])
        );
        assert!(!asked(&["run/", "--schedulers"]) && !asked(&["run/", "--", "--scheduler"]));
    }
}
