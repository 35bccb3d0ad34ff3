//! A view: one table that a capture can be asked for, with all that faces say of it.

mod columns;
mod sheet;

pub(crate) use columns::{Field, Value, Words, columns};
pub(crate) use sheet::Sheet;

use crate::Analysis;
use crate::context::Need;
use crate::models::roofline::Chart;
use ridge_table::Table;
use ridge_trace::{DeviceRow, ModuleRow};
use std::fmt;

/// What views are about; each is a command and a part of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// Where device and host time went.
    Time,
    /// How far work is from what its device allows.
    Roofline,
    /// Why devices were idle.
    Idle,
    /// What was copied.
    Transfers,
    /// Memory, planned and measured.
    Memory,
}

impl Topic {
    /// Every topic, in the order reports show them.
    pub const ALL: [Topic; 5] = [Topic::Time, Topic::Roofline, Topic::Idle, Topic::Transfers, Topic::Memory];

    /// The command that shows its views.
    pub fn command(self) -> &'static str {
        match self {
            Topic::Time => "stats",
            Topic::Roofline => "roofline",
            Topic::Idle => "idle",
            Topic::Transfers => "transfers",
            Topic::Memory => "memory",
        }
    }
}

/// Where a view is shown without being asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// In the report of its topic, where the capture answers it.
    InReport,
    /// In the report, where it has at least so many rows.
    WithRows(usize),
    /// In documents for programs: people see its numbers drawn among the facts.
    ForPrograms,
    /// Only where it is named.
    WhenNamed,
}

/// One table that a capture can be asked for.
pub struct View {
    /// What it is about.
    pub topic: Topic,
    /// Its name on the command line and in addresses, one of a kind within its topic.
    pub id: &'static str,
    /// What its rows are, for `--help` and menus: a few words.
    pub about: &'static str,
    /// What documents call its table, where that is not its id.
    pub documented: Option<&'static str>,
    /// Other names: those it had, and those of other tools' reports.
    pub aliases: &'static [&'static str],
    /// Whether it is shown where none is named.
    pub shown: Shown,
    /// What must be there before several views are made in parallel.
    pub needs: &'static [Need],
    /// Whether this capture has what the view is about.
    pub answers: fn(&Analysis<'_>) -> bool,
    /// Its drawings, where it is drawn.
    pub charts: Option<fn(&Analysis<'_>) -> Vec<Chart>>,
    /// Makes the table.
    pub make: fn(&Analysis<'_>, &Ask<'_>) -> Table,
}

impl View {
    /// A view of `topic` without a name or a table, which its owner gives it: any capture with events answers it, and
    /// it is shown where it is named.
    pub(crate) const fn of(topic: Topic) -> View {
        View {
            topic,
            id: "",
            about: "",
            documented: None,
            aliases: &[],
            shown: Shown::WhenNamed,
            needs: &[],
            answers: has_events,
            charts: None,
            make: |_, _| unreachable!("every view makes its own"),
        }
    }

    /// The table of `analysis`.
    pub fn table(&self, analysis: &Analysis<'_>, ask: &Ask<'_>) -> Table {
        Table { name: self.documented.unwrap_or(self.id), ..(self.make)(analysis, ask) }
    }

    /// Whether `name` is its id or another name of it.
    pub fn is_called(&self, name: &str) -> bool {
        self.id == name || self.aliases.contains(&name)
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "View({} {})", self.topic.command(), self.id)
    }
}

/// The text of a line of source: by file and line, where it is at hand.
pub type LineText<'q> = &'q (dyn Fn(&str, u32) -> Option<String> + Sync);

/// What else a view is asked for.
#[derive(Clone, Copy, Default)]
pub struct Ask<'q> {
    /// These devices alone; all where there is no choice.
    pub devices: Option<&'q [DeviceRow]>,
    /// The module that the view is about; the one that matters most where none is named.
    pub module: Option<ModuleRow>,
    /// As many rows as will be shown, where making the others would cost; all where `None`.
    pub rows: Option<usize>,
    /// The text of source lines.
    pub line_text: Option<LineText<'q>>,
}

impl fmt::Debug for Ask<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask").field("devices", &self.devices).field("module", &self.module).finish_non_exhaustive()
    }
}

/// For views that any capture with events answers.
pub(crate) fn has_events(analysis: &Analysis<'_>) -> bool {
    !analysis.trace.events.is_empty()
}
