//! What a part of a dataset says of its capture, beside its tables.

use crate::session::Session;
use ridge_redact::{Removed, Words};
use serde_json::{Value, json};

/// What tells a part from the others of its dataset.
#[derive(Debug, Clone, Copy)]
pub struct PartNames<'a> {
    /// The job.
    pub job: &'a str,
    /// The host.
    pub host: &'a str,
    /// The rank, 0 where there is one.
    pub rank: u32,
}

impl Session {
    /// A document that says what was read, on which clock its times are, and what was lost; without what `words` know to be private.
    pub fn about_part(&self, names: &PartNames<'_>, words: Option<&Words>) -> String {
        let captures: Vec<Value> =
            self.files().map(|(_, format, bytes)| json!({"format": format, "bytes": bytes})).collect();
        let clean = |text: &str| match words {
            Some(words) => words.clean(text, &mut Removed::default()).into_owned(),
            None => text.to_owned(),
        };
        let notes: Vec<Value> = (self.notes().iter())
            .map(|note| json!({"severity": note.severity.name(), "message": clean(&note.message), "count": note.count}))
            .collect();
        let zero = self.imported().captures.iter().find_map(|capture| capture.unix_zero_ns);
        let document = json!({
            "schema": "ridgeline.part.v1",
            "ridgeline": env!("CARGO_PKG_VERSION"),
            "job": names.job,
            "host": names.host,
            "rank": names.rank,
            "captures": captures,
            // Clocks of several hosts are not compared, so nothing is known of how far they are apart.
            "clock": {"zero_unix_ns": zero, "residual_ns": null},
            "notes": notes,
        });
        format!("{document:#}\n")
    }
}
