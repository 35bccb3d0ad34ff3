//! The eight tools: what each takes, and what it says.

use crate::captures::Captures;
use crate::reply::{LEAST_CHARACTERS, MOST_CHARACTERS, Refusal, USUAL_CHARACTERS, fitted};
use crate::tables::{Asked, Filter, MOST_ROWS, USUAL_ROWS, catalog, named, rows};
use crate::words;
use ridge_report::diff::{Options as Shown, text as diff_text};
use ridge_report::terminal::Layout;
use ridgeline::{
    AnnotateOptions, Change, DiffOptions, Effect, GuideOptions, OtherDevice, RULES, Selection, did_you_mean, diff,
    explanation, rule,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Captures with more events are judged by `findings` alone, because it takes longer than opening them.
const MOST_JUDGED_UNASKED: usize = 1 << 20;
/// Rows of a comparison.
const DIFF_ROWS: usize = 12;
/// Columns of text that is laid out.
const WIDTH: usize = 118;

/// What the tools of one conversation know.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    captures: Captures,
}

impl Tools {
    /// What the tool called `name` says; `None` where there is none of that name.
    pub(crate) fn call(&mut self, name: &str, arguments: Value) -> Option<Result<String, Refusal>> {
        Some(match name {
            "open" => read(arguments).and_then(|asked| self.open(asked)),
            "findings" => read(arguments).and_then(|asked| self.findings(&asked)),
            "explain" => read(arguments).and_then(|asked| explain(&asked)),
            "table" => read(arguments).and_then(|asked| self.table(asked)),
            "diff" => read(arguments).and_then(|asked| self.diff(&asked)),
            "what_if" => read(arguments).and_then(|asked| self.what_if(&asked)),
            "source" => read(arguments).and_then(|asked| self.source(&asked)),
            "next" => read(arguments).and_then(|asked| self.next(&asked)),
            _ => return None,
        })
    }

    fn open(&mut self, asked: Open) -> Result<String, Refusal> {
        let paths: Vec<PathBuf> = asked.path.into_iter().chain(asked.paths).collect();
        if paths.is_empty() {
            return Err(Refusal::new("expected a path, found none"));
        }
        let (id, session) = self.captures.open(paths)?;
        let is_small = session.trace().events.len() <= MOST_JUDGED_UNASKED;
        let check = is_small.then(|| session.check(&Selection::default()));
        Ok(asked.size.fit(words::capture(&id, &session, check.as_ref()), ""))
    }

    fn findings(&mut self, asked: &Findings) -> Result<String, Refusal> {
        let session = self.captures.get(&asked.id)?;
        let check = session.check(&Selection { only: asked.rules.clone(), ignored: Vec::new() });
        Ok(asked.size.fit(words::findings(&check, asked.all), "name \"rules\""))
    }

    fn table(&mut self, asked: TableAsked) -> Result<String, Refusal> {
        let session = self.captures.get(&asked.id)?;
        let Some(name) = &asked.view else {
            let text = "views of this capture, for \"view\":\n".to_owned() + &catalog(&session);
            return Ok(asked.size.fit(text, ""));
        };
        let view = named(name).ok_or_else(|| {
            Refusal::new(format!("unknown view `{name}`")).hint("`table` without \"view\" lists them")
        })?;
        let filters = asked.filter.iter().map(|filter| Filter::read(filter)).collect::<Result<_, _>>()?;
        let how = Asked {
            filters,
            sort: asked.sort,
            top: asked.top.unwrap_or(USUAL_ROWS).min(MOST_ROWS),
            columns: asked.columns,
            definitions: asked.definitions,
        };
        Ok(asked.size.fit(rows(&session, view, &how, asked.size.characters())?, "name \"columns\""))
    }

    fn diff(&mut self, asked: &DiffAsked) -> Result<String, Refusal> {
        let before = self.captures.paths(&asked.before)?.to_vec();
        let after = self.captures.paths(&asked.after)?.to_vec();
        let found = diff(&before, &after, &DiffOptions::default())?;
        let by = match asked.by.as_deref() {
            None => Shown::default().by,
            Some(name) => division(name)?,
        };
        let text = diff_text::render(&found, &Shown { by, rows: DIFF_ROWS }, &Layout::plain(WIDTH));
        Ok(asked.size.fit(words::basis_of_diff() + &text, "name \"by\""))
    }

    fn what_if(&mut self, asked: &WhatIfAsked) -> Result<String, Refusal> {
        let session = self.captures.get(&asked.id)?;
        let changes = asked.edits.iter().map(Edit::change).collect::<Result<Vec<_>, _>>()?;
        let device =
            asked.target.as_ref().map(|name| OtherDevice { name: name.clone(), captured_on: asked.r#as.clone() });
        let answer = session.what_if(&changes, device.as_ref())?;
        let concerned: String = (0..answer.changes.batch.num_rows())
            .map(|row| {
                let cell = |name: &str| {
                    answer.changes.batch.column_by_name(name).map(|column| ridge_report::json::value(column, row))
                };
                let text = |name: &str| {
                    cell(name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
                };
                let [pattern, effect, events, total] =
                    ["pattern", "effect", "events", "total_ns"].map(|name| text(name).unwrap_or_default());
                format!(
                    "change: `{}` {effect}: {events} events (counted), {total} ns (measured)\n",
                    ridge_report::escape_controls(&pattern)
                )
            })
            .collect();
        Ok(asked.size.fit(concerned + &words::what_if(&answer), ""))
    }

    fn source(&mut self, asked: &Source) -> Result<String, Refusal> {
        let session = self.captures.get(&asked.id)?;
        let range = asked.lines.as_deref().map(range).transpose()?;
        let files = asked.file.iter().map(PathBuf::from).collect();
        let findings = session.trace().events.len() <= MOST_JUDGED_UNASKED;
        let options = AnnotateOptions { files, most_files: 1, findings };
        let annotation = session.annotate(&options)?;
        let mut text: String = annotation.files.iter().map(|file| words::source(&annotation, file, range)).collect();
        if asked.file.is_none() && !annotation.others.is_empty() {
            let others: Vec<String> = annotation
                .others
                .iter()
                .take(10)
                .map(|(name, _)| ridge_report::escape_controls(name).into_owned())
                .collect();
            let all = annotation.others.len();
            text.push_str(&format!("[{} of {all} other files: {}]\n", others.len(), others.join(", ")));
        }
        Ok(asked.size.fit(text, "name \"lines\": \"FIRST-LAST\""))
    }

    fn next(&mut self, asked: &Next) -> Result<String, Refusal> {
        let session = self.captures.get(&asked.id)?;
        let guide = session.guide(&GuideOptions { meant: asked.r#as.clone() })?;
        Ok(asked.size.fit(words::guide(&guide), ""))
    }
}

fn explain(asked: &Explain) -> Result<String, Refusal> {
    let name = &asked.rule;
    let found = rule(name).ok_or_else(|| {
        let ids = || RULES.iter().map(|rule| rule.id);
        let all = || format!("rules: {}", ids().collect::<Vec<_>>().join(", "));
        Refusal::new(format!("unknown rule `{name}`")).hint(did_you_mean(name, ids()).unwrap_or_else(all))
    })?;
    let record = ridgeline::blind_record_of(found.id).map(|record| format!("\nRecord: {}.\n", record.words()));
    let text = format!("{}{}", explanation(found), record.unwrap_or_default());
    Ok(asked.size.fit(text, ""))
}

fn division(name: &str) -> Result<ridge_report::diff::Shown, Refusal> {
    use ridge_report::diff::Shown::{Compile, Division, Memory, Steps};
    use ridgeline::comparison::By;
    Ok(match name {
        "part" => Division(By::Part),
        "op" => Division(By::Op),
        "kernel" => Division(By::Kernel),
        "category" => Division(By::Category),
        "line" => Division(By::Line),
        "copy" => Division(By::Copy),
        "idle" => Division(By::Idle),
        "step" => Steps,
        "memory" => Memory,
        "compile" => Compile,
        _ => return Err(Refusal::new(format!("expected {DIVISIONS}, found `{name}`"))),
    })
}

const DIVISIONS: &str = "part, op, kernel, category, line, copy, idle, step, memory or compile";

/// `12-40`, or `12` for one line.
fn range(text: &str) -> Result<(u32, u32), Refusal> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.trim().parse::<u32>(), last.trim().parse::<u32>()) {
        (Ok(first), Ok(last)) if 1 <= first && first <= last => Ok((first, last)),
        _ => Err(Refusal::new(format!("expected lines such as \"12-40\", found `{text}`"))),
    }
}

fn read<T: for<'de> Deserialize<'de>>(arguments: Value) -> Result<T, Refusal> {
    let arguments = if arguments.is_null() { json!({}) } else { arguments };
    T::deserialize(arguments).map_err(|error| Refusal::new(format!("expected other arguments: {error}")))
}

/// How long a reply may be.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
struct Size(Option<usize>);

impl Size {
    fn characters(&self) -> usize {
        self.0.unwrap_or(USUAL_CHARACTERS).clamp(LEAST_CHARACTERS, MOST_CHARACTERS)
    }

    fn fit(&self, text: String, how: &str) -> String {
        fitted(text, self.characters(), how)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Open {
    path: Option<PathBuf>,
    #[serde(default)]
    paths: Vec<PathBuf>,
    #[serde(default, rename = "characters")]
    size: Size,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Findings {
    id: String,
    #[serde(default)]
    all: bool,
    #[serde(default)]
    rules: Vec<String>,
    #[serde(default, rename = "characters")]
    size: Size,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Explain {
    rule: String,
    #[serde(default, rename = "characters")]
    size: Size,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableAsked {
    id: String,
    view: Option<String>,
    #[serde(default)]
    filter: Vec<String>,
    sort: Option<String>,
    top: Option<usize>,
    #[serde(default)]
    columns: Vec<String>,
    #[serde(default)]
    definitions: bool,
    #[serde(default, rename = "characters")]
    size: Size,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DiffAsked {
    before: String,
    after: String,
    by: Option<String>,
    #[serde(default, rename = "characters")]
    size: Size,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WhatIfAsked {
    id: String,
    #[serde(default)]
    edits: Vec<Edit>,
    /// `device` in earlier versions.
    #[serde(alias = "device")]
    target: Option<String>,
    /// `captured_on` in earlier versions.
    #[serde(alias = "captured_on")]
    r#as: Option<String>,
    #[serde(default, rename = "characters")]
    size: Size,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    change: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    times: Option<f32>,
}

impl Edit {
    fn change(&self) -> Result<Change, Refusal> {
        let times = || match self.times {
            Some(times) if times.is_finite() && (1e-3..=1e6).contains(&times) => Ok(times),
            found => Err(Refusal::new(format!("expected \"times\" from 0.001 to 1000000, found {found:?}"))),
        };
        let effect = match self.change.as_str() {
            "remove" => Effect::Remove,
            "faster" => Effect::Faster(times()?),
            "host_faster" => Effect::HostFaster(times()?),
            "no_wait" => Effect::NoWait,
            "overlap" => Effect::Overlap,
            other => {
                return Err(Refusal::new(format!(
                    "expected remove, faster, host_faster, no_wait or overlap, found `{other}`"
                )));
            }
        };
        let pattern = match (&self.name, effect) {
            (Some(name), _) => name.clone(),
            (None, Effect::Overlap) => "*".to_owned(),
            (None, _) => {
                return Err(Refusal::new("expected the \"name\" of the work to change; `*` matches any characters"));
            }
        };
        Ok(Change { pattern, effect })
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    id: String,
    file: Option<String>,
    lines: Option<String>,
    #[serde(default, rename = "characters")]
    size: Size,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Next {
    id: String,
    #[serde(default)]
    r#as: Option<String>,
    #[serde(default, rename = "characters")]
    size: Size,
}

/// The tools as a client lists them.
pub(crate) fn listed() -> Value {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let texts = |about: &str| json!({ "type": "array", "items": { "type": "string" }, "description": about });
    let flag = |about: &str| json!({ "type": "boolean", "description": about });
    let id = || text("The capture's id from `open`: c1");
    let edit = json!({
        "type": "object",
        "properties": {
            "change": { "type": "string", "enum": ["remove", "faster", "host_faster", "no_wait", "overlap"] },
            "name": text("A kernel, operation, copy, call or range; * matches any characters"),
            "times": { "type": "number", "description": "Speedup: 2 is twice as fast" },
        },
        "required": ["change"],
    });
    json!([
        tool(
            "open",
            "Open a capture: a file or directory of Ridgeline, JAX or XProf, PyTorch, Nsight, rocprof. Returns its id, its quality, lost data, its devices, and the time breakdown.",
            json!({ "path": text("File or directory"), "paths": texts("Several, such as one per host") }),
            &[]
        ),
        tool(
            "findings",
            "The program's bottlenecks, largest first: location, cause, fix, predicted saving.",
            json!({ "id": id(), "all": flag("Also minor findings, and rules that couldn't decide, with the reason"), "rules": texts("Only these rules or groups") }),
            &["id"]
        ),
        tool(
            "explain",
            "A rule's page: the problem, its fix, and the cases in which the rule is wrong.",
            json!({ "rule": text("Its name in `findings`") }),
            &["rule"]
        ),
        tool(
            "table",
            "Rows of a view as tab-separated text, unit and basis in the header. Without a view: the views of this capture.",
            json!({
                "id": id(), "view": text("Such as op, kernel, source, memory/peak"),
                "filter": texts("Conditions that rows must meet: calls>=10, op~gemm"),
                "sort": text("A column; COLUMN:asc or COLUMN:desc"),
                "top": { "type": "integer", "minimum": 1, "maximum": MOST_ROWS, "description": "Rows, 20 by default" },
                "columns": texts("Only these columns"), "definitions": flag("Explain each column"),
            }),
            &["id"]
        ),
        tool(
            "diff",
            "What got faster or slower from one capture to another, by how much, how certain that is, and why.",
            json!({ "before": id(), "after": id(), "by": text(DIVISIONS) }),
            &["before", "after"]
        ),
        tool(
            "what_if",
            "Predicted saving of several changes together, by replaying the capture; without edits, how well it can be replayed.",
            json!({
                "id": id(), "edits": { "type": "array", "items": edit },
                "target": text("Predict for another GPU: h100"), "as": text("The captured GPU, if not recorded"),
            }),
            &["id"]
        ),
        tool(
            "source",
            "Lines of the program with their times; without a file, the one with the most time.",
            json!({ "id": id(), "file": text("Such as train.py"), "lines": text("FIRST-LAST") }),
            &["id"]
        ),
        tool(
            "next",
            "The questions that the capture answers, and for each open one the command that answers it.",
            json!({ "id": id(), "as": text("Target GPU of a CPU recording: h100") }),
            &["id"]
        ),
    ])
}

fn tool(name: &str, about: &str, mut properties: Value, required: &[&str]) -> Value {
    properties["characters"] = json!({
        "type": "integer", "minimum": LEAST_CHARACTERS, "maximum": MOST_CHARACTERS,
        "description": format!("Maximum size of the reply in characters, {USUAL_CHARACTERS} by default"),
    });
    json!({
        "name": name,
        "description": about,
        "inputSchema": { "type": "object", "properties": properties, "required": required, "additionalProperties": false },
        "annotations": { "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false },
    })
}
