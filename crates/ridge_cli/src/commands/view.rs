//! `ridgeline view`: the capture in the browser.

use crate::arguments::{CeilingsArguments, Globals, InputArguments};
use crate::ending::Ending;
use crate::failure::Failure;
use crate::output::{tell_losses, write_stdout};
use crate::timings::Timings;
use clap::{Args, ValueHint};
use ridge_web::server::{Offer, Server};
use ridge_web::{Page, QueryProgram};
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

/// View a capture in the browser: timeline, tables, causes, memory, source
///
/// Serves one page on this machine only, prints its address and opens it; Ctrl-C ends it. The address contains a token,
/// and requests without it are refused. Nothing is sent anywhere, and only the captures and the program's sources are
/// read. See docs/view.md.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ViewArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Listen on this port [default: any free one]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// Listen on this address: other machines that have the token can then read the capture, unencrypted
    #[arg(long = "bind", alias = "host", value_name = "IP", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,

    /// Compare with this capture: changes from it to the viewed one
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    against: Vec<PathBuf>,

    /// Print the address, but don't open a browser
    #[arg(long)]
    no_open: bool,

    #[command(flatten)]
    ceilings: CeilingsArguments,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline view run/                                  a directory written by `ridgeline record`
  ridgeline view trace.json.gz                         a trace from any tool
  ridgeline view logs/                                 the latest session of a TensorBoard log directory, and the list of all
  ridgeline view after/ --against before/              also the changes between the two
  ridgeline view run/ --port 8080 --no-open            on a machine without a browser; then, on yours:
  ssh -L 8080:localhost:8080 machine                   and open the printed address";

/// Runs the command until Ctrl-C.
pub(crate) fn run(arguments: &ViewArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    if !ridgeline::start_threads() {
        let limit = "the system allows this user no more threads: `ulimit -u`, or a container's limit";
        return Err(Failure::failed("the server could not start a thread").hint(limit));
    }
    let session = super::open_with(&arguments.input, arguments.ceilings.choice(), timings)?;
    tell_losses(session.notes());
    let mut offer =
        Offer { sessions: Vec::new(), options: super::options(&arguments.input, arguments.ceilings.choice()) };
    arguments.input.paths.iter().for_each(|path| offer.sessions.extend(told_sessions(path)));
    let page = Page::new(session)
        .of(&arguments.input.paths)
        .against(&arguments.against)
        .querying(query_program(&arguments.input));
    let server = Server::bind(page, offer, arguments.host, arguments.port)
        .map_err(|error| Failure::io(&format!("cannot listen at {}", place(arguments)), &error))?;
    let address = server.address();
    let color = globals.color.choice(&io::stdout());
    write_stdout(format!("{address}\n").as_bytes(), color)?;
    if !arguments.host.is_loopback() {
        tell("warning: other machines can reach this address; anyone with the token can read the capture");
    }
    if !arguments.no_open && open::that_detached(&address).is_err() {
        tell("note: no browser could be opened; open the address above");
    }
    tell("Ctrl-C ends it");
    timings.phase("serve", || server.run()).map_err(|error| Failure::io("cannot serve the page", &error))?;
    Ok(Ending::Code(0))
}

/// What answers SQL on the page, opening captures as this command does; `None` where it is not installed.
fn query_program(input: &InputArguments) -> Option<QueryProgram> {
    Some(QueryProgram::new(super::query::program()?).reading(input.read_as.clone(), input.max_unpacked))
}

fn place(arguments: &ViewArguments) -> String {
    match arguments.port {
        0 => arguments.host.to_string(),
        port => format!("{}:{port}", arguments.host),
    }
}

/// Which sessions a log directory of TensorBoard has, where there are several: the last of each profile's is shown first.
fn told_sessions(path: &Path) -> Vec<PathBuf> {
    let sessions = if path.is_dir() { ridgeline::sessions_below(path) } else { Vec::new() };
    if let Some((latest, others)) = sessions.split_last() {
        tell(&format!(
            "{} sessions in {}, showing {}; the page lists the others:",
            sessions.len(),
            shown(path),
            shown(latest)
        ));
        others.iter().for_each(|session| tell(&format!("  ridgeline view {}", shown(session))));
    }
    sessions
}

fn shown(path: &Path) -> String {
    ridge_report::escape_controls(&path.display().to_string()).into_owned()
}

/// Where standard error is closed nobody wants to know.
fn tell(line: &str) {
    let _ = writeln!(anstream::stderr(), "{line}");
}
