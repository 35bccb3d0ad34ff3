//! Tables and sections as plain text for tests: the columns a test names, in its order, exact values, no scaling.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use ridge_table::{FactValue, Section, Table};

/// The rows of `table` with the columns `keys`, aligned; footnotes follow, each after a `*`.
///
/// Numbers are exact, shares are rounded to three digits, what is absent is `-`.
///
/// # Panics
/// Where the table has no column of a given key.
#[track_caller]
pub fn render(table: &Table, keys: &[&str]) -> String {
    let column = |key: &&str| {
        let found = table.batch.column_by_name(key);
        found.unwrap_or_else(|| panic!("table {} has no column {key}", table.name)).clone()
    };
    let columns: Vec<ArrayRef> = keys.iter().map(column).collect();
    let mut lines: Vec<Vec<String>> = vec![keys.iter().map(|key| (*key).to_owned()).collect()];
    lines.extend((0..table.batch.num_rows()).map(|row| columns.iter().map(|column| cell(column, row)).collect()));
    let widths: Vec<usize> =
        (0..keys.len()).map(|at| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for line in lines {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    table.footnotes.iter().for_each(|note| text.push_str(&format!("* {note}\n")));
    text
}

/// The facts of `sections`, one a line: key, value, share.
pub fn render_sections(sections: &[Section]) -> String {
    let mut text = String::new();
    for section in sections {
        text.push_str(&format!("{}\n", section.title));
        for fact in &section.facts {
            let value = match &fact.value {
                FactValue::Text(words) => words.clone(),
                FactValue::Nanos(number) => number.to_string(),
                FactValue::Bytes(number) | FactValue::Count(number) => number.to_string(),
                other => format!("{other:?}"),
            };
            let share = fact.share.map(|share| format!("  {}", rounded(share))).unwrap_or_default();
            text.push_str(&format!("  {:20} {value}{share}\n", fact.key));
        }
    }
    text
}

fn cell(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return "-".to_owned();
    }
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Float64 => rounded(column.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        other => format!("({other})"),
    }
}

fn rounded(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
