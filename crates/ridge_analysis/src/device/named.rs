//! Which sheets a user means by a word: `h100`, `A100 80GB`, a driver's name.

use super::{DeviceSheet, Limit, sheets};

/// The sheets that `name` means, that of the fastest memory first; none where no sheet has it.
///
/// A sheet's own name or a driver's means that sheet alone. Otherwise every word of `name` must be a word of the sheet's
/// name, or the beginning of one up to its letters: `mi300` means the MI300X, and `a10` does not mean the A100.
pub fn sheets_named(name: &str) -> Vec<&'static DeviceSheet> {
    let is_it = |known: &str| known.eq_ignore_ascii_case(name.trim());
    let whole = |sheet: &&DeviceSheet| is_it(&sheet.name) || sheet.driver_names.iter().any(|known| is_it(known));
    if let Some(sheet) = sheets().iter().find(whole) {
        return vec![sheet];
    }
    let wanted = words(name);
    let has = |sheet: &&DeviceSheet| {
        let known = words(&sheet.name);
        !wanted.is_empty() && wanted.iter().all(|word| known.iter().any(|known| begins(known, word)))
    };
    let mut found: Vec<&DeviceSheet> = sheets().iter().filter(has).collect();
    let memory = |sheet: &DeviceSheet| sheet.ceilings.value(Limit::Memory).unwrap_or(0.0);
    found.sort_by(|a, b| memory(b).total_cmp(&memory(a)));
    found
}

fn words(name: &str) -> Vec<String> {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect()
}

fn begins(known: &str, word: &str) -> bool {
    known.strip_prefix(word).is_some_and(|rest| rest.bytes().all(|letter| letter.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_means_the_sheets_that_have_it() {
        let named = |name: &str| sheets_named(name).iter().map(|sheet| sheet.name.as_str()).collect::<Vec<_>>();
        assert_eq!(named("h100"), ["NVIDIA H100 SXM5 80GB", "NVIDIA H100 PCIe 80GB"]);
        assert_eq!(named("H100 PCIe"), ["NVIDIA H100 PCIe 80GB"]);
        assert_eq!(named("NVIDIA H100 80GB HBM3"), ["NVIDIA H100 SXM5 80GB"]);
        assert_eq!(named("mi300").len(), 1);
        assert_eq!(named("a10").len(), 1);
        assert!(named("").is_empty() && named("h1000").is_empty());
    }
}
