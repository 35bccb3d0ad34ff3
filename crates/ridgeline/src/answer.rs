//! Answers of a session: the views that were asked for, and the facts of their topic.

use crate::device_choice::devices_named;
use crate::error::{Details, OpenError};
use crate::hlo::{module_hlo, module_row};
use crate::session::Session;
use crate::source_text::SourceText;
use rayon::prelude::*;
use ridge_analysis::{Analysis, Ask, Chart, Shown, Topic, View, memory_changes, sections, view, views_of};
use ridge_table::{Section, Table};
use std::sync::Mutex;

/// Captures with fewer events are analyzed on one thread: starting others costs more.
const PARALLEL_EVENTS: usize = 1 << 16;

/// What is asked of a session beside its views.
#[derive(Debug, Clone, Copy, Default)]
pub struct Question<'q> {
    /// These devices alone: a number, or a part of a name.
    pub device: Option<&'q str>,
    /// The module that a view is about, by name or program id.
    pub module: Option<&'q str>,
    /// As many rows as will be shown, where making the others would cost; all where `None`.
    pub rows: Option<usize>,
}

/// The answer of one topic.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The single numbers of the topic.
    pub sections: Vec<Section>,
    /// The views that were asked for, in that order.
    pub tables: Vec<Table>,
}

impl Session {
    /// The views of `topic` that this capture answers, without those that are shown only where they are named.
    pub fn answered(&self, topic: Topic) -> Vec<&'static View> {
        let shown = views_of(topic).filter(|view| view.shown != Shown::WhenNamed);
        self.with_analysis(|analysis| shown.filter(|view| (view.answers)(analysis)).collect())
    }

    /// The views of `topic` that this capture answers, those that are shown only where they are named among them.
    pub fn answerable(&self, topic: Topic) -> Vec<&'static View> {
        self.with_analysis(|analysis| views_of(topic).filter(|view| (view.answers)(analysis)).collect())
    }

    /// The facts of `topic` and the tables of `views`; those of a large capture are made in parallel.
    ///
    /// # Errors
    /// [`OpenError`] where `question` names a device or a module that is not there.
    pub fn answer(&self, topic: Topic, views: &[&View], question: Question<'_>) -> Result<Answer, OpenError> {
        let (mut answer, of_lines) = self.asked(question, |analysis, ask| {
            if self.trace().events.len() < PARALLEL_EVENTS {
                let tables = views.iter().map(|view| view.table(analysis, ask)).collect();
                return Answer { sections: sections(analysis, topic, ask), tables };
            }
            views.iter().for_each(|view| analysis.prepare(view.needs));
            let (sections, tables) = rayon::join(
                || sections(analysis, topic, ask),
                || views.par_iter().map(|view| view.table(analysis, ask)).collect(),
            );
            Answer { sections, tables }
        })?;
        let of_source = answer.tables.iter_mut().find(|table| table.name == "source");
        of_source.into_iter().for_each(|table| table.footnotes.extend(of_lines.iter().cloned()));
        answer.tables = answer.tables.into_iter().map(|table| self.marked(table)).collect();
        Ok(answer)
    }

    /// The table of one view of `topic`, by its id or another name of it.
    ///
    /// # Errors
    /// [`OpenError`] where there is no such view.
    pub fn table(&self, topic: Topic, name: &str) -> Result<Table, OpenError> {
        let known = || views_of(topic).map(|view| view.id).collect::<Vec<_>>().join(", ");
        let found = view(topic, name).ok_or_else(|| {
            let details = Details::new(format!("unknown view `{name}` of {}", topic.command()));
            OpenError::UnknownName(details.hint(format!("its views: {}", known())))
        })?;
        let (mut table, of_lines) = self.asked(Question::default(), |analysis, ask| found.table(analysis, ask))?;
        table.footnotes.extend(of_lines);
        Ok(self.marked(table))
    }

    /// Wall time and its parts, each device, and how sure the attribution is.
    pub fn overview(&self) -> Vec<Section> {
        self.with_analysis(|analysis| sections(analysis, Topic::Time, &Ask::default()))
    }

    /// The drawings of `view`, one for each kind of device; none where it is not drawn.
    pub fn charts(&self, view: &View) -> Vec<Chart> {
        view.charts.map_or_else(Vec::new, |charts| self.with_analysis(charts))
    }

    /// Bytes in use over time of every allocator, at equal distances: its name, and most bytes of each stretch.
    pub fn memory_lines(&self) -> Vec<(String, Vec<u64>)> {
        self.with_analysis(|analysis| analysis.memory().lines(analysis.trace))
    }

    /// What changed from this capture's memory to that of `after`, largest change first.
    pub fn memory_changes(&self, after: &Session) -> Table {
        self.with_analysis(|before| after.with_analysis(|after| memory_changes(before, after)))
    }

    /// Lends the analysis with what `question` means in this capture; the answer, and what to know of the source lines in it.
    fn asked<T>(
        &self,
        question: Question<'_>,
        answer: impl FnOnce(&Analysis<'_>, &Ask<'_>) -> T,
    ) -> Result<(T, Vec<String>), OpenError> {
        let devices = question.device.map(|name| devices_named(self.trace(), name)).transpose()?;
        let module = question.module.map(|name| module_row(self.imported(), name)).transpose()?;
        if let Some(module) = module {
            module_hlo(self.imported(), module)?;
        }
        let texts = Mutex::new(SourceText::new(&self.imported().sources, self.run_folder()));
        let line_text = |file: &str, line: u32| texts.lock().ok()?.line(file, line);
        let ask = Ask {
            devices: devices.as_deref(),
            module: module.map(ridge_trace::ModuleRow),
            rows: question.rows,
            line_text: Some(&line_text),
        };
        let answer = self.with_analysis(|analysis| answer(analysis, &ask));
        let of_lines = texts.lock().map(|texts| texts.footnotes()).unwrap_or_default();
        Ok((answer, of_lines))
    }
}
