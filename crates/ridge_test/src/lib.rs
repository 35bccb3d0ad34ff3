//! Development only: small traces written as text, and the walk to real captures.
//!
//! [`trace`] turns a few lines of text into a [`ridge_trace::Trace`], so that a test shows its input beside its output.
//! [`fixtures`], [`real`] and [`corpus`] find captures.
//! [`render`] and [`render_sections`] write answers as plain text.
//! [`union_ns`] is an independent sum to compare with.
//! No importer is known here.
//!
//! ```
//! let trace = ridge_test::trace("
//!     stream 7 on gpu
//!       0 +10 gemm op=dot.1
//! ");
//! assert_eq!(trace.name(0), "gemm");
//! ```

mod corpus;
mod notation;
mod render;
mod spans;

pub use corpus::{corpus, every_capture, every_fixture, files, fixtures, real, real_files};
pub use notation::trace;
pub use render::{render, render_sections};
pub use spans::union_ns;
