//! What hardware engineers get of a region: its specification, code, vectors, and the record of every check.

mod arithmetic;
pub mod bundle;
mod cone;
pub mod cpp;
mod design;
pub mod emulate;
pub mod engines;
mod interpret;
pub mod jobs;
mod lower;
mod program;
mod refusal;
mod running;
pub mod stop;
pub mod vectors;
pub mod verify;
mod verilog;
pub mod xls;

pub use arithmetic::{Arithmetic, Bounded, Cell, Fixed, FormatError, Strict};
pub use design::{CellCounts, Design};
pub use interpret::{CannotCompute, Cells, equal, interpret, same};
pub use lower::lower;
pub use program::{Each, Gather, Loop, Node, NodeId, Number, Op, Order, Port, Program, Reducer, Relation, WindowOf};
pub use refusal::Refusal;
