//! Take out of a capture what says who made it and where: host names, user names, home folders, environments, secrets.
//!
//! [`redact`] recognizes a format by its content and rewrites its structure: lengths of protobuf messages follow, numbers and
//! everything that is not text stay as they are, byte for byte, so that a reader gets the same answers from what comes out.
//! What it does not recognize it refuses: passing it on would be a promise that nobody keeps.
//!
//! One decision and why: a part of a capture is looked into only if it holds the beginning of something private.
//! Captures reach gigabytes and say little that is private, so most bytes are searched once and copied.
//!
//! No file is opened here, and nothing is known of this machine: [`Words`] are handed in, or learned from the capture.
//!
//! ```
//! use ridge_redact::{Words, redact};
//! let trace = br#"{"host_name": "vm7", "traceEvents": [{"name": "/home/ada/x.py(3): f on vm7", "ts": 1.50}]}"#;
//! let mut out = Vec::new();
//! let removed = redact(trace, &Words::default(), &mut out)?;
//! let clean = br#"{"host_name": "<host>", "traceEvents": [{"name": "~/x.py(3): f on <host>", "ts": 1.50}]}"#;
//! assert_eq!((out.as_slice(), removed.total()), (clean.as_slice(), 3));
//! # Ok::<(), ridge_redact::RedactError>(())
//! ```

mod database;
mod error;
mod format;
mod json;
mod json_scan;
mod json_values;
mod needles;
mod nsys;
mod proto;
mod removed;
mod secrets;
mod wire;
mod words;

pub use error::RedactError;
pub use format::{Format, recognize, redact};
pub use json::redact_json;
pub use removed::{Removed, What};
pub use secrets::{GONE, is_secret_name, without_secret};
pub use words::Words;
