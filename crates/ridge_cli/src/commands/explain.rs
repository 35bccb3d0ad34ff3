//! `ridgeline explain`: the document of a rule.

use crate::arguments::Globals;
use crate::ending::Ending;
use crate::failure::Failure;
use crate::output::write_stdout;
use clap::Args;
use ridgeline::{RULES, Record, SavingBasis, blind_record_of, did_you_mean, explanation, record_of, rule};
use std::io;

/// Explain a rule of `check`: what it finds, why it matters, how to fix it, and when it is wrong
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ExplainArguments {
    /// The rule's name, as `check` prints it
    rule: String,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline explain defensive-copies     why XLA copies arguments, and what to do
  ridgeline rules                        all rules";

/// Runs the command.
pub(crate) fn run(arguments: &ExplainArguments, globals: &Globals) -> Result<Ending, Failure> {
    let found = rule(&arguments.rule).ok_or_else(|| unknown(&arguments.rule))?;
    let bases = [(SavingBasis::Replay, "replays"), (SavingBasis::ShareOfTime, "its share of the time, on CPUs")];
    let lines = bases.iter().filter_map(|(basis, words)| Some((record_of(found.id, *basis)?, words)));
    let tuned: String = lines.map(|(record, words)| line(record, words)).collect();
    let blind = blind_record_of(found.id).map(|record| format!("\nRecord: {}.\n", record.words()));
    let mut record = blind.unwrap_or_default() + &tuned;
    if record.is_empty() {
        record = "\nRecord: none yet; no pair of programs was measured for it.\n".to_owned();
    }
    let text = format!("{}{record}", explanation(found));
    write_stdout(text.as_bytes(), globals.color.choice(&io::stdout()))?;
    Ok(Ending::Code(0))
}

fn line(record: &Record, words: &str) -> String {
    let pairs = if record.pairs == 1 { "pair" } else { "pairs" };
    format!(
        "\nTuned on {words}: {} {pairs} of programs, predicted/measured {:.2} to {:.2}, median {:.2}.\n",
        record.pairs, record.lowest_ratio, record.highest_ratio, record.median_ratio
    )
}

fn unknown(name: &str) -> Failure {
    unknown_rule(format!("unknown rule `{name}`"), name)
}

/// A usage error about a rule of which there is none, with what may have been meant.
pub(crate) fn unknown_rule(message: String, name: &str) -> Failure {
    let hint = did_you_mean(name, RULES.iter().map(|rule| rule.id));
    Failure::usage(message).hint(hint.unwrap_or_else(|| "`ridgeline rules` lists them".to_owned()))
}
