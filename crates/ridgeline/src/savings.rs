//! The local record: predictions that trials on this machine tested, one a line of a JSON Lines file.
//!
//! It lies in the user's data folder, or where a project says, and is only shown: the intervals of `check` come from the published
//! record, whose pairs anybody can run again.

use crate::ceilings::data_folder;
use crate::experiment::tested_by;
use crate::trial::Tested;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What a line says that it is.
const SCHEMA: &str = "ridgeline.saving.v1";
/// A document of a trial that may be asked, by the beginning of its schema's name.
const TRIAL: &str = "ridgeline.try.v";

/// One result of the local record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LocalSaving {
    /// What the line is.
    pub schema: String,
    /// The trial, by a number of its document, so that none counts twice.
    pub trial: String,
    /// What was tried, in words.
    pub candidate: String,
    /// The prediction and what was measured.
    #[serde(flatten)]
    pub tested: Tested,
}

/// How predictions of one rule did on this machine.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LocalRecord {
    /// Trials.
    pub trials: u64,
    /// Trials without a gain that is certain.
    pub without_gain: u64,
    /// The least and the most of predicted over measured; `None` where no trial gained.
    pub ratios: Option<(f64, f64)>,
}

/// The file of the local record where no other is named: `ridgeline/savings.jsonl` in the user's data folder, which is
/// `$XDG_DATA_HOME`, else `~/.local/share`; `None` where there is no home.
pub fn savings_file() -> Option<PathBuf> {
    Some(data_folder()?.join("ridgeline/savings.jsonl"))
}

/// The results in the text of a local record, and how many lines are none.
pub fn savings_in(text: &str) -> (Vec<LocalSaving>, usize) {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let read = |line: &str| serde_json::from_str::<LocalSaving>(line).ok().filter(|found| found.schema == SCHEMA);
    let found: Vec<LocalSaving> = lines().filter_map(read).collect();
    let other = lines().count() - found.len();
    (found, other)
}

/// A result as a line of the file.
pub fn saving_line(saving: &LocalSaving) -> String {
    // Its keys are texts, so it is always JSON.
    serde_json::to_string(saving).unwrap_or_default() + "\n"
}

/// What the trial or the experiments in `folder` tested.
///
/// # Errors
/// Why there is nothing to record, a sentence without a period.
pub fn savings_of(folder: &Path) -> Result<Vec<LocalSaving>, String> {
    let experiment = folder.join("experiment.json");
    if !experiment.is_file() {
        return saving_of_trial(folder).map(|saving| vec![saving]);
    }
    let text = std::fs::read_to_string(&experiment).map_err(|error| format!("cannot read {error}"))?;
    let document: Value = serde_json::from_str(&text).map_err(|error| format!("the document is damaged: {error}"))?;
    let id = fnv(text.as_bytes());
    let savings = tested_by(&document).into_iter().enumerate().map(|(at, (change, tested))| LocalSaving {
        schema: SCHEMA.to_owned(),
        trial: format!("{id:016x}-{at}"),
        candidate: format!("experiment {change}"),
        tested,
    });
    let savings: Vec<LocalSaving> = savings.collect();
    if savings.is_empty() { Err("the experiments measured no finding".to_owned()) } else { Ok(savings) }
}

fn saving_of_trial(folder: &Path) -> Result<LocalSaving, String> {
    let file = if folder.is_dir() { folder.join("try.json") } else { folder.to_owned() };
    let text =
        std::fs::read_to_string(&file).map_err(|error| format!("cannot read the document of a trial: {error}"))?;
    let document: Value =
        serde_json::from_str(&text).map_err(|error| format!("expected the document of a trial: {error}"))?;
    if !document["schema"].as_str().is_some_and(|schema| schema.starts_with(TRIAL)) {
        return Err("expected the directory of a trial, found another document".to_owned());
    }
    let tested = serde_json::from_value::<Option<Tested>>(document["tested"].clone()).ok().flatten();
    let tested = tested.ok_or("the trial tested no prediction: it didn't resolve exactly one finding")?;
    let sound = [tested.predicted, tested.measured].into_iter().chain(tested.ratio).all(f64::is_finite);
    if !sound {
        return Err("the document of the trial is damaged".to_owned());
    }
    Ok(LocalSaving {
        schema: SCHEMA.to_owned(),
        trial: format!("{:016x}", fnv(text.as_bytes())),
        candidate: document["candidate"].as_str().unwrap_or_default().to_owned(),
        tested,
    })
}

/// How the predictions of the rule called `id` did.
pub fn local_record(all: &[LocalSaving], id: &str) -> LocalRecord {
    let own = all.iter().filter(|saving| saving.tested.rule == id);
    own.fold(LocalRecord::default(), |record, saving| LocalRecord {
        trials: record.trials + 1,
        // What was only bounded predicts no amount that could be missed.
        without_gain: record.without_gain + u64::from(saving.tested.ratio.is_none() && saving.tested.basis != "bound"),
        ratios: match (record.ratios, saving.tested.ratio) {
            (Some((least, most)), Some(ratio)) => Some((least.min(ratio), most.max(ratio))),
            (known, ratio) => known.or(ratio.map(|ratio| (ratio, ratio))),
        },
    })
}

/// FNV-1a with 64 bits (<https://datatracker.ietf.org/doc/html/draft-eastlake-fnv>).
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_becomes_a_line_that_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |text: &str| std::fs::write(folder.path().join("try.json"), text).expect("a file");
        let tested = r#"{"rule":"copies","message":"m","basis":"wall","predicted":0.25,"predicted_low":0.2,"predicted_high":0.3,
            "measured":0.2,"measured_low":0.19,"measured_high":0.21,"ratio":1.25}"#;
        write(&format!(r#"{{"schema":"ridgeline.try.v1","candidate":"patch","tested":{tested}}}"#));
        let first = saving_of_trial(folder.path()).expect("a result");
        let mut other = first.clone();
        (other.trial, other.tested.ratio) = ("2".to_owned(), None);
        let text = saving_line(&first) + "damaged\n" + &saving_line(&other);
        let (read, damaged) = savings_in(&text);
        assert_eq!((&read[..], damaged), (&[first, other][..], 1));
        let record = LocalRecord { trials: 2, without_gain: 1, ratios: Some((1.25, 1.25)) };
        assert_eq!((local_record(&read, "copies"), local_record(&read, "x")), (record, LocalRecord::default()));
        for (text, why) in [
            (r#"{"schema":"ridgeline.try.v1","tested":null}"#, "tested no prediction"),
            (r#"{"schema":"ridgeline.diff.v1"}"#, "another document"),
            ("{}}", "expected the document"),
        ] {
            write(text);
            assert!(saving_of_trial(folder.path()).is_err_and(|said| said.contains(why)), "{why}");
        }
    }
}
