//! Programs and what is known of them: modules, operations, findings, notes, metrics of kernels under a hardware profiler.

use super::columns::{bytes, id, reals, texts, wholes};
use super::table::{Parts, RawTable, Tables, ids, real, text, whole};
use arrow_array::ArrayRef;
use ridgeline::{Finding, Note};
use std::ops::Range;

/// Compiled programs.
pub(super) static MODULE: RawTable = RawTable {
    name: "module",
    about: "compiled programs",
    parts: Parts::Rows(|tables| tables.trace.modules.len()),
    columns: &[
        whole("module_id", "its number", |_, rows| ids(rows)),
        text("name", "its name", |tables, rows| tables.named(rows.map(|row| Some(tables.trace.modules[row].name)))),
        whole("program_id", "its id in the capture", |tables, rows| {
            wholes(rows.map(|row| Some(tables.trace.modules[row].program_id.cast_signed())))
        }),
        whole("process_id", "row of its process", |tables, rows| {
            wholes(rows.map(|row| Some(tables.trace.modules[row].process.into())))
        }),
    ],
};

/// Operations of modules and frameworks.
pub(super) static OPERATION: RawTable = RawTable {
    name: "operation",
    about: "HLO instructions and operations of frameworks that events refer to",
    parts: Parts::Rows(|tables| tables.trace.operations.len()),
    columns: &[
        whole("operation_id", "its number", |_, rows| ids(rows)),
        text("name", "its name", |tables, rows| tables.named(rows.map(|row| Some(tables.trace.operations[row].name)))),
        whole("module_id", "row of its module", |tables, rows| {
            wholes(rows.map(|row| id(tables.trace.operations[row].module)))
        }),
        text("scope", "path of its scopes", |tables, rows| {
            tables.named(rows.map(|row| Some(tables.trace.operations[row].scope)))
        }),
        whole("instruction", "its position in the HLO of its module", |tables, rows| {
            wholes(rows.map(|row| id(tables.trace.operations[row].instruction)))
        }),
    ],
};

/// What `ridgeline check` finds.
pub(super) static FINDING: RawTable = RawTable {
    name: "finding",
    about: "the program's bottlenecks, from `ridgeline check`",
    parts: Parts::Rows(|tables| tables.check().diagnosis.findings.len()),
    columns: &[
        whole("finding_id", "its number", |_, rows| ids(rows)),
        text("rule", "the rule that found it", |tables, rows| {
            findings(tables, rows, |finding| Some(finding.rule.into()))
        }),
        text("level", "how much it matters", |tables, rows| {
            findings(tables, rows, |finding| Some(finding.level.name().into()))
        }),
        text("message", "the problem", |tables, rows| findings(tables, rows, |finding| Some(finding.message.clone()))),
        text("source_file", "file of the line, if known", |tables, rows| {
            findings(tables, rows, |finding| finding.place.as_ref().map(|place| place.file.clone()))
        }),
        whole("source_line", "number of that line", |tables, rows| {
            let all = &tables.check().diagnosis.findings;
            wholes(rows.map(|row| all[row].place.as_ref().map(|place| place.line.into())))
        }),
        text("why", "why that is so", |tables, rows| findings(tables, rows, |finding| Some(finding.why.clone()))),
        text("help", "what to do", |tables, rows| findings(tables, rows, |finding| Some(finding.help.clone()))),
        real("share", "its part of the devices' time, 0 to 1", |tables, rows| {
            let all = &tables.check().diagnosis.findings;
            reals(rows.map(|row| Some(all[row].share)))
        }),
        whole("because", "row of the finding that it is a symptom of", |tables, rows| {
            let all = &tables.check().diagnosis.findings;
            wholes(rows.map(|row| all[row].because.map(|other| other as i64)))
        }),
    ],
};

fn findings(tables: &Tables<'_>, rows: Range<usize>, value: fn(&Finding) -> Option<String>) -> ArrayRef {
    let all = &tables.check().diagnosis.findings;
    texts(rows.map(|row| value(&all[row]).map(|text| tables.names.shown(&text).into_owned())))
}

/// What was lost, and what else a reader must know of the capture.
pub(super) static NOTE: RawTable = RawTable {
    name: "note",
    about: "lost data, and other notes about the capture",
    parts: Parts::Rows(|tables| tables.session.notes().len()),
    columns: &[
        text("severity", "lost, partial or info", |tables, rows| {
            notes(tables, rows, |note| Some(note.severity.name().to_owned()))
        }),
        text("message", "what", |tables, rows| notes(tables, rows, |note| Some(note.message.clone()))),
        text("file", "the file it is about", |tables, rows| notes(tables, rows, |note| note.file.clone())),
        whole("count", "how often", |tables, rows| {
            wholes(rows.map(|row| Some(bytes(tables.session.notes()[row].count))))
        }),
    ],
};

fn notes(tables: &Tables<'_>, rows: Range<usize>, value: fn(&Note) -> Option<String>) -> ArrayRef {
    let all = tables.session.notes();
    texts(rows.map(|row| value(&all[row]).map(|text| tables.names.shown(&text).into_owned())))
}

/// Metrics of kernels under a hardware profiler.
pub(super) static METRIC: RawTable = RawTable {
    name: "metric",
    about: "metrics of kernels under a hardware profiler, a row for each",
    parts: Parts::Rows(|tables| tables.trace.profiles.profile.len()),
    columns: &[
        whole("launch", "number of the profiled launch", |tables, rows| {
            wholes(rows.map(|row| Some(tables.trace.profiles.profile[row].into())))
        }),
        text("kernel", "the kernel's name", |tables, rows| {
            let profiles = &tables.trace.profiles;
            tables
                .named(rows.map(|row| profiles.launches.get(profiles.profile[row] as usize).map(|launch| launch.name)))
        }),
        text("metric", "the metric", |tables, rows| {
            tables.named(rows.map(|row| Some(tables.trace.profiles.metric[row])))
        }),
        real("value", "its value in base units; null if it is text", |tables, rows| {
            reals(rows.map(|row| Some(tables.trace.profiles.value[row]).filter(|value| !value.is_nan())))
        }),
        text("text", "its value, if it is text", |tables, rows| {
            tables.named(rows.map(|row| Some(tables.trace.profiles.text[row])))
        }),
        text("unit", "its base unit", |tables, rows| {
            tables.named(rows.map(|row| Some(tables.trace.profiles.unit[row])))
        }),
    ],
};
