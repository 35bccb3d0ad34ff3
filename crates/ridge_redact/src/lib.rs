//! Take out of a capture what says who made it and where: host and user names, home folders,
//! addresses, environments, secrets; [`What::ALL`] is the whole list.
//!
//! A [`Redactor`] rewrites a capture's structure: lengths of protobuf messages follow, numbers and everything that is not text
//! stay as they are, byte for byte, so that a reader gets the same answers from what comes out.
//! Which files are captures, and how they are packed, is not known here.
//!
//! One decision and why: a part of a capture is looked into only if it holds the beginning of something private.
//! Captures reach gigabytes and say little that is private, so most bytes are searched once and copied.
//!
//! No file is opened here, and nothing is known of this machine: [`Words`] are handed in, or learned from the capture.
//!
//! ```
//! use ridge_redact::{Redactor, Words};
//! let trace = br#"{"host_name": "vm7", "traceEvents": [{"name": "/home/ada/x.py(3): f on vm7", "ts": 1.50}]}"#;
//! let mut out = Vec::new();
//! let removed = Redactor::Json.redact(trace, &Words::default(), &mut out)?;
//! let clean = br#"{"host_name": "<host>", "traceEvents": [{"name": "~/x.py(3): f on <host>", "ts": 1.50}]}"#;
//! assert_eq!((out.as_slice(), removed.total()), (clean.as_slice(), 3));
//! # Ok::<(), ridge_redact::RedactError>(())
//! ```

mod accounts;
mod clean;
mod database;
mod encoded;
mod error;
mod found;
mod json;
mod json_scan;
mod json_values;
mod keys;
mod learn;
mod named;
mod needles;
mod nsys;
mod pickle;
mod pickle_keys;
mod pickle_steps;
mod proto;
mod redactor;
mod removed;
mod report;
mod rewriter;
mod services;
mod shapes;
mod table;
mod wire;
mod words;
mod xplane;
mod xstats;

pub use error::RedactError;
pub use json::{learn_json, redact_json};
pub use keys::{is_secret_name, without_secret};
pub use nsys::{ExportTables, ExportTexts, Held};
pub use redactor::Redactor;
pub use removed::{GONE, Removed, What};
pub use words::Words;
