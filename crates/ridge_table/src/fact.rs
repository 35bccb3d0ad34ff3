//! Single numbers under a heading.

use crate::{Basis, Unit};

/// One number of an overview, with its definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// Name in JSON (`device_busy_ns`).
    pub key: String,
    /// Name for people (`Device busy`).
    pub title: String,
    /// The value with its unit.
    pub value: FactValue,
    /// The part it is of the whole that `definition` names, where that says something.
    pub share: Option<f64>,
    /// What is counted and how; empty where the title says it all.
    pub definition: String,
    /// Where the number comes from; `None` for words.
    pub basis: Option<Basis>,
}

impl Fact {
    /// A number and what it means; [`Fact::share`] and [`Fact::basis`] say more of it.
    pub fn new(
        key: impl Into<String>,
        title: impl Into<String>,
        value: FactValue,
        definition: impl Into<String>,
    ) -> Fact {
        let (key, title, definition) = (key.into(), title.into(), definition.into());
        Fact { key, title, value, share: None, definition, basis: None }
    }

    /// A number that the capture itself holds: numbers of things are counted, all else is measured.
    pub fn observed(
        key: impl Into<String>,
        title: impl Into<String>,
        value: FactValue,
        definition: impl Into<String>,
    ) -> Fact {
        let basis = match value {
            FactValue::Text(_) => None,
            FactValue::Count(_) => Some(Basis::Counted),
            _ => Some(Basis::Measured),
        };
        Fact { basis, ..Fact::new(key, title, value, definition) }
    }

    /// The same number as a part of the whole that its definition names, where there is one.
    pub fn share(mut self, share: Option<f64>) -> Fact {
        self.share = share;
        self
    }

    /// The same number saying where it comes from.
    pub fn basis(mut self, basis: Basis) -> Fact {
        self.basis = Some(basis);
        self
    }
}

/// The value of a [`Fact`].
#[derive(Debug, Clone, PartialEq)]
pub enum FactValue {
    /// Words.
    Text(String),
    /// Nanoseconds.
    Nanos(i64),
    /// Bytes.
    Bytes(u64),
    /// A number of things.
    Count(u64),
    /// A plain number.
    Number(f64),
    /// A real number in `Unit`: a rate, an intensity.
    Real(f64, Unit),
}

/// Facts under one heading: a device, the versions, what was lost.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Heading.
    pub title: String,
    /// The facts, in the order to show.
    pub facts: Vec<Fact>,
}
