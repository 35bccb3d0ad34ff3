//! What is private in exports of Nsight Systems.
//!
//! Such a file holds the environment and the command line of the program, its output, every process of the machine,
//! paths, the names of machine and account. Tables of names and values are private but for the names listed here; other
//! texts, such as names of ranges and kernels, are searched for private words.
//! Tables and columns are those of schemas 2.9 to 3.25.

use crate::keys::{is_secret_name, is_serial, private_key};
use crate::removed::What;
use crate::words::Words;
use ridge_sqlite::layout::{PlacedRow, Tree};
use ridge_sqlite::{Database, Encoding};
use std::collections::{HashMap, HashSet};

/// What is to become of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Verdict {
    /// All of it is private.
    Gone(What),
    /// A message: words that may be paths, addresses or settings go.
    HidePaths,
    /// Searched for private words.
    #[default]
    Clean,
}

/// Tables of names and values whose values are private, with the beginnings of the names of those that are not.
const SETTINGS: [(&str, &[&str]); 4] = [
    (
        "META_DATA_CAPTURE",
        &[
            "CAPTURE_EVENT_TYPE",
            "START_TRIGGER",
            "STOP_TRIGGER",
            "DEVICE_TYPE",
            "CUDA_GRAPH_TRACE_OPTIONS",
            "CUDA_TRACE_SCOPE",
            "PROCESS_0:HOW_TO_ATTACH",
        ],
    ),
    ("META_DATA_EXPORT", EXPORT),
    ("EXPORT_META_DATA", EXPORT),
    (
        "TARGET_INFO_SYSTEM_ENV",
        &[
            "Cpu",
            "Cuda",
            "NvDriverVersion",
            "HardwarePlatform",
            "SoftwarePlatform",
            "SoftwareReleaseVersion",
            "OsDescription",
            "KernelVersion",
            "SupportedABIs",
            "Supported64BitABIs",
        ],
    ),
];
const EXPORT: &[&str] = &[
    "EXPORT_PRODUCT_",
    "EXPORT_SCHEMA_",
    "EXPORT_PLATFORM",
    "EXPORT_ARCH",
    "EXPORT_TIME_UTC",
    "EXPORT_PARAM_EXPORT_TYPE",
];

/// Columns that are private: table, column, what.
const COLUMNS: [(&str, &str, What); 5] = [
    ("PROCESSES", "name", What::ProcessName),
    ("ANALYSIS_FILE", "filename", What::Output),
    // Tells the time zone.
    ("TARGET_INFO_SESSION_START_TIME", "localTime", What::Machine),
    ("TARGET_INFO_SYSTEM_ENV", "devStateName", What::HostName),
    ("TARGET_INFO_NIC_INFO", "stateName", What::HostName),
];
/// What stands for a machine whose capture was made on it.
const THIS_MACHINE: &str = "Local (CLI)";
/// Columns with ids of texts that are private: files, and what the program wrote.
const REFERENCES: [(&str, &str); 3] =
    [("ProcessStreams", "filenameId"), ("ProcessStreams", "contentId"), ("ANALYSIS_FILE", "contentId")];
/// The messages of the profiler.
const MESSAGES: (&str, &str) = ("DIAGNOSTIC_EVENT", "text");
/// The table of texts that other tables refer to.
const TEXTS: &str = "StringIds";
/// Linux cuts the name of a thread, which is at first that of its program, to as many bytes.
const THREAD_NAME_BYTES: usize = 15;

/// Whether a database with tables called `names` is an export of Nsight Systems.
pub(crate) fn is_export<'a>(mut names: impl Iterator<Item = &'a str>) -> bool {
    names.any(|name| {
        name.starts_with("CUPTI_ACTIVITY_KIND_")
            || ["NVTX_EVENTS", "META_DATA_EXPORT", "EXPORT_META_DATA", "TARGET_INFO_SESSION_START_TIME"].contains(&name)
    })
}

/// What the tables say of each other's texts.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// Ids of private texts.
    gone: HashMap<i64, What>,
}

impl Said {
    /// Looks which texts are private because of what refers to them; adds names of machines and accounts to `words`.
    pub(crate) fn read(database: &Database<'_>, words: &mut Words) -> Said {
        for (table, shown) in SETTINGS {
            for (key, value) in pairs(database, table, "name", "value") {
                if is_private(&key, &value, shown) {
                    words.learn(of_setting(&key), &value);
                }
            }
        }
        let mut gone: HashMap<i64, What> = HashMap::new();
        for (table, column) in REFERENCES {
            gone.extend(ids(database, table, column).into_iter().map(|id| (id, What::Output)));
        }
        // The first thread of a process has its name, and so has any that is called as a program; a name that the program
        // gave to a range, too, is its own.
        let programs = programs(database);
        let ranges = ids(database, "NVTX_EVENTS", "textId");
        let threads = threads(database);
        for (id, text) in texts(database) {
            let of_process = threads.get(&id).is_some_and(|is_first| *is_first || programs.contains(&text));
            if of_process && !ranges.contains(&id) {
                gone.insert(id, What::ProcessName);
            }
        }
        Said { gone }
    }

    /// What is to become of the texts of `row`, in the order of its values.
    pub(crate) fn verdicts(&self, tree: &Tree, encoding: Encoding, row: &PlacedRow<'_>) -> Vec<Verdict> {
        let table = &tree.table;
        // The columns of an index are not known; each of its texts is treated as the strictest of its table's.
        if tree.is_ordered {
            let strictest = table.columns.iter().map(|column| of_column(&table.name, column));
            let verdict = strictest.max_by_key(|verdict| *verdict != Verdict::Clean).unwrap_or_default();
            let is_private = verdict != Verdict::Clean || settings(&table.name).is_some() || table.name == TEXTS;
            let verdict = if is_private { Verdict::Gone(What::Machine) } else { Verdict::Clean };
            return vec![verdict; row.values.len()];
        }
        let mut verdicts: Vec<Verdict> = table.columns.iter().map(|column| of_column(&table.name, column)).collect();
        for (at, verdict) in verdicts.iter_mut().enumerate() {
            if *verdict == Verdict::Gone(What::HostName) && encoding.decoded(row.bytes(at)) == THIS_MACHINE {
                *verdict = Verdict::Clean;
            }
        }
        let place = |name: &str| table.columns.iter().position(|column| column.eq_ignore_ascii_case(name));
        if let (Some(shown), Some(key), Some(value)) = (settings(&table.name), place("name"), place("value")) {
            let text = |at: usize| encoding.decoded(row.bytes(at));
            if is_private(&text(key), &text(value), shown) {
                verdicts[value] = Verdict::Gone(of_setting(&text(key)));
            }
        }
        if let (true, Some(id), Some(value)) = (table.name.eq_ignore_ascii_case(TEXTS), place("id"), place("value"))
            && let Some(what) = row.int(id).and_then(|id| self.gone.get(&id))
        {
            verdicts[value] = Verdict::Gone(*what);
        }
        verdicts
    }
}

/// What a setting of the table of the machine is, where it is private.
pub(crate) fn of_machine(key: &str, value: &str) -> Option<What> {
    let shown = settings("TARGET_INFO_SYSTEM_ENV").unwrap_or_default();
    (!value.is_empty() && is_private(key, value, shown)).then(|| of_setting(key))
}

fn settings(table: &str) -> Option<&'static [&'static str]> {
    SETTINGS.iter().find(|(name, _)| name.eq_ignore_ascii_case(table)).map(|(_, shown)| *shown)
}

fn of_column(table: &str, column: &str) -> Verdict {
    let is = |name: &str, other: &str| table.eq_ignore_ascii_case(name) && column.eq_ignore_ascii_case(other);
    if is(MESSAGES.0, MESSAGES.1) {
        return Verdict::HidePaths;
    }
    if let Some((_, _, what)) = COLUMNS.iter().find(|(name, other, _)| is(name, other)) {
        return Verdict::Gone(*what);
    }
    if is_serial(column) {
        return Verdict::Gone(What::Machine);
    }
    private_key(column).map_or(Verdict::Clean, Verdict::Gone)
}

/// Whether the setting `key` is private: neither among `shown` nor a plain number or switch.
fn is_private(key: &str, value: &str, shown: &[&str]) -> bool {
    let is_number = value.len() <= 20 && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_plain = (is_number || value == "true" || value == "false") && !is_secret_name(key);
    !is_plain && !shown.iter().any(|start| key.starts_with(start))
}

/// What a private setting is, by its name.
fn of_setting(key: &str) -> What {
    let key = key.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| key.contains(word));
    if has(&["environment"]) {
        What::Environment
    } else if has(&["argument", "command", "working", "path", "file"]) {
        What::CommandLine
    } else if has(&["host", "display_name"]) {
        What::HostName
    } else if has(&["user"]) {
        What::UserName
    } else {
        What::Machine
    }
}

/// The texts in two columns of a small table.
fn pairs(database: &Database<'_>, table: &str, first: &str, second: &str) -> Vec<(String, String)> {
    let Some(schema) = database.table(table) else { return Vec::new() };
    let found = database.scan(schema, &schema.columns_called(&[first, second]), |pairs: &mut Vec<_>, row| {
        pairs.extend(row.text(0).zip(row.text(1)).map(|(first, second)| (first.into_owned(), second.into_owned())));
    });
    found.parts.concat()
}

/// The ids in a column.
fn ids(database: &Database<'_>, table: &str, column: &str) -> HashSet<i64> {
    let Some(schema) = database.table(table) else { return HashSet::new() };
    let found = database.scan(schema, &schema.columns_called(&[column]), |ids: &mut HashSet<i64>, row| {
        ids.extend(row.int(0));
    });
    found.parts.into_iter().flatten().collect()
}

/// Ids of the names of threads, and whether one of them is the first of its process.
fn threads(database: &Database<'_>) -> HashMap<i64, bool> {
    let Some(schema) = database.table("ThreadNames") else { return HashMap::new() };
    let columns = schema.columns_called(&["nameId", "globalTid"]);
    let found = database.scan(schema, &columns, |threads: &mut Vec<(i64, bool)>, row| {
        // Process and thread are 24 bits each; the first thread of a process has its number.
        let is_first = row.int(1).is_some_and(|id| id & 0xff_ffff == id >> 24 & 0xff_ffff);
        threads.extend(row.int(0).map(|name| (name, is_first)));
    });
    let mut threads = HashMap::new();
    for (name, is_first) in found.parts.into_iter().flatten() {
        *threads.entry(name).or_default() |= is_first;
    }
    threads
}

fn texts(database: &Database<'_>) -> Vec<(i64, String)> {
    let Some(schema) = database.table(TEXTS) else { return Vec::new() };
    let found = database.scan(schema, &schema.columns_called(&["id", "value"]), |texts: &mut Vec<_>, row| {
        texts.extend(row.int(0).zip(row.text(1)).map(|(id, text)| (id, text.into_owned())));
    });
    found.parts.concat()
}

/// The names of the machine's processes, as a path, without folders, and cut as a thread's.
fn programs(database: &Database<'_>) -> HashSet<String> {
    let Some(schema) = database.table("PROCESSES") else { return HashSet::new() };
    let found = database.scan(schema, &schema.columns_called(&["name"]), |names: &mut HashSet<String>, row| {
        let Some(path) = row.text(0).filter(|path| !path.is_empty()) else { return };
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        let end = (0..=THREAD_NAME_BYTES.min(name.len())).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
        names.extend([name[..end].to_owned(), name, path.into_owned()].into_iter().filter(|name| !name.is_empty()));
    });
    found.parts.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_private_unless_listed() {
        for (table, key, value, private) in [
            ("META_DATA_CAPTURE", "PROCESS_0:ENVIRONMENT_VARIABLE", "A=b", Some(What::Environment)),
            ("META_DATA_CAPTURE", "PROCESS_0:ARGUMENT_1", "x.py", Some(What::CommandLine)),
            ("META_DATA_CAPTURE", "DEVICE_DISPLAY_NAME", "box", Some(What::HostName)),
            ("META_DATA_CAPTURE", "SAMPLE_ALL_TASKS", "false", None),
            ("META_DATA_CAPTURE", "ACCESS_TOKEN", "123", Some(What::Machine)),
            ("META_DATA_EXPORT", "EXPORT_USER", "ada", Some(What::UserName)),
            ("EXPORT_META_DATA", "EXPORT_SCHEMA_VERSION", "2.9.1", None),
            ("TARGET_INFO_SYSTEM_ENV", "Hostname", "box", Some(What::HostName)),
            ("TARGET_INFO_SYSTEM_ENV", "CpuArchitecture", "x86_64", None),
            ("TARGET_INFO_SYSTEM_ENV", "PluginsInfo", "{}", Some(What::Machine)),
        ] {
            let found = is_private(key, value, settings(table).expect("a table of settings")).then(|| of_setting(key));
            assert_eq!(found, private, "{key}");
        }
    }

    #[test]
    fn columns_are_private_by_table_or_by_name() {
        assert_eq!(of_column("processes", "NAME"), Verdict::Gone(What::ProcessName));
        assert_eq!(of_column("TARGET_INFO_GPU", "uuid"), Verdict::Gone(What::Machine));
        assert_eq!(of_column("ANY", "hostName"), Verdict::Gone(What::HostName));
        assert_eq!(of_column("TARGET_INFO_GPU", "name"), Verdict::Clean);
        assert_eq!(of_column("DIAGNOSTIC_EVENT", "text"), Verdict::HidePaths);
    }
}
