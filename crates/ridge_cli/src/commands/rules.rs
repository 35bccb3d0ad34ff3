//! `ridgeline rules`: every rule of `check`, with the record of its predictions.

use crate::arguments::{Globals, OutputArguments};
use crate::ending::Ending;
use crate::failure::Failure;
use crate::output::{deliver, write_file};
use clap::{Args, ValueHint};
use ridge_report::Report;
use ridgeline::{
    Basis, Columns, Find, LocalSaving, RULES, Record, Rule, SavingBasis, Table, blind_record_of, local_record,
    record_of, saving_line, savings_file, savings_in, savings_of,
};
use serde::Deserialize;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What a project wants, where there is such a file.
const CONFIG: &str = "ridgeline.toml";

/// List the rules of `check` and how accurate their predictions have been
///
/// The record comes from public pairs of programs. `--add-trial` adds what `ridgeline try` measured on this
/// machine, which is shown next to it as local. It is kept in $XDG_DATA_HOME/ridgeline/savings.jsonl, else
/// ~/.local/share/ridgeline/savings.jsonl, or in the file named by `record` in the table `[rules]` of ridgeline.toml.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct RulesArguments {
    /// Add what the trials in these directories tested to the local record
    #[arg(long = "add-trial", alias = "record", value_name = "TRIAL", value_hint = ValueHint::DirPath, num_args = 1..)]
    record: Vec<PathBuf>,

    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline rules                        every rule and its record
  ridgeline rules -f json                for programs
  ridgeline rules --add-trial tried/        add what `ridgeline try -o tried/` measured to the local record
  ridgeline explain RULE                 what one of them finds and how to fix it";

/// Runs the command.
pub(crate) fn run(arguments: &RulesArguments, globals: &Globals) -> Result<Ending, Failure> {
    let file = local_file()?;
    let mut text = match file.as_ref().map(fs::read_to_string) {
        None => String::new(),
        Some(Ok(text)) => text,
        Some(Err(error)) if error.kind() == ErrorKind::NotFound => String::new(),
        Some(Err(error)) => {
            return Err(Failure::io("cannot read the local record", &error).at(&file.unwrap_or_default()));
        }
    };
    if !arguments.record.is_empty() {
        let file = file.ok_or_else(|| {
            Failure::failed("there is no directory to store the local record in").hint("set XDG_DATA_HOME")
        })?;
        add(&arguments.record, &file, &mut text)?;
    }
    let (local, damaged) = savings_in(&text);
    if damaged > 0 {
        anstream::eprintln!("ridgeline: lines of the local record that cannot be read: {damaged}");
    }
    let tables = super::listed(vec![listing(&local)], usize::MAX, &arguments.output)?;
    deliver(&Report { tables, ..Report::EMPTY }, &arguments.output, globals)?;
    Ok(Ending::Code(0))
}

/// Adds what the trial or the experiments in `folder` tested to the local record.
pub(super) fn keep(folder: &Path) -> Result<(), Failure> {
    let Some(file) = local_file()? else { return Ok(()) };
    let mut text = fs::read_to_string(&file).unwrap_or_default();
    add(&[folder.to_owned()], &file, &mut text)
}

/// Adds what the trials tested to the text of the local record, and writes it; a trial counts once.
fn add(trials: &[PathBuf], file: &Path, text: &mut String) -> Result<(), Failure> {
    let (known, _) = savings_in(text);
    let mut added = Vec::new();
    for folder in trials {
        for saving in savings_of(folder).map_err(|why| Failure::failed(why).at(folder))? {
            let is_known = known.iter().chain(&added).any(|other: &LocalSaving| other.trial == saving.trial);
            if is_known {
                anstream::eprintln!("ridgeline: {} is in the local record already", folder.display());
            } else {
                added.push(saving);
            }
        }
    }
    if added.is_empty() {
        return Ok(());
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    added.iter().for_each(|saving| text.push_str(&saving_line(saving)));
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(|error| Failure::io("cannot create the directory", &error).at(folder))?;
    }
    write_file(file, text.as_bytes())?;
    anstream::eprintln!("ridgeline: added to {}: {}", file.display(), added.len());
    Ok(())
}

/// What a project wants of `rules`, the table `[rules]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Config {
    /// The file of the local record.
    record: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ConfigFile {
    rules: Config,
}

/// The file of the local record: the project's, else the user's.
fn local_file() -> Result<Option<PathBuf>, Failure> {
    let at = Path::new(CONFIG);
    let found: ConfigFile = match fs::read_to_string(at) {
        Ok(text) => toml::from_str(&text).map_err(|error| Failure::failed(error.message().to_owned()).at(at))?,
        Err(error) if error.kind() == ErrorKind::NotFound => ConfigFile::default(),
        Err(error) => return Err(Failure::io("cannot read the configuration", &error).at(at)),
    };
    Ok(found.rules.record.or_else(savings_file))
}

/// The rules, with their local record where there is one.
fn listing(local: &[LocalSaving]) -> Table {
    let has_local = !local.is_empty();
    let columns = Columns::over(RULES)
        .text("rule", "Rule", "name for `--select`, `--ignore` and `explain`", |rule: &&Rule| rule.id.to_owned())
        .key()
        .text("group", "Group", "its subject: a doubt about the capture, or a cause in the program", |rule: &&Rule| rule.group.name().to_owned())
        .text("finds", "Finds", "what it finds", |rule: &&Rule| rule.summary.to_owned())
        .text("kind", "Kind", "whether it judges the capture or the program", |rule: &&Rule| {
            let judges = matches!(rule.find, Find::Doubts(_));
            if judges { "doubt" } else { "cause" }.to_owned()
        })
        .text("blind", "Blind", "pairs written without knowledge of the rule in which it was the right cause, and least and most of predicted over measured savings there", |rule: &&Rule| {
            blind_record_of(rule.id).map(|record| record.words().trim_start_matches("blind: ").to_owned())
        })
        .count("pairs", "Tuned pairs", "pairs of programs that the rule was tuned on; they don't predict its accuracy on others", Basis::Measured, |rule: &&Rule| {
            record(rule).map(|record| u64::from(record.pairs))
        })
        .text("ratio", "Predicted/measured, tuned", "smallest and largest predicted/measured saving of those", |rule: &&Rule| {
            record(rule).map(|record| format!("{:.2} to {:.2}", record.lowest_ratio, record.highest_ratio))
        });
    let columns = if has_local { with_local(columns, local) } else { columns };
    columns.table("rules", "Rules")
}

/// What trials on this machine showed; text tells it from the published record.
fn with_local<'r>(columns: Columns<'r, &'static Rule>, local: &[LocalSaving]) -> Columns<'r, &'static Rule> {
    let of = |rule: &&Rule| Some(local_record(local, rule.id)).filter(|record| record.trials > 0);
    columns
        .count(
            "local_trials",
            "Local",
            "trials on this machine that tested it, as `--record` kept them",
            Basis::Measured,
            |rule| of(rule).map(|record| record.trials),
        )
        .text(
            "local_ratio",
            "Predicted/measured, local",
            "smallest and largest predicted/measured saving of those",
            |rule| {
                of(rule).map(|record| match record.ratios {
                    Some((least, most)) if record.without_gain == 0 => format!("{least:.2} to {most:.2}"),
                    Some((least, most)) => format!("{least:.2} to {most:.2}, {} without gain", record.without_gain),
                    None => "no gain".to_owned(),
                })
            },
        )
}

/// The rule's record: of replays, else of parts of the time on processors.
fn record(rule: &Rule) -> Option<&'static Record> {
    record_of(rule.id, SavingBasis::Replay).or_else(|| record_of(rule.id, SavingBasis::ShareOfTime))
}
