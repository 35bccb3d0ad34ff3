//! An opened capture for Python.

use crate::errors::{bad_input, raised};
use crate::table::Table;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use ridge_report::check::{Options as Shown, json as check_json, text as check_text};
use ridge_report::diff::{Options as DiffShown, json as diff_json, text as diff_text};
use ridge_report::terminal::Layout;
use ridge_report::{Listing, Report, guide, json, terminal};
use ridge_web::Page;
use ridge_web::report::{Part, ReportOptions, report};
use ridgeline::{
    CeilingsChoice, Change, DiffOptions, Effect, GuideOptions, OpenOptions, OtherDevice, RULES, Selection, Session,
    Topic, did_you_mean, explanation, rule, view,
};
use std::path::PathBuf;

/// Columns of text.
const WIDTH: usize = 100;

/// A capture that was opened.
#[pyclass(frozen, module = "ridgeline._native")]
pub struct Capture {
    page: Page,
    paths: Vec<PathBuf>,
}

/// Opens the capture that `paths` name.
#[pyfunction]
#[pyo3(signature = (paths, read_as=None))]
pub fn open(py: Python<'_>, paths: Vec<PathBuf>, read_as: Option<String>) -> PyResult<Capture> {
    let options = OpenOptions { format: read_as, max_unpacked_bytes: None, ceilings: CeilingsChoice::None };
    let opened = py.detach(|| Session::open(&paths, &options));
    let session = opened.map_err(|error| raised(py, &error))?;
    Ok(Capture { page: Page::new(session).of(&paths), paths })
}

/// Compares the runs of two sides: the document of `ridgeline diff -f json`, and its text.
#[pyfunction]
pub fn diff(py: Python<'_>, before: Vec<PathBuf>, after: Vec<PathBuf>) -> PyResult<(String, String)> {
    let found = py.detach(|| {
        let found = ridgeline::diff(&before, &after, &DiffOptions::default())?;
        let shown = DiffShown::default();
        Ok((diff_json::document(&found, &shown), diff_text::render(&found, &shown, &Layout::plain(WIDTH))))
    });
    found.map_err(|error| raised(py, &error))
}

/// The document of a rule.
#[pyfunction]
pub fn explain(py: Python<'_>, name: &str) -> PyResult<&'static str> {
    match rule(name) {
        Some(found) => Ok(explanation(found)),
        None => {
            let ids = || RULES.iter().map(|rule| rule.id);
            let all = || format!("the rules: {}", ids().collect::<Vec<_>>().join(", "));
            let hint = did_you_mean(name, ids()).unwrap_or_else(all);
            Err(bad_input(py, &format!("unknown rule `{name}`"), &[hint]))
        }
    }
}

impl Capture {
    fn session(&self) -> &Session {
        self.page.session()
    }
}

#[pymethods]
impl Capture {
    /// What was opened.
    #[getter]
    fn paths(&self) -> Vec<PathBuf> {
        self.paths.clone()
    }

    /// The files: name, format, bytes.
    fn files(&self) -> Vec<(String, &'static str, u64)> {
        self.session().files().map(|(name, format, bytes)| (name.to_owned(), format, bytes)).collect()
    }

    /// The views that it answers: topic, name, what a row is.
    fn views(&self, py: Python<'_>) -> Vec<(&'static str, &'static str, &'static str)> {
        py.detach(|| {
            let of = |topic: Topic| self.session().answerable(topic).into_iter().map(move |view| (topic, view));
            Topic::ALL.into_iter().flat_map(of).map(|(topic, view)| (topic.command(), view.id, view.about)).collect()
        })
    }

    /// The table of a view; `None` where there is no view of that name.
    fn table(&self, py: Python<'_>, topic: &str, name: &str) -> PyResult<Option<Table>> {
        let topic = Topic::ALL.into_iter().find(|known| known.command() == topic);
        let Some(topic) = topic.filter(|topic| view(*topic, name).is_some()) else { return Ok(None) };
        let table = py.detach(|| self.session().table(topic, name)).map_err(|error| raised(py, &error))?;
        Table::of(table).map(Some).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Notes and overview: the document of `ridgeline stats -f json` without its tables.
    fn overview(&self, py: Python<'_>) -> String {
        py.detach(|| json::stats(&self.overview_report()))
    }

    /// The same as text.
    fn overview_text(&self, py: Python<'_>) -> String {
        py.detach(|| terminal::render(&self.overview_report(), &Layout::plain(WIDTH)))
    }

    /// What holds the program back: the document of `ridgeline check -f json`, and its text.
    #[pyo3(signature = (select, ignore, everything=false))]
    fn check(
        &self,
        py: Python<'_>,
        select: Vec<String>,
        ignore: Vec<String>,
        everything: bool,
    ) -> PyResult<(String, String)> {
        let unknown = select.iter().chain(&ignore).find(|name| !is_known(name));
        if let Some(name) = unknown {
            let message = format!("unknown rule or group `{name}`");
            let hint = did_you_mean(name, RULES.iter().map(|rule| rule.id));
            return Err(bad_input(py, &message, &[hint.unwrap_or_else(|| "`ridgeline rules` lists them".to_owned())]));
        }
        Ok(py.detach(|| {
            let check = self.session().check(&Selection { only: select, ignored: ignore });
            let shown = Shown { all: everything, accepted: Vec::new() };
            (check_json::document(&check, &shown), check_text::full(&check, &shown, &Layout::plain(WIDTH)))
        }))
    }

    /// What changes would save: the document of `ridgeline what-if -f json`, and its text.
    #[pyo3(signature = (changes, device=None, captured_on=None))]
    fn what_if(
        &self,
        py: Python<'_>,
        changes: Vec<(String, String, f32)>,
        device: Option<String>,
        captured_on: Option<String>,
    ) -> PyResult<(String, String)> {
        let changes = changes.iter().map(|change| read_change(py, change)).collect::<PyResult<Vec<Change>>>()?;
        let device = device.map(|name| OtherDevice { name, captured_on });
        let answer = py.detach(|| {
            let answer = self.session().what_if(&changes, device.as_ref())?;
            let notes = self.session().notes().iter().cloned().chain(answer.notes).collect();
            let tables = answer.on_target.into_iter().chain((!changes.is_empty()).then_some(answer.changes));
            let report = Report { notes, sections: answer.sections, tables: tables.map(Listing::whole).collect() };
            Ok((json::stats(&report), terminal::render(&report, &Layout::plain(WIDTH))))
        });
        answer.map_err(|error| raised(py, &error))
    }

    /// Which questions it answers, and what answers the others: the document of `ridgeline guide -f json`, and its text.
    #[pyo3(signature = (meant=None))]
    fn guide(&self, py: Python<'_>, meant: Option<String>) -> PyResult<(String, String)> {
        let answer = py.detach(|| self.session().guide(&GuideOptions { meant }));
        let answer = answer.map_err(|error| raised(py, &error))?;
        Ok((guide::json(&answer), guide::text(&answer, &Layout::plain(WIDTH))))
    }

    /// The page with `parts` of its answers in one file of at most `most_bytes`, and what was left out.
    #[pyo3(signature = (parts, most_bytes))]
    fn report(&self, py: Python<'_>, parts: Vec<String>, most_bytes: u64) -> PyResult<(String, Vec<String>)> {
        let part = |name: &String| {
            Part::ALL.into_iter().find(|part| part.name() == name).ok_or_else(|| {
                let names = Part::ALL.map(Part::name).join(", ");
                bad_input(py, &format!("unknown view `{name}` of the page"), &[format!("its views: {names}")])
            })
        };
        let parts = match parts.is_empty() {
            true => Part::ALL.to_vec(),
            false => parts.iter().map(part).collect::<PyResult<_>>()?,
        };
        let made = py.detach(|| report(&self.page, &ReportOptions { parts, most_bytes, opens_at: None }));
        let made = made.map_err(|refusal| bad_input(py, &refusal.message, &refusal.hints))?;
        Ok((made.html, made.left_out))
    }
}

impl Capture {
    fn overview_report(&self) -> Report {
        Report { notes: self.session().notes().to_vec(), sections: self.session().overview(), tables: Vec::new() }
    }
}

fn is_known(name: &str) -> bool {
    RULES.iter().any(|rule| rule.id == name || rule.group.name() == name)
}

fn read_change(py: Python<'_>, (kind, pattern, times): &(String, String, f32)) -> PyResult<Change> {
    let is_a_factor = times.is_finite() && (1e-3..=1e6).contains(times);
    let effect = match kind.as_str() {
        "faster" | "host_faster" if !is_a_factor => {
            return Err(bad_input(py, &format!("expected 0.001 to 1000000 times as fast, found {times}"), &[]));
        }
        "remove" => Effect::Remove,
        "faster" => Effect::Faster(*times),
        "host_faster" => Effect::HostFaster(*times),
        "no_wait" => Effect::NoWait,
        "overlap" => Effect::Overlap,
        other => return Err(bad_input(py, &format!("unknown change `{other}`"), &[])),
    };
    Ok(Change { pattern: pattern.clone(), effect })
}
