//! `ridgeline mcp`: the answers for agents, over the Model Context Protocol.

use crate::arguments::Globals;
use crate::ending::Ending;
use crate::failure::Failure;
use clap::Args;
use std::io;

/// Serve captures to an agent over the Model Context Protocol, on standard input and output
///
/// Eight read-only tools: open, findings, explain, table, diff, what_if, source, next. A reply has at most 8000
/// characters unless the agent requests more; omissions are counted. See docs/agents.md for how to register it.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct McpArguments {}

const EXAMPLES: &str = "\
Examples:
  ridgeline mcp                                 serve until standard input ends
  claude mcp add ridgeline -- ridgeline mcp     register it with Claude Code
  codex mcp add ridgeline -- ridgeline mcp      register it with Codex";

/// Runs the command.
pub(crate) fn run(McpArguments {}: &McpArguments, _globals: &Globals) -> Result<Ending, Failure> {
    ridgeline::start_threads();
    let served = ridge_mcp::serve(io::stdin().lock(), io::stdout().lock());
    served.map_err(|error| Failure::io("cannot continue the conversation", &error))?;
    Ok(Ending::Code(0))
}
