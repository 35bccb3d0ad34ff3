//! What of a capture is needed to compare it: small, owned, and written to a file as it is.

use crate::causes::FoundCause;
use crate::place::Place;
use ridge_documents::Document;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A capture, ready to be compared. Times are nanoseconds, summed over steps and devices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// [`Document::SCHEMA`].
    pub schema: String,
    /// What it was opened as.
    pub name: String,
    /// Where it is from.
    pub origin: Origin,
    /// What times are given per; `None` where nothing that can be compared was recorded.
    pub unit: Option<Unit>,
    /// Steps, captures or runs, summed over the devices that worked.
    pub units: u64,
    /// Devices that worked.
    pub devices: u64,
    /// The time that is compared.
    pub whole_ns: i64,
    /// The part of it in which devices worked.
    pub busy_ns: i64,
    /// Its stretches in order; one where nothing repeats.
    pub stretches: Vec<Part>,
    /// Without steps: by what part the speed of like work differed between stretches of the run, as a standard deviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wavering: Option<f64>,
    /// The time of each step or run in order, of the process that has most of them.
    pub periods_ns: Vec<i64>,
    /// What the time went to; adds up to [`Summary::whole_ns`] but for what nothing explains.
    pub items: Vec<Item>,
    /// Other numbers.
    pub measures: Vec<Measure>,
    /// What `check` finds; `None` where it was not asked.
    pub findings: Option<Vec<FoundCause>>,
    /// Records that are lost, in words.
    pub lost: Vec<String>,
}

/// Some successive steps, or one run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Steps, summed over the devices.
    pub units: u64,
    /// Their time, summed over the devices, nanoseconds.
    pub ns: i64,
}

/// What times are given per.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// A step that the program marked.
    Step,
    /// The capture, less its start-up.
    Capture,
    /// One run of every operation of a suite.
    Suite,
}

impl Unit {
    /// The name in text and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Step => "step",
            Unit::Capture => "capture",
            Unit::Suite => "suite",
        }
    }
}

/// Where a capture is from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Origin {
    /// Names of the formats that it was read from.
    pub formats: Vec<String>,
    /// The devices that worked.
    pub devices: Vec<DeviceSeen>,
    /// Versions of languages, libraries and drivers by name.
    pub versions: BTreeMap<String, String>,
    /// What was asked of the recorder.
    pub options: BTreeMap<String, String>,
    /// The processor's model.
    pub processor: Option<String>,
    /// What the program calls its steps.
    pub step_name: Option<String>,
    /// Whether it is all of a program that ran to its end, so that it holds as much work as the program has.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_whole_program: bool,
}

/// A device that worked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceSeen {
    /// Its model, or its plane where the capture does not say one.
    pub model: String,
    /// Whether it is the host's own processor.
    pub is_processor: bool,
    /// Core clock as the capture says it, kHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_khz: Option<u64>,
}

/// What a part of the time went to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An operation or kernel of a device.
    Work,
    /// A copy or a memory set.
    Copy,
    /// Nothing ran.
    Idle,
}

/// Like work, or idle time of one cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// What it is.
    pub kind: Kind,
    /// The operation that has most of it, the kind of copy, or the cause of idleness.
    pub name: String,
    /// Operations in it that are alike.
    #[serde(default)]
    pub operations: u64,
    /// The compiled program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// What two operations of one structure share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structure: Option<u64>,
    /// Name of the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// How the kernel was launched: grid and block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch: Option<String>,
    /// What kind of work it is, or what the host did.
    #[serde(default)]
    pub category: String,
    /// The line that it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Of idle time: name of what the host did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub during: Option<String>,
    /// Bytes that were copied or set.
    #[serde(default)]
    pub bytes: u64,
    /// Events that began in the time, or stretches of idle time.
    #[serde(default)]
    pub events: u64,
    /// How much of the time it has.
    pub ns: i64,
    /// The same by stretch of [`Summary::stretches`].
    #[serde(default)]
    pub stretches: Vec<i64>,
}

/// A number beside the partition of the time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Its name in JSON.
    pub key: String,
    /// Its name for people.
    pub title: String,
    /// `ns`, `bytes` or `count`.
    pub unit: String,
    /// What it belongs to: `memory`, `compile`, `copy`, `clock` or `work`.
    pub about: String,
    /// The number, per step where it is of steps.
    pub value: f64,
}

impl Default for Summary {
    fn default() -> Summary {
        Summary {
            schema: Summary::SCHEMA.to_owned(),
            name: String::new(),
            origin: Origin::default(),
            unit: None,
            units: 0,
            devices: 0,
            whole_ns: 0,
            busy_ns: 0,
            stretches: Vec::new(),
            wavering: None,
            periods_ns: Vec::new(),
            items: Vec::new(),
            measures: Vec::new(),
            findings: None,
            lost: Vec::new(),
        }
    }
}

impl Item {
    /// One of this kind and name, of which nothing else is known.
    pub(crate) fn named(kind: Kind, name: &str) -> Item {
        Item {
            kind,
            name: name.to_owned(),
            operations: 0,
            module: None,
            structure: None,
            kernel: None,
            launch: None,
            category: String::new(),
            place: None,
            during: None,
            bytes: 0,
            events: 0,
            ns: 0,
            stretches: Vec::new(),
        }
    }
}

impl Document for Summary {
    const SCHEMA: &'static str = "ridgeline.summary.v1";
    const MAX_BYTES: u64 = 64 << 20;
}

/// Several runs of one side in one file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summaries {
    /// [`Document::SCHEMA`].
    pub schema: String,
    /// The runs.
    pub runs: Vec<Summary>,
}

impl Document for Summaries {
    const SCHEMA: &'static str = "ridgeline.summaries.v1";
    const MAX_BYTES: u64 = Summary::MAX_BYTES;
}

/// Runs of one side at most.
pub const MOST_RUNS: usize = 256;

impl Summaries {
    /// The runs of a file, whose numbers anybody may have written.
    pub fn sound(self) -> Vec<Summary> {
        self.runs.into_iter().take(MOST_RUNS).map(Summary::sound).collect()
    }
}

/// Findings, measures and devices of a summary at most: they are compared each with each, and `check` knows fewer rules.
const MOST_FINDINGS: usize = 512;
/// Stretches of a summary at most: no summary of ours has more, or as many rounds of a benchmark.
const MOST_STRETCHES: usize = 4096;

impl Summary {
    /// A summary from a file, whose numbers anybody may have written: what is more than any summary has goes, and is said to
    /// be lost.
    pub fn sound(mut self) -> Summary {
        let items = self.items.len();
        self.items.retain(|item| item.ns >= 0 && item.stretches.len() <= MOST_STRETCHES);
        let causes = self.findings.as_ref().map_or(0, Vec::len);
        let longest = [causes, self.measures.len(), self.origin.devices.len()].into_iter().max().unwrap_or(0);
        let is_sound = items == self.items.len()
            && longest <= MOST_FINDINGS
            && self.stretches.len() <= MOST_STRETCHES
            && self.whole_ns >= self.busy_ns
            && self.busy_ns >= 0;
        if !is_sound {
            self.findings.iter_mut().for_each(|causes| causes.truncate(MOST_FINDINGS));
            self.measures.truncate(MOST_FINDINGS);
            self.origin.devices.truncate(MOST_FINDINGS);
            self.stretches.truncate(MOST_STRETCHES);
            self.lost.push("the file of its summary is not a summary".to_owned());
        }
        self
    }
}

impl Summary {
    /// Whether all devices that worked are processors of the host.
    pub(crate) fn is_on_processors(&self) -> bool {
        self.origin.devices.iter().all(|device| device.is_processor)
    }
}
