//! The extension module `ridgeline._native`: what the Python package asks of the façade.
//!
//! Answers cross as Arrow (tables) or as the JSON documents that the command line prints, and the package makes Python objects of
//! them: what a document says is decided once. Python's lock is let go while anything is read or computed.
//!
//! Floors, lowest first: `errors`, `table`; `capture`.

// What `#[pymodule]` makes is public to Python alone.
#![allow(unreachable_pub)]

mod capture;
mod errors;
mod table;

use pyo3::prelude::*;

/// The module that Python imports.
#[pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use crate::capture::{Capture, diff, explain, open};
    #[pymodule_export]
    use crate::table::Table;
    use pyo3::prelude::*;

    /// The version of the library, which is that of the package.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}
