//! `ridgeline rules`: every rule of `check`, with the record of its predictions.

use crate::Ending;
use crate::arguments::{Globals, OutputArguments};
use crate::failure::Failure;
use crate::output::deliver;
use clap::Args;
use ridge_report::{Listing, Report};
use ridgeline::{Basis, Columns, Find, RULES, Record, Rule, SavingBasis, record_of};

/// List the rules of `check` and how accurate their predictions have been
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct RulesArguments {
    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline rules                        every rule and its record
  ridgeline rules -f json                for programs
  ridgeline explain RULE                 what one of them finds and how to fix it";

/// Runs the command.
pub(crate) fn run(arguments: &RulesArguments, globals: &Globals) -> Result<Ending, Failure> {
    let table = Columns::over(RULES)
        .text("rule", "Rule", "name for `--select`, `--ignore` and `explain`", |rule: &&Rule| rule.id.to_owned())
        .key()
        .text("group", "Group", "what it is about", |rule: &&Rule| rule.group.name().to_owned())
        .text("finds", "Finds", "what it finds", |rule: &&Rule| rule.summary.to_owned())
        .text("kind", "Kind", "whether it judges the capture or the program", |rule: &&Rule| {
            let judges = matches!(rule.find, Find::Doubts(_));
            if judges { "doubt" } else { "cause" }.to_owned()
        })
        .count("pairs", "Pairs", "pairs of programs that were measured", Basis::Measured, |rule: &&Rule| {
            record(rule).map(|record| u64::from(record.pairs))
        })
        .text("ratio", "Predicted/measured", "least and most of predicted over measured savings", |rule: &&Rule| {
            record(rule).map(|record| format!("{:.2} to {:.2}", record.lowest_ratio, record.highest_ratio))
        })
        .table("rules", "Rules");
    let report = Report { tables: vec![Listing::whole(table)], ..Report::EMPTY };
    deliver(&report, &arguments.output, globals)?;
    Ok(Ending::Code(0))
}

/// The rule's record: of replays, else of parts of the time on processors.
fn record(rule: &Rule) -> Option<&'static Record> {
    record_of(rule.id, SavingBasis::Replay).or_else(|| record_of(rule.id, SavingBasis::Wall))
}
