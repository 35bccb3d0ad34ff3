//! The names of a trace as they may be shown: each distinct text cleaned once.

use ridge_redact::{Removed, Words};
use ridgeline::Trace;
use ridgeline::trace::StringId;
use std::borrow::Cow;

/// Texts by their ids.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    texts: Vec<Cow<'a, str>>,
    /// What is private; `None` where it stays.
    words: Option<Words>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(trace: &'a Trace, privacy: Privacy<'_>) -> Names<'a> {
        let mut words = match privacy {
            Privacy::RemovedWith(words) => words.clone(),
            Privacy::Removed | Privacy::Kept => Words::default(),
        };
        trace.processes.iter().for_each(|process| words.add_host(trace.strings.get(process.name)));
        let words = if matches!(privacy, Privacy::Kept) { None } else { Some(words) };
        Names { texts: trace.strings.iter().map(|text| clean(words.as_ref(), text)).collect(), words }
    }

    /// `text`, which is not among the names, as it may be shown.
    pub(crate) fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        clean(self.words.as_ref(), text)
    }

    /// The text of `id`, empty for one of another table.
    pub(crate) fn get(&self, id: StringId) -> &str {
        self.texts.get(id.0 as usize).map_or("", |text| text)
    }

    /// How many texts there are.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The name of the process at `row`: its own only where what is private stays.
    pub(crate) fn process(&self, trace: &Trace, row: usize) -> String {
        let name = trace.processes.get(row).map_or("", |process| self.get(process.name));
        if self.words.is_some() || name.is_empty() { format!("process {row}") } else { name.to_owned() }
    }

    /// The name of the device at `row`: its plane and its model.
    pub(crate) fn device(trace: &Trace, row: usize) -> String {
        let Some(device) = trace.devices.get(row) else { return format!("device {row}") };
        match &device.model {
            Some(model) => format!("{} {model}", device.plane),
            None => device.plane.clone(),
        }
    }
}

fn clean<'t>(words: Option<&Words>, text: &'t str) -> Cow<'t, str> {
    words.map_or(Cow::Borrowed(text), |words| words.clean(text, &mut Removed::default()))
}

/// What becomes of what is private in names: those of machines, people and processes, home folders, tokens.
#[derive(Debug, Clone, Copy)]
pub enum Privacy<'a> {
    /// It is taken out.
    Removed,
    /// It is taken out, and so are these names.
    RemovedWith(&'a Words),
    /// It stays: somebody asked for it.
    Kept,
}
