//! What XLA's fusion pass said of what it may not fuse: its dump `priority_fusion_dump.txt`.
//!
//! `FusionProcessDumpProto` of openxla/xla, xla/service/gpu/model/fusion_process_dump.proto, as text.

use rustc_hash::FxHashMap;

/// Fusions that are followed to the instruction that they end in.
const MOST_STEPS: usize = 4096;

/// Why results were not fused into what reads them, by XLA's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refusals {
    /// By the name of what makes the result, without the number that a copy of it gets.
    by_stem: FxHashMap<String, String>,
    by_name: FxHashMap<String, String>,
}

impl Refusals {
    /// The last reason for an instruction, or for a fusion that ends in it.
    pub fn of(&self, instruction: &str) -> Option<&str> {
        let found = self.by_name.get(instruction).or_else(|| self.by_stem.get(stem(instruction)));
        found.map(String::as_str)
    }
}

/// The reasons in the text of a dump; empty where there are none.
pub fn refusals(text: &str) -> Refusals {
    let (mut roots, mut found) = (FxHashMap::<String, String>::default(), Refusals::default());
    let (mut fusion, mut producer, mut consumer) = (String::new(), String::new(), String::new());
    for line in text.lines().map(str::trim) {
        let value = |key: &str| Some(line.strip_prefix(key)?.trim().trim_matches('"').to_owned());
        if line.ends_with('{') {
            (fusion, producer, consumer) = Default::default();
        } else if let Some(name) = value("fusion_name:") {
            fusion = name;
        } else if let Some(name) = value("producer_name:") {
            producer = name;
        } else if let Some(name) = value("consumer_name:") {
            consumer = name;
        } else if let Some(reason) = value("reason:") {
            let root = root_of(&producer, &roots);
            found.by_stem.insert(stem(&root).to_owned(), reason.clone());
            found.by_name.insert(producer.clone(), reason);
        }
        if !fusion.is_empty() && !consumer.is_empty() {
            // A fusion ends in what its consumer ends in; where it took the consumer's name, nothing changes.
            let root = root_of(&consumer, &roots);
            roots.insert(std::mem::take(&mut fusion), root);
        }
    }
    found
}

fn root_of(name: &str, roots: &FxHashMap<String, String>) -> String {
    let mut at = name;
    for _ in 0..MOST_STEPS {
        match roots.get(at) {
            Some(next) if next != at => at = next,
            _ => break,
        }
    }
    at.to_owned()
}

/// `add.7` of `add.7.1`: the number that XLA appends to a copy is left out, that of the instruction stays.
pub(crate) fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((head, tail)) if head.contains('.') && tail.bytes().all(|byte| byte.is_ascii_digit()) => head,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_found_by_what_a_fusion_ends_in() {
        let text = "\
fusion_steps {\n  update_priority {\n    producer_name: \"mul.7.0\"\n    consumer_names: \"add.7.0\"\n    us_fused: 1.5\n  }\n}\n\
fusion_steps {\n  fusion {\n    fusion_name: \"fusion.9\"\n    producer_name: \"mul.7.0\"\n    consumer_name: \"add.7.0\"\n  }\n}\n\
fusion_steps {\n  fusion {\n    fusion_name: \"fusion.11\"\n    producer_name: \"sub.3.0\"\n    consumer_name: \"fusion.9\"\n  }\n}\n\
fusion_steps {\n  producer_ineligible {\n    producer_name: \"fusion.11\"\n    reason: \"the consumer is not fusible\"\n  }\n}\n\
fusion_steps {\n  producer_ineligible {\n    producer_name: \"gemm_fusion_dot.1\"\n    reason: \"the producer is not fusible\"\n  }\n}\n";
        let found = refusals(text);
        assert_eq!(found.of("add.7.1"), Some("the consumer is not fusible"));
        assert_eq!(found.of("gemm_fusion_dot.1"), Some("the producer is not fusible"));
        assert_eq!(found.of("mul.7.3"), None);
        assert_eq!(refusals("reason: \"cut"), refusals("reason: \"cut"));
    }

    #[test]
    fn fusions_that_lead_in_a_circle_end() {
        let one = |fusion: &str, consumer: &str| {
            format!("  fusion {{\n    fusion_name: \"{fusion}\"\n    consumer_name: \"{consumer}\"\n  }}\n")
        };
        let text = format!("{}{}{}", one("a", "b"), one("b", "a"), one("a", "a"));
        assert_eq!(refusals(&text), Refusals::default());
    }
}
