//! SQL over the capture, answered by the program `ridgeline-query` where whoever made the page named it.
//!
//! The program reads the capture by itself, and only reads.

use crate::answer::{Answer, Refusal};
use crate::interest::Interest;
use crate::page::Page;
use crate::query_program::{MOST_ROWS, QueryProgram, Written};
use crate::request::Request;
use serde_json::{Value, json};
use std::time::Instant;

/// Bytes of a query: systems take no longer argument than 128 KiB.
const MOST_SQL: usize = 64 << 10;
/// The largest whole number that JavaScript tells from its neighbors.
const MOST_WHOLE: u64 = 1 << 53;

/// `query?sql=TEXT`, `query/tables` and `query/tables?of=NAME`.
pub(crate) fn query(page: &Page, request: &Request, interest: &Interest) -> Result<Answer, Refusal> {
    let absent = || Refusal::absent("queries need the program `ridgeline-query`").hint("`make query` builds it");
    let program = page.query.as_ref().ok_or_else(absent)?;
    let asked = Asked { page, program, interest };
    let value = match request.parts()[..] {
        ["query"] => asked.rows(request.get("sql").unwrap_or_default()),
        ["query", "tables"] => match request.get("of") {
            None => asked.tables(),
            Some(table) => asked.columns(table),
        },
        ref other => Err(Refusal::absent(format!("nothing is called `{}`", other.join("/")))),
    }?;
    Ok(Answer::json(&value))
}

struct Asked<'p> {
    page: &'p Page,
    program: &'p QueryProgram,
    interest: &'p Interest,
}

impl Asked<'_> {
    fn rows(&self, sql: &str) -> Result<Value, Refusal> {
        if sql.trim().is_empty() {
            return Err(Refusal::bad("expected a query, found none"));
        }
        if sql.len() > MOST_SQL || sql.contains('\0') {
            let expected = format!("expected a query of at most {MOST_SQL} bytes, without a zero");
            return Err(Refusal::bad(format!("{expected}, found {} bytes", sql.len())));
        }
        let began = Instant::now();
        let written = self.written(&["--format=json", "--rows=0"], Some(sql))?;
        let took_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        table(written, took_ns)
    }

    fn tables(&self) -> Result<Value, Refusal> {
        let Written { text, .. } = self.written(&["--tables"], None)?;
        // The sentence below the tables, which an empty line sets off, is about names without a schema.
        let (list, order) = text.split_once("\n\n").unwrap_or((&text, ""));
        let named = |line: &str| {
            let (name, about) = line.split_once(' ').unwrap_or((line, ""));
            name.contains('.').then(|| json!([name, about.trim()]))
        };
        Ok(json!({ "tables": list.lines().filter_map(named).collect::<Vec<_>>(), "order": order.trim() }))
    }

    fn columns(&self, table: &str) -> Result<Value, Refusal> {
        let Written { text, .. } = self.written(&[&format!("--tables={table}")], None)?;
        let is_count = |line: &str| line.strip_suffix(" rows").is_some_and(|n| n.trim().parse::<u64>().is_ok());
        let column = |line: &str| {
            let (name, rest) = line.trim_start().split_once(' ')?;
            (line.starts_with("  ") && !is_count(line)).then(|| json!([name, rest.trim()]))
        };
        Ok(json!({ "table": table, "columns": text.lines().filter_map(column).collect::<Vec<_>>() }))
    }

    fn written(&self, options: &[&str], sql: Option<&str>) -> Result<Written, Refusal> {
        let written = self.program.ask(options, &self.page.paths, sql, self.interest);
        written.map_err(|refusal| self.without_folder(refusal))
    }

    /// The refusal without where a file is kept that came from the page.
    fn without_folder(&self, refusal: Refusal) -> Refusal {
        let folders = self.page.paths.iter().filter(|_| self.page.hides_folders()).filter_map(|path| path.parent());
        folders.fold(refusal, |refusal, folder| Refusal {
            message: refusal.message.replace(&format!("{}/", folder.display()), ""),
            ..refusal
        })
    }
}

/// The rows of a document `ridgeline.query.v1`, whole or cut, in the form of the page's tables.
fn table(Written { text, is_cut }: Written, took_ns: u64) -> Result<Value, Refusal> {
    let whole = if is_cut { mended(&text) } else { text };
    let unreadable = |why: &str| Refusal {
        status: 500,
        message: format!("expected the answer of `ridgeline-query` as JSON: {why}"),
        hints: vec!["Both programs should be of one version.".to_owned()],
    };
    let document: Value = serde_json::from_str(&whole).map_err(|error| unreadable(&error.to_string()))?;
    let (Some(columns), Some(rows)) = (document["columns"].as_array(), document["rows"].as_array()) else {
        return Err(unreadable("no columns, or no rows"));
    };
    let keys: Vec<&str> = columns.iter().filter_map(|column| column["key"].as_str()).collect();
    let cells = |row: &Value| keys.iter().map(|key| cell(&row[*key])).collect::<Vec<_>>();
    let rows: Vec<_> = rows.iter().take(MOST_ROWS).map(cells).collect();
    let is_long = is_cut || document["rows"].as_array().is_some_and(|all| all.len() > MOST_ROWS);
    Ok(json!({
        "title": "Answer",
        "columns": columns.iter().map(column).collect::<Vec<_>>(),
        "total": rows.len(),
        "cut": is_long.then(|| cut(rows.len())),
        "rows": rows,
        "took_ns": took_ns,
    }))
}

fn cut(rows: usize) -> String {
    format!("Only the first {rows} rows are here; `ridgeline query -f csv` writes all.")
}

/// What stands before the first row.
const ROWS: &str = "\"rows\": [";

/// A document without the rows behind the last whole one, one line each.
fn mended(text: &str) -> String {
    let rows = text.rfind("},\n").map_or_else(|| text.find(ROWS).map_or(0, |at| at + ROWS.len()), |at| at + 1);
    format!("{}]}}", &text[..rows])
}

fn column(column: &Value) -> Value {
    let unit = match column["type"].as_str() {
        Some("whole") => "count",
        Some("number") => "number",
        Some("flag") => "flag",
        _ => "text",
    };
    json!({ "id": column["key"], "title": column["key"], "about": "", "unit": unit, "type": unit, "basis": null, "rank": "normal" })
}

/// A value; a whole number that would lose digits in a browser as text.
fn cell(value: &Value) -> Value {
    let size = value.as_u64().or_else(|| value.as_i64().map(i64::unsigned_abs));
    match size {
        Some(size) if size > MOST_WHOLE => Value::String(value.to_string()),
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_document_keeps_its_whole_rows() {
        let head = "{\n  \"columns\": [{\"key\": \"a\"}],\n  \"rows\": [";
        for (rows, expected) in [("\n    {\"a\": 1},\n    {\"a\": 2},\n    {\"a", 2), ("\n    {\"a\": \"},", 0)] {
            let document: Value = serde_json::from_str(&mended(&format!("{head}{rows}"))).expect("JSON");
            assert_eq!(document["rows"].as_array().map(Vec::len), Some(expected), "{rows}");
        }
    }

    #[test]
    fn whole_numbers_keep_their_digits() {
        assert_eq!(cell(&json!(1_790_000_000_000_000_001_i64)), json!("1790000000000000001"));
        assert_eq!((cell(&json!(-5)), cell(&json!(1e300)), cell(&Value::Null)), (json!(-5), json!(1e300), Value::Null));
    }
}
