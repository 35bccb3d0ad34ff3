//! The kinds of private things that are looked for, and how often each was taken out.

use std::collections::BTreeMap;

/// A kind of private thing. This list is the one that `docs/privacy.md` and the command show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// The name of a machine.
    HostName,
    /// The name of a person's account.
    UserName,
    /// The path of a home folder.
    HomeFolder,
    /// An IP address, of version 4 or 6.
    Address,
    /// An e-mail address.
    Email,
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
    /// Files, and the program's output.
    Output,
}

impl What {
    /// Everything that is looked for.
    pub const ALL: [What; 11] = [
        What::HostName,
        What::UserName,
        What::HomeFolder,
        What::Address,
        What::Email,
        What::Secret,
        What::Environment,
        What::CommandLine,
        What::ProcessName,
        What::Machine,
        What::Output,
    ];

    /// The words for it in a report.
    pub fn name(self) -> &'static str {
        match self {
            What::HostName => "host names",
            What::UserName => "user names",
            What::HomeFolder => "home directories",
            What::Address => "IP addresses",
            What::Email => "e-mail addresses",
            What::Secret => "secrets",
            What::Environment => "environment blocks",
            What::CommandLine => "command lines",
            What::ProcessName => "process names",
            What::Machine => "machine identifiers",
            What::Output => "program files and output",
        }
    }

    /// How it is recognized, in words.
    pub fn how(self) -> &'static str {
        match self {
            What::HostName => {
                "fields and keys such as `hostname`, capture names, Windows shares (`\\\\NAME\\share`); variables such as `SLURMD_NODENAME`; the machine that Ridgeline runs on; any machine in the same domain as one of these. Each name found is removed from all text in the capture"
            }
            What::UserName => {
                "keys such as `user`, `ssh://NAME@`, `NAME@HOST` if either is known; accounts in `/scratch`, `/lustre`, `/gpfs`, `/mnt` and `/var/folders`, `~NAME/`; `__home_NAME_` in symbols made from paths; the user who runs Ridgeline. Each name found, including in home directories, is removed from all text in the capture; a short account name found only in home directories is removed from their paths"
            }
            What::HomeFolder => {
                "`/home/NAME`, `/Users/NAME`, `/root/`, including on network paths; NERSC and AFS home directories; `C:\\Users\\NAME`; `HOME` of the user"
            }
            What::Address => {
                "four numbers from 0 to 255 separated by dots, unless they are a version; IPv6 network addresses; loopback and unspecified addresses stay"
            }
            What::Email => "`name@domain`",
            What::Secret => {
                "values of keys, arguments and settings with `token`, `password`, `apiKey` and the like; text that begins like a token of a well-known service; `Bearer …`, JSON Web Tokens, private keys, `scheme://user:password@`, `curl -u`, webhooks, Telegram bot tokens, S3, Google and Azure signatures. A password under a key is removed from all text in the capture, unless it is a plain word"
            }
            What::Environment => {
                "keys such as `env`, and a trace's `metadata` object, in which tools describe the machine"
            }
            What::CommandLine => "keys such as `cmdline` and `argv`",
            What::ProcessName => "`process_name` events in traces; process tables and columns",
            What::Machine => {
                "GPU UUIDs, MAC addresses; settings, serial numbers and the time zone in Nsight Systems exports; device serial numbers in tables"
            }
            What::Output => "embedded files and program output in Nsight Systems exports",
        }
    }

    /// What stands where it was.
    pub fn stand_in(self) -> &'static str {
        match self {
            What::HostName => "<host>",
            What::UserName => "<user>",
            What::HomeFolder => "~",
            What::Address => "<address>",
            What::Email => "<email>",
            What::ProcessName => "process",
            What::Secret | What::Environment | What::CommandLine | What::Machine | What::Output => GONE,
        }
    }
}

/// Stands where something private was.
pub const GONE: &str = "<redacted>";

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

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of the page on privacy are this list, in this order.
    #[test]
    fn the_page_lists_what_is_looked_for() {
        let page = include_str!("../../../docs/privacy.md");
        let row = |what: &What| format!("| {} | {} | `{}` |\n", what.name(), what.how(), what.stand_in());
        let rows: String = What::ALL.iter().map(row).collect();
        assert!(page.contains(&rows), "docs/privacy.md should hold these rows:\n{rows}");
    }
}
