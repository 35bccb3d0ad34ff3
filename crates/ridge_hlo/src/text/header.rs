//! The line a module's text begins with.

use super::Loading;
use super::attributes::frontend_attributes;
use super::lists::{inside_braces, numbers, parameter, split_list};
use crate::{AliasKind, BufferDonor, InputOutputAlias};

impl Loading<'_> {
    /// Reads what follows `HloModule `: a name, then attributes at commas.
    pub(super) fn header(&mut self, text: &str) {
        self.seen_header = true;
        let mut parts = split_list(text).into_iter();
        self.module.name = parts.next().unwrap_or_default().trim_start_matches('%').to_owned();
        for part in parts {
            let Some((name, value)) = part.split_once('=') else { continue };
            match name.trim() {
                "is_scheduled" => self.module.is_scheduled = value.trim() == "true",
                "input_output_alias" => self.module.input_output_aliases = aliases(value),
                "buffer_donor" => self.module.buffer_donors = donors(value),
                "frontend_attributes" => self.module.frontend_attributes = frontend_attributes(value),
                name => self.module.header.push((name.to_owned(), value.trim().to_owned())),
            }
        }
    }
}

/// `{ {0}: (0, {}, may-alias), {1}: (2, {}, must-alias) }`
fn aliases(text: &str) -> Vec<InputOutputAlias> {
    let entries = split_list(inside_braces(text)).into_iter().filter_map(|entry| entry.split_once(':'));
    entries
        .map(|(output, input)| {
            let (parameter, parameter_index, kind) = parameter(input);
            let kind = match kind {
                "may-alias" => AliasKind::May,
                "must-alias" => AliasKind::Must,
                _ => AliasKind::Unsaid,
            };
            InputOutputAlias { output_index: numbers(output), parameter, parameter_index, kind }
        })
        .collect()
}

/// `{ (0, {}), (1, {0}) }`
fn donors(text: &str) -> Vec<BufferDonor> {
    split_list(inside_braces(text))
        .into_iter()
        .map(|entry| {
            let (parameter, parameter_index, _) = parameter(entry);
            BufferDonor { parameter, parameter_index }
        })
        .collect()
}
