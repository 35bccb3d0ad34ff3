//! What was taken out, counted.

use std::collections::BTreeMap;

/// A kind of private thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// The name of a machine.
    HostName,
    /// The name of a person's account.
    UserName,
    /// The path of a home folder.
    HomeFolder,
    /// A token, password or key.
    Secret,
    /// A block of environment variables, or of a machine's installation.
    Environment,
    /// A command line.
    CommandLine,
    /// The name of a process.
    ProcessName,
    /// What tells one machine from others: its installation, serial numbers, its time zone.
    Machine,
    /// Files, and what the program wrote.
    Output,
}

impl What {
    /// The words for it in a report.
    pub fn name(self) -> &'static str {
        match self {
            What::HostName => "host names",
            What::UserName => "user names",
            What::HomeFolder => "home folders",
            What::Secret => "secrets",
            What::Environment => "environment blocks",
            What::CommandLine => "command lines",
            What::ProcessName => "process names",
            What::Machine => "facts of the machine",
            What::Output => "files and outputs of the program",
        }
    }
}

/// How often each kind of thing was taken out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Removed {
    counts: BTreeMap<What, u64>,
}

impl Removed {
    /// Counts one more.
    pub fn add(&mut self, what: What) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Removed) {
        for (what, count) in &other.counts {
            *self.counts.entry(*what).or_default() += count;
        }
    }

    /// Kinds with their counts, none of them 0.
    pub fn iter(&self) -> impl Iterator<Item = (What, u64)> + '_ {
        self.counts.iter().map(|(what, count)| (*what, *count))
    }

    /// How many things in all.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }
}
