//! What is private in exports of Nsight Systems.
//!
//! Such a file holds the environment and the command line of the program, its output, every process of the machine,
//! paths, the names of machine and account. Tables of names and values are private but for the names listed here; other
//! texts, such as names of ranges and kernels, are searched for private words.
//! Tables and columns are those of schemas 2.9 to 3.25.

use crate::keys::{is_secret_name, is_serial, private_key};
use crate::removed::{Removed, What};
use crate::words::Words;
use ridge_sqlite::layout::{PlacedRow, Tree};
use ridge_sqlite::{Database, Encoding, Row};
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

/// Whether a database with tables called `names` is an export of Nsight Systems, or one of rocprofv3, whose private columns are
/// called what they hold.
pub(crate) fn is_export<'a>(mut names: impl Iterator<Item = &'a str>) -> bool {
    names.any(|name| {
        name.starts_with("CUPTI_ACTIVITY_KIND_")
            || name.starts_with("rocpd_string")
            || ["NVTX_EVENTS", "META_DATA_EXPORT", "EXPORT_META_DATA", "TARGET_INFO_SESSION_START_TIME"].contains(&name)
    })
}

/// What the tables say of each other's texts.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// Ids of private texts.
    gone: HashMap<i64, What>,
}

/// A value of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Held {
    /// Nothing that is asked for.
    Nothing,
    /// A whole number.
    Int(i64),
    /// A text.
    Text(String),
}

impl Held {
    fn int(&self) -> Option<i64> {
        if let Held::Int(number) = self { Some(*number) } else { None }
    }

    fn text(self) -> Option<String> {
        if let Held::Text(text) = self { Some(text) } else { None }
    }
}

/// The tables of an export, however it is written.
pub trait ExportTables {
    /// The values of two columns of a table, row by row; none where there is no such table.
    fn pairs(&self, table: &str, columns: [&str; 2]) -> Vec<[Held; 2]>;
}

impl ExportTables for Database<'_> {
    fn pairs(&self, table: &str, columns: [&str; 2]) -> Vec<[Held; 2]> {
        let Some(schema) = self.table(table) else { return Vec::new() };
        let held = |row: &Row<'_>, at: usize| match row.int(at) {
            Some(number) => Held::Int(number),
            None => row.text(at).map_or(Held::Nothing, |text| Held::Text(text.into_owned())),
        };
        let found = self.scan(schema, &schema.columns_called(&columns), |pairs: &mut Vec<_>, row| {
            pairs.push([held(row, 0), held(row, 1)]);
        });
        found.parts.concat()
    }
}

/// What takes out of the tables of an export what is private, where each is a file of its own.
#[derive(Debug)]
pub struct ExportTexts {
    said: Said,
    words: Words,
}

impl ExportTexts {
    /// Knows what the tables say of each other's texts; `words` are known before.
    pub fn of(tables: &dyn ExportTables, words: &Words) -> ExportTexts {
        let mut words = words.clone();
        let said = Said::read(tables, &mut words);
        ExportTexts { said, words }
    }

    /// What stands in `table` for the texts of a row with these `columns`: each that changes, by its place.
    pub fn clean(
        &self,
        table: &str,
        columns: &[String],
        row: &dyn Fn(usize) -> Held,
        removed: &mut Removed,
    ) -> Vec<(usize, String)> {
        let text = |at: usize| row(at).text().unwrap_or_default();
        let verdicts = self.said.verdicts_of(table, columns, &text, &|at| row(at).int());
        let texts = (0..columns.len()).filter_map(|at| Some((at, row(at).text().filter(|text| !text.is_empty())?)));
        let clean = texts.filter_map(|(at, text)| {
            let clean = match verdicts[at] {
                Verdict::Gone(what) if text == what.stand_in() => return None,
                Verdict::Gone(what) => {
                    removed.add(what);
                    what.stand_in().to_owned()
                }
                Verdict::HidePaths => self.words.clean(&without_paths(&text), removed).into_owned(),
                Verdict::Clean => self.words.clean(&text, removed).into_owned(),
            };
            (clean != text).then_some((at, clean))
        });
        clean.collect()
    }
}

impl Said {
    /// Looks which texts are private because of what refers to them; adds names of machines and accounts to `words`.
    pub(crate) fn read(tables: &dyn ExportTables, words: &mut Words) -> Said {
        for (table, shown) in SETTINGS {
            for [key, value] in tables.pairs(table, ["name", "value"]) {
                let Some((key, value)) = key.text().zip(value.text()) else { continue };
                if is_private(&key, &value, shown) {
                    words.learn(of_setting(&key), &value);
                }
            }
        }
        let mut gone: HashMap<i64, What> = HashMap::new();
        for (table, column) in REFERENCES {
            gone.extend(ids(tables, table, column).into_iter().map(|id| (id, What::Output)));
        }
        // The first thread of a process has its name, and so has any that is called as a program; a name that the program
        // gave to a range, too, is its own.
        let programs = programs(tables);
        let ranges = ids(tables, "NVTX_EVENTS", "textId");
        let threads = threads(tables);
        for [id, text] in tables.pairs(TEXTS, ["id", "value"]) {
            let Some((id, text)) = id.int().zip(text.text()) else { continue };
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
        let text = |at: usize| encoding.decoded(row.bytes(at)).into_owned();
        self.verdicts_of(&table.name, &table.columns, &text, &|at| row.int(at))
    }

    /// The same of a row of `table` with these columns, whose values are asked for by their places.
    fn verdicts_of(
        &self,
        table: &str,
        columns: &[String],
        text: &dyn Fn(usize) -> String,
        int: &dyn Fn(usize) -> Option<i64>,
    ) -> Vec<Verdict> {
        let mut verdicts: Vec<Verdict> = columns.iter().map(|column| of_column(table, column)).collect();
        for (at, verdict) in verdicts.iter_mut().enumerate() {
            if *verdict == Verdict::Gone(What::HostName) && text(at) == THIS_MACHINE {
                *verdict = Verdict::Clean;
            }
        }
        let place = |name: &str| columns.iter().position(|column| column.eq_ignore_ascii_case(name));
        if let (Some(shown), Some(key), Some(value)) = (settings(table), place("name"), place("value")) {
            let key = text(key);
            if is_private(&key, &text(value), shown) {
                verdicts[value] = Verdict::Gone(of_setting(&key));
            }
        }
        if let (true, Some(id), Some(value)) = (table.eq_ignore_ascii_case(TEXTS), place("id"), place("value"))
            && let Some(what) = int(id).and_then(|id| self.gone.get(&id))
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

/// The ids in a column.
fn ids(tables: &dyn ExportTables, table: &str, column: &str) -> HashSet<i64> {
    tables.pairs(table, [column, column]).into_iter().filter_map(|[id, _]| id.int()).collect()
}

/// Ids of the names of threads, and whether one of them is the first of its process.
fn threads(tables: &dyn ExportTables) -> HashMap<i64, bool> {
    let mut threads = HashMap::new();
    for [name, id] in tables.pairs("ThreadNames", ["nameId", "globalTid"]) {
        let Some(name) = name.int() else { continue };
        // Process and thread are 24 bits each; the first thread of a process has its number.
        *threads.entry(name).or_default() |= id.int().is_some_and(|id| id & 0xff_ffff == id >> 24 & 0xff_ffff);
    }
    threads
}

/// The names of the machine's processes, as a path, without folders, and cut as a thread's.
fn programs(tables: &dyn ExportTables) -> HashSet<String> {
    let paths = tables.pairs("PROCESSES", ["name", "name"]).into_iter().filter_map(|[path, _]| path.text());
    let names = paths.flat_map(|path| {
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        let end = (0..=THREAD_NAME_BYTES.min(name.len())).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
        [name[..end].to_owned(), name, path]
    });
    names.filter(|name| !name.is_empty()).collect()
}

/// `text` with stars for the letters of each word that may be a path, an address or a setting.
pub(crate) fn without_paths(text: &str) -> String {
    let hide = |word: &str| -> String {
        if !word.contains(['/', '\\', '@', '=']) {
            return word.to_owned();
        }
        let star = |letter: char| match letter {
            '/' | '\\' | '@' | '=' => letter.to_string(),
            space if space.is_whitespace() => space.to_string(),
            other => "*".repeat(other.len_utf8()),
        };
        word.chars().map(star).collect()
    };
    text.split_inclusive(char::is_whitespace).map(hide).collect()
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
