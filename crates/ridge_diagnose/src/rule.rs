//! A rule: what it judges, what it asks, and how it finds.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Doubt, Question};
use ridge_analysis::Need;

/// What rules are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Whether the capture can answer.
    Fitness,
    /// The host and what it launches.
    Host,
    /// Copies.
    Copies,
    /// Kernels and operations.
    Compute,
    /// The structure of compiled programs.
    Structure,
    /// Memory.
    Memory,
    /// Several devices and hosts.
    Devices,
    /// Servers of language models.
    Serving,
}

impl Group {
    /// The heading in lists.
    pub fn name(self) -> &'static str {
        match self {
            Group::Fitness => "fitness",
            Group::Host => "host",
            Group::Copies => "copies",
            Group::Compute => "compute",
            Group::Structure => "structure",
            Group::Memory => "memory",
            Group::Devices => "devices",
            Group::Serving => "serving",
        }
    }
}

/// Finds among what the causes left: rows of the breakdown that they claim, each with the share claimed.
pub type FindRest = fn(&Case<'_>, &[(usize, f32)]) -> Vec<Finding>;

/// How a rule finds.
#[derive(Debug, Clone, Copy)]
pub enum Find {
    /// It judges the capture.
    Doubts(fn(&Case<'_>, &mut Vec<Doubt>)),
    /// It finds causes; nothing found is a verdict, too.
    Causes(fn(&Case<'_>) -> Result<Vec<Finding>, CannotTell>),
    /// It looks at what is left, once it is known which rows of the breakdown the causes worth mending claim.
    Rest(FindRest),
}

/// One rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its name in text, JSON and `--select`.
    pub id: &'static str,
    /// What it is about.
    pub group: Group,
    /// What it finds: a few words.
    pub summary: &'static str,
    /// Its document, in Markdown; the examples in it are its tests.
    pub document: &'static str,
    /// What the capture must be able to answer for it.
    pub asks: &'static [Question],
    /// Rules whose findings are symptoms of this one's, where both claim the same time.
    pub explains: &'static [&'static str],
    /// What must be there before rules run in parallel.
    pub needs: &'static [Need],
    /// How it finds.
    pub find: Find,
}
