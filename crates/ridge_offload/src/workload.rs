//! What one call of a region has to do, whatever does it.

use crate::Class;
use crate::board::MemoryKind;
use crate::operators::{Format, Operator};

/// So many of one operator in one format.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Operations {
    /// What is done.
    pub operator: Operator,
    /// In which format.
    pub format: Format,
    /// How often.
    pub count: f64,
}

/// What one call has to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// What kind of work decides its time.
    pub class: Class,
    /// All arithmetic.
    pub operations: Vec<Operations>,
    /// Bytes between the board's memory and the chip where everything between stays on the chip.
    pub bytes: f64,
    /// Bytes that have to stay on the chip for that: state of loops, values that are read twice.
    pub kept_bytes: f64,
    /// Bytes more where they cannot.
    pub spilled_bytes: f64,
    /// Bytes that lines of neighbors take on the chip.
    pub line_buffer_bytes: f64,
    /// Bytes that come from the host or the GPU, and in how many buffers.
    pub input: (f64, f64),
    /// Bytes that go back, and in how many buffers.
    pub output: (f64, f64),
    /// The part of the input that a loop around it leaves alone, so that it is sent once for all its iterations.
    pub kept_input: (f64, f64),
    /// The part of the output that nobody asks for before the loop around it ends.
    pub kept_output: (f64, f64),
    /// Iterations that follow one another.
    pub iterations: f64,
    /// Clocks of the operators on the longest path of an iteration.
    pub path_clocks: f64,
    /// Sweeps over a grid that may be chained on the chip.
    pub stencil: Option<Stencil>,
    /// Products of matrices.
    pub contractions: Vec<Contraction>,
    /// Tables that are accessed in an order that data decide.
    pub tables: Vec<Table>,
    /// Long records put in order by merging.
    pub merge_sort: Option<MergeSort>,
    /// What a design has decided already.
    pub limits: Limits,
}

impl Default for Workload {
    fn default() -> Workload {
        Workload {
            class: Class::Stream,
            operations: Vec::new(),
            bytes: 0.0,
            kept_bytes: 0.0,
            spilled_bytes: 0.0,
            line_buffer_bytes: 0.0,
            input: (0.0, 0.0),
            output: (0.0, 0.0),
            kept_input: (0.0, 0.0),
            kept_output: (0.0, 0.0),
            iterations: 1.0,
            path_clocks: 0.0,
            stencil: None,
            contractions: Vec::new(),
            tables: Vec::new(),
            merge_sort: None,
            limits: Limits::default(),
        }
    }
}

/// Sweeps of a stencil over one grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Stencil {
    /// Cells to each side that a cell needs.
    pub radius: f64,
    /// Extents of the grid, slowest first.
    pub extents: Vec<f64>,
    /// Bytes that one cell takes in a line buffer.
    pub cell_bytes: f64,
    /// Bytes read and written for a cell each time the grid passes.
    pub moved_bytes: f64,
    /// Sweeps.
    pub sweeps: f64,
}

/// Products of `batch` pairs of matrices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contraction {
    /// Rows of the result.
    pub m: f64,
    /// Columns of the result.
    pub n: f64,
    /// Length of each sum.
    pub k: f64,
    /// How many products of this kind.
    pub batch: f64,
    /// Bytes of one number.
    pub element_bytes: f64,
}

/// A table that is accessed in an order that data decide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Table {
    /// Accesses.
    pub accesses: f64,
    /// Bytes of one access.
    pub access_bytes: f64,
    /// Bytes of the table.
    pub bytes: f64,
    /// Whether each access reads, changes and writes.
    pub is_updated: bool,
}

/// Records put in order by merging.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MergeSort {
    /// Records.
    pub records: f64,
    /// Bytes of one.
    pub record_bytes: f64,
}

/// What a design has decided already; `None` where it is open.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Limits {
    /// Which memory.
    pub memory: Option<MemoryKind>,
    /// Channels of it.
    pub channels: Option<f64>,
    /// Items that begin each clock, of how many in all.
    pub lanes: Option<(f64, f64)>,
    /// Sweeps chained.
    pub chained: Option<f64>,
}

impl Workload {
    /// The same in `format`: every number of another floating-point format takes its bytes and operators.
    pub fn in_format(&self, format: Format) -> Workload {
        let largest = self.operations.iter().filter(|operations| operations.format.is_float());
        let from = largest.max_by(|one, other| one.count.total_cmp(&other.count)).map(|operations| operations.format);
        let Some(from) = from else { return self.clone() };
        let factor = format.bytes() / from.bytes();
        let mut changed = self.clone();
        changed.operations.iter_mut().filter(|operations| operations.format.is_float()).for_each(|operations| {
            operations.format = format;
        });
        for bytes in [
            &mut changed.bytes,
            &mut changed.kept_bytes,
            &mut changed.spilled_bytes,
            &mut changed.line_buffer_bytes,
            &mut changed.input.0,
            &mut changed.output.0,
            &mut changed.kept_input.0,
            &mut changed.kept_output.0,
        ] {
            *bytes *= factor;
        }
        if let Some(stencil) = &mut changed.stencil {
            stencil.cell_bytes *= factor;
            stencil.moved_bytes *= factor;
        }
        changed.contractions.iter_mut().for_each(|contraction| contraction.element_bytes *= factor);
        changed.tables.iter_mut().for_each(|table| {
            table.access_bytes *= factor;
            table.bytes *= factor;
        });
        changed
    }

    /// What is really sent to the board in a call: bytes, and in how many buffers.
    pub fn sent(&self) -> (f64, f64) {
        (self.input.0 - self.kept_input.0, self.input.1 - self.kept_input.1)
    }

    /// What is really sent back.
    pub fn sent_back(&self) -> (f64, f64) {
        (self.output.0 - self.kept_output.0, self.output.1 - self.kept_output.1)
    }

    /// How often `operator` is done, in any format.
    pub fn count_of(&self, operator: Operator) -> f64 {
        self.operations.iter().filter(|operations| operations.operator == operator).map(|one| one.count).sum()
    }
}
