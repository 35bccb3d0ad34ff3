//! Errors of the façade as the exceptions of the package, which have a hint where there is one.

use pyo3::prelude::*;
use ridgeline::OpenError;
use std::path::Path;

/// Where the exceptions are defined, so that they can also be those that Python has for a thing: `FileNotFoundError`.
const MODULE: &str = "ridgeline.api.errors";

/// `error` as the exception of its kind.
pub(crate) fn raised(py: Python<'_>, error: &OpenError) -> PyErr {
    let kind = match error {
        OpenError::NotFound(_) => "NotFoundError",
        OpenError::UnknownName(_) => "UnknownNameError",
        OpenError::Unreadable(_) => "UnreadableError",
        OpenError::NotRecorded(_) => "NotRecordedError",
        OpenError::NotACapture(_) => "NotACaptureError",
        // More kinds may come; what was asked for was wrong in one way or another.
        _ => "BadInputError",
    };
    made(py, kind, error.message(), error.path(), error.hints())
}

/// That something asked for makes no sense.
pub(crate) fn bad_input(py: Python<'_>, message: &str, hints: &[String]) -> PyErr {
    made(py, "BadInputError", message, None, hints)
}

fn made(py: Python<'_>, kind: &str, message: &str, path: Option<&Path>, hints: &[String]) -> PyErr {
    let exception = || {
        let class = py.import(MODULE)?.getattr(kind)?;
        class.call1((message, path.map(|path| path.display().to_string()), hints.to_vec()))
    };
    match exception() {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}
