//! What a whole fleet is asked first: which hosts and which findings are unlike the others.
//!
//! The questions are SQL over the tables of a dataset, in the files beside, and can be copied and changed.

use crate::catalog::Source;
use crate::dataset::Dataset;
use crate::failure::Failure;
use clap::ValueEnum;

/// One of the questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fleet {
    /// Hosts and ranks with slower steps, more idle time or shorter collectives than the others of their job
    Hosts,
    /// Findings of `check`, with how many captures have them
    Findings,
    /// Every marked step of every host, beside the median of that step; only if it is named
    Steps,
}

/// A column and its type.
type Column = (&'static str, &'static str);

/// What the questions read: a name, the table of the dataset, and its columns with their types.
const TABLES: [(&str, (&str, &str), &[Column]); 5] = [
    ("fleet_process", ("raw", "process"), &[]),
    ("fleet_step", ("stats", "step"), &[("step", "VARCHAR"), ("number", "DOUBLE"), ("wall_ns", "BIGINT")]),
    ("fleet_device", ("idle", "device"), &[("idle_ns", "BIGINT"), ("capture_ns", "BIGINT")]),
    ("fleet_category", ("stats", "category"), &[("category", "VARCHAR"), ("total_ns", "BIGINT")]),
    (
        "fleet_finding",
        ("raw", "finding"),
        &[
            ("rule", "VARCHAR"),
            ("level", "VARCHAR"),
            ("message", "VARCHAR"),
            ("share", "DOUBLE"),
            ("because", "BIGINT"),
        ],
    ),
];

/// What every table of a dataset has.
const PART: [(&str, &str); 3] = [("job", "VARCHAR"), ("host", "VARCHAR"), ("rank", "BIGINT")];

/// The dataset that was named.
///
/// # Errors
/// Where a capture was.
pub(crate) fn dataset(source: Source) -> Result<&'static Dataset, Failure> {
    match source {
        Source::Dataset(dataset) => Ok(dataset),
        Source::Capture(..) | Source::Captures(_) => {
            Err(Failure::usage("expected a dataset of many captures, found a capture")
                .hint("`ridgeline collect CAPTURES -o DATASET/` makes one"))
        }
    }
}

/// The statements that answer `only`, or the questions about hosts and findings.
pub(crate) fn statements(dataset: &Dataset, only: Option<Fleet>) -> String {
    let named: String = TABLES.iter().map(|(name, table, columns)| named(dataset, name, *table, columns)).collect();
    let asked = match only {
        None => &[Fleet::Hosts, Fleet::Findings][..],
        Some(Fleet::Hosts) => &[Fleet::Hosts],
        Some(Fleet::Findings) => &[Fleet::Findings],
        Some(Fleet::Steps) => &[Fleet::Steps],
    };
    named + &asked.iter().map(|question| format!("{};\n", question.sql())).collect::<String>()
}

impl Fleet {
    fn sql(self) -> &'static str {
        match self {
            Fleet::Hosts => include_str!("fleet/hosts.sql"),
            Fleet::Findings => include_str!("fleet/findings.sql"),
            Fleet::Steps => include_str!("fleet/steps.sql"),
        }
    }
}

/// A name for a table of the dataset; one without rows where no capture has the table.
fn named(dataset: &Dataset, name: &str, (schema, table): (&str, &str), columns: &[(&str, &str)]) -> String {
    let columns = PART.iter().chain(columns);
    if dataset.has(schema, table) {
        let columns: Vec<&str> = columns.map(|(column, _)| *column).collect();
        return format!("CREATE VIEW {name} AS SELECT {} FROM {schema}.{table};\n", columns.join(", "));
    }
    let columns: Vec<String> = columns.map(|(column, kind)| format!("CAST(NULL AS {kind}) AS {column}")).collect();
    format!("CREATE VIEW {name} AS SELECT {} WHERE false;\n", columns.join(", "))
}
