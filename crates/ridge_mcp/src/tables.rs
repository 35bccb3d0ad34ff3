//! A view as rows of text: tabs between cells, and above them each column's unit and where its numbers come from.

use crate::reply::Refusal;
use arrow_array::Array;
use ridge_report::{Order, json};
use ridgeline::{Basis, Question, Session, Table, Topic, Unit, View, view};
use serde_json::Value;

/// Rows of a reply where no other number is asked for, and the most.
pub(crate) const USUAL_ROWS: usize = 20;
pub(crate) const MOST_ROWS: usize = 50;
/// Characters of a cell: names of kernels go on for lines.
const MOST_CELL: usize = 160;

/// What is asked of a view.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    /// Conditions that a row must meet, all of them.
    pub(crate) filters: Vec<Filter>,
    /// A column, with `:asc` or `:desc`.
    pub(crate) sort: Option<String>,
    /// Rows.
    pub(crate) top: usize,
    /// Columns to show; all where there is none.
    pub(crate) columns: Vec<String>,
    /// Whether each column is explained.
    pub(crate) definitions: bool,
}

/// A condition that a row must meet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Filter {
    column: String,
    how: How,
    value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Equal,
    Unequal,
    Above,
    AtLeast,
    Below,
    AtMost,
    Contains,
}

/// Longer signs first, so that `>=` is not taken for `>`.
const SIGNS: [(&str, How); 7] = [
    (">=", How::AtLeast),
    ("<=", How::AtMost),
    ("!=", How::Unequal),
    ("=", How::Equal),
    (">", How::Above),
    ("<", How::Below),
    ("~", How::Contains),
];

impl Filter {
    /// Reads `calls>=10`, `op~gemm`, `category=copy`.
    pub(crate) fn read(text: &str) -> Result<Filter, Refusal> {
        let found = SIGNS.iter().filter_map(|(sign, how)| Some((text.find(sign)?, sign, how)));
        let first = found.min_by_key(|(at, sign, _)| (*at, std::cmp::Reverse(sign.len())));
        let Some((at, sign, how)) = first.filter(|(at, _, _)| *at > 0) else {
            return Err(Refusal::new(format!("expected a condition such as `calls>=10` or `op~gemm`, found `{text}`"))
                .hint("signs: = != > >= < <= and ~ for \"contains\", whatever its case"));
        };
        let value = text[at + sign.len()..].trim().to_owned();
        Ok(Filter { column: text[..at].trim().to_owned(), how: *how, value })
    }

    fn holds(&self, cell: &Value) -> bool {
        if let (Some(found), Ok(wanted)) = (cell.as_f64(), self.value.parse::<f64>()) {
            return match self.how {
                How::Equal => found == wanted,
                How::Unequal => found != wanted,
                How::Above => found > wanted,
                How::AtLeast => found >= wanted,
                How::Below => found < wanted,
                How::AtMost => found <= wanted,
                How::Contains => plain(cell).contains(&self.value),
            };
        }
        if cell.is_null() {
            return false;
        }
        let found = plain(cell);
        match self.how {
            How::Equal => found == self.value,
            How::Unequal => found != self.value,
            How::Contains => found.to_lowercase().contains(&self.value.to_lowercase()),
            How::Above => found > self.value,
            How::AtLeast => found >= self.value,
            How::Below => found < self.value,
            How::AtMost => found <= self.value,
        }
    }
}

/// The view called `name`: `op` of the first topic that has it, or `memory/op` of one.
pub(crate) fn named(name: &str) -> Option<&'static View> {
    match name.split_once('/') {
        Some((topic, name)) => {
            let topic = Topic::ALL.into_iter().find(|known| known.command() == topic || topic_name(*known) == topic)?;
            view(topic, name)
        }
        None => Topic::ALL.into_iter().find_map(|topic| view(topic, name)),
    }
}

fn topic_name(topic: Topic) -> &'static str {
    if topic == Topic::Time { "time" } else { topic.command() }
}

/// Every view that this capture answers, a line each.
pub(crate) fn catalog(session: &Session) -> String {
    let mut text = String::new();
    for topic in Topic::ALL {
        for view in session.answerable(topic) {
            text.push_str(&format!("{}/{}: {}\n", topic_name(topic), view.id, view.about));
        }
    }
    text
}

/// The rows of `view` that are asked for.
pub(crate) fn rows(session: &Session, view: &View, asked: &Asked, most: usize) -> Result<String, Refusal> {
    let mut tables = session.answer(view.topic, &[view], Question::default())?.tables;
    let table = tables.pop().ok_or_else(|| Refusal::new("expected a table, found none"))?;
    let table = match &asked.sort {
        None => table,
        Some(order) => {
            let order: Order = order.parse().map_err(Refusal::new)?;
            order.of(&table).ok_or_else(|| no_column(&order.column, &table))?
        }
    };
    let columns = shown(&asked.columns, &table)?;
    let filters = asked.filters.iter().map(|filter| Ok((column(&filter.column, &table)?, filter)));
    let filters: Vec<(usize, &Filter)> = filters.collect::<Result<_, Refusal>>()?;
    let cell = |column: usize, row: usize| json::value(table.batch.column(column).as_ref() as &dyn Array, row);
    let holds = |row: &usize| filters.iter().all(|(column, filter)| filter.holds(&cell(*column, *row)));
    let matching: Vec<usize> = (0..table.batch.num_rows()).filter(holds).collect();
    let mut text = head(view, &table, &columns, asked.definitions);
    let notes: String = table.footnotes.iter().map(|note| format!("note: {note}\n")).collect();
    let room = most.saturating_sub(text.chars().count() + notes.chars().count() + LAST_LINE);
    let (mut used, mut count) = (0, 0);
    for row in matching.iter().take(asked.top) {
        let cells: Vec<String> = columns.iter().map(|column| short(&plain(&cell(*column, *row)))).collect();
        let line = cells.join("\t") + "\n";
        used += line.chars().count();
        if used > room {
            break;
        }
        text.push_str(&line);
        count += 1;
    }
    text.push_str(&last_line(count, matching.len(), &table, !filters.is_empty()));
    Ok(text + &notes)
}

/// Room for the sentence of how many rows are shown.
const LAST_LINE: usize = 220;

fn last_line(shown: usize, matching: usize, table: &Table, filtered: bool) -> String {
    let all = table.rows_total;
    let of = if filtered { format!("{matching} that match, of {all} rows in all") } else { format!("{all} rows") };
    let more = match shown < matching {
        true => "; `filter`, `columns`, `top` (at most 50) or `characters` show others",
        false => "",
    };
    format!("[{shown} of {of} shown{more}]\n")
}

fn head(view: &View, table: &Table, columns: &[usize], definitions: bool) -> String {
    let schema = table.batch.schema();
    let mut text = format!("{}/{}: {}\n", topic_name(view.topic), view.id, table.title);
    let meant = |column: &usize| {
        let field = schema.field(*column);
        let meaning = Table::meaning(field);
        match (meaning.unit, meaning.basis) {
            (Unit::Text | Unit::Flag, _) => field.name().clone(),
            (unit, Some(basis)) => format!("{} [{}, {}]", field.name(), unit.name(), Basis::name(basis)),
            (unit, None) => format!("{} [{}]", field.name(), unit.name()),
        }
    };
    if definitions {
        for column in columns {
            let field = schema.field(*column);
            text.push_str(&format!("{}: {}\n", field.name(), Table::meaning(field).definition));
        }
    }
    text.push_str(&(columns.iter().map(meant).collect::<Vec<_>>().join("\t") + "\n"));
    text
}

fn shown(names: &[String], table: &Table) -> Result<Vec<usize>, Refusal> {
    match names.is_empty() {
        true => Ok((0..table.batch.num_columns()).collect()),
        false => names.iter().map(|name| column(name, table)).collect(),
    }
}

fn column(name: &str, table: &Table) -> Result<usize, Refusal> {
    table.batch.schema().index_of(name).map_err(|_| no_column(name, table))
}

fn no_column(name: &str, table: &Table) -> Refusal {
    let schema = table.batch.schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    Refusal::new(format!("unknown column `{name}` of `{}`", table.name)).hint(format!("it has {}", names.join(", ")))
}

/// A value in one cell.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => ridge_report::escape_controls(text).into_owned(),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(real) => real_text(real),
            None => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// Six digits: nothing that is not counted is known better.
fn real_text(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    rounded.to_string()
}

fn short(text: &str) -> String {
    if text.chars().count() <= MOST_CELL {
        return text.to_owned();
    }
    let kept: String = text.chars().take(MOST_CELL - 1).collect();
    kept + "…"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conditions_are_read_and_hold() {
        let holds = |filter: &str, cell: Value| Filter::read(filter).expect("a condition").holds(&cell);
        assert!(holds("calls>=10", json!(10)) && !holds("calls>10", json!(10)));
        assert!(holds("op~GEMM", json!("a gemm kernel")) && !holds("op=gemm", json!("a gemm kernel")));
        assert!(holds("op!=a", json!("b")) && !holds("share<0.5", Value::Null));
        assert!(holds("name=a>b", json!("a>b")));
        assert!(Filter::read("calls").is_err() && Filter::read("=3").is_err());
    }

    #[test]
    fn numbers_have_no_more_digits_than_they_are_worth() {
        assert_eq!(plain(&json!(0.1 + 0.2)), "0.3");
        assert_eq!(plain(&json!(123_456_789_012_u64)), "123456789012");
        assert_eq!(plain(&json!("a\tb")), "a\\tb");
    }
}
