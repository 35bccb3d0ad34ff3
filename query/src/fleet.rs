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
}

/// What the questions read: a name, the table of the dataset, and its columns with their types.
const TABLES: [(&str, (&str, &str), &[(&str, &str)]); 5] = [
    ("fleet_process", ("raw", "process"), &[]),
    ("fleet_step", ("stats", "step"), &[("wall_ns", "BIGINT")]),
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

/// The statements that answer `only`, or all questions.
///
/// # Errors
/// Where no dataset was named.
pub(crate) fn statements(source: Source, only: Option<Fleet>) -> Result<String, Failure> {
    let Source::Dataset(dataset) = source else {
        return Err(Failure::usage("expected a dataset of many captures, found a capture")
            .hint("`ridgeline collect CAPTURES -o DATASET/` makes one"));
    };
    let named: String = TABLES.iter().map(|(name, table, columns)| named(dataset, name, *table, columns)).collect();
    let asked =
        [(Fleet::Hosts, include_str!("fleet/hosts.sql")), (Fleet::Findings, include_str!("fleet/findings.sql"))];
    let asked = asked.into_iter().filter(|(question, _)| only.is_none_or(|only| only == *question));
    Ok(named + &asked.map(|(_, sql)| format!("{sql};\n")).collect::<String>())
}

/// A name for a table of the dataset; one without rows where no capture has the table.
fn named(dataset: &Dataset, name: &str, (schema, table): (&str, &str), columns: &[(&str, &str)]) -> String {
    let columns = PART.iter().chain(columns);
    if dataset.tables.get(schema).is_some_and(|tables| tables.contains(table)) {
        let columns: Vec<&str> = columns.map(|(column, _)| *column).collect();
        return format!("CREATE VIEW {name} AS SELECT {} FROM {schema}.{table};\n", columns.join(", "));
    }
    let columns: Vec<String> = columns.map(|(column, kind)| format!("CAST(NULL AS {kind}) AS {column}")).collect();
    format!("CREATE VIEW {name} AS SELECT {} WHERE false;\n", columns.join(", "))
}
