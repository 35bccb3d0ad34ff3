//! What the computation of a fusion moves, parameter by parameter.

use super::Traffic;
use super::demand::Demand;
use super::work::CEILING;
use crate::InstructionId;

/// What a fusion's computation moves.
#[derive(Debug, Clone, Default)]
pub(super) struct Body {
    /// The part of each instruction's elements that is needed, in file order.
    pub(super) shares: Vec<f64>,
    /// XLA's count.
    pub(super) bytes_accessed: Traffic,
    /// What it needs of each parameter, in file order.
    pub(super) reads: Vec<Read>,
    /// Where in `reads` each parameter is, by number.
    pub(super) by_number: Vec<Option<usize>>,
    /// Bytes of constants too large to be code.
    pub(super) constants: f64,
    pub(super) written: f64,
}

/// What is needed of one parameter.
#[derive(Debug, Clone)]
pub(super) struct Read {
    pub(super) parameter: InstructionId,
    pub(super) demand: Demand,
    pub(super) bytes: f64,
    /// Bytes as XLA counts them.
    pub(super) bytes_accessed: f64,
}

impl Body {
    /// Its traffic if every parameter is another array.
    pub(super) fn compulsory(&self) -> Traffic {
        let read = self.reads.iter().map(|read| read.bytes).sum::<f64>() + self.constants;
        Traffic::new(read.min(CEILING), self.written)
    }

    /// What it reads of the parameter with this number.
    pub(super) fn read_of(&self, number: usize) -> Option<&Read> {
        self.reads.get((*self.by_number.get(number)?)?)
    }

    pub(super) fn add_read(&mut self, number: Option<i64>, read: Read) {
        let number = number.and_then(|number| usize::try_from(number).ok());
        // Parameters are numbered from 0 without gaps, so a number past all instructions names none.
        if let Some(number) = number.filter(|&number| number < self.by_number.len()) {
            self.by_number[number] = Some(self.reads.len());
        }
        self.reads.push(read);
    }
}
