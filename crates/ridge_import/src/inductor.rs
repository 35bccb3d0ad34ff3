//! What the files of PyTorch's compiler say of its kernels, as text: only comments, names that are assigned, and calls at the
//! beginning of a line are looked at.

use rustc_hash::FxHashMap;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// All that was read of the compiler's files.
#[derive(Debug, Default)]
pub(crate) struct Inductor {
    pub(crate) graphs: BTreeMap<String, Graph>,
}

/// What the files of one graph say.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// The place in the program, `net.py:12`, of each node.
    pub(crate) places: FxHashMap<String, String>,
    /// The nodes and the operators of each kernel.
    pub(crate) kernels: BTreeMap<String, Kernel>,
}

/// What is said of one kernel.
#[derive(Debug, Default)]
pub(crate) struct Kernel {
    pub(crate) nodes: BTreeSet<String>,
    pub(crate) operators: String,
}

impl Graph {
    /// `{"cppCodeToPost": {"triton_poi_fused_gelu_0:1": ["mul", "erf"]}}`: the number counts calls.
    pub(crate) fn map(&mut self, text: &str) -> Result<(), String> {
        let read: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        for (kernel, nodes) in read["cppCodeToPost"].as_object().into_iter().flatten() {
            let kernel = kernel.rsplit_once(':').map_or(kernel.as_str(), |(name, _)| name);
            let nodes = nodes.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
            self.kernels.entry(kernel.to_owned()).or_default().nodes.extend(nodes);
        }
        Ok(())
    }

    /// `# File: net.py:12 in forward, code: …`, of gradients `# Backward of forward node: File: …`, and below it the nodes: `mul: "f32[4]" = torch.ops.…`.
    pub(crate) fn read_nodes(&mut self, text: &str) {
        let mut place: Option<&str> = None;
        for line in text.lines().map(str::trim) {
            if let Some((_, said)) = line.strip_prefix('#').and_then(|comment| comment.split_once(" File: ")) {
                place = said.split(" in ").next().map(|place| place.split(", code:").next().unwrap_or(place));
            } else if line.is_empty() || line.starts_with('#') || line.starts_with("def ") {
                place = None;
            } else if let (Some(place), Some(node)) = (place, assigned(line)) {
                self.places.insert(node.to_owned(), place.to_owned());
            }
        }
    }

    /// Comments of each kernel stand before it is made, or before it is called.
    pub(crate) fn read_code(&mut self, text: &str) {
        let mut said = Kernel::default();
        for line in text.lines().map(str::trim) {
            if let Some(comment) = line.strip_prefix('#') {
                said.hear(comment.trim());
                continue;
            }
            if let Some(kernel) = made(line).or_else(|| called(line)) {
                let known = self.kernels.entry(kernel.to_owned()).or_default();
                known.nodes.append(&mut said.nodes);
                if known.operators.is_empty() {
                    known.operators = std::mem::take(&mut said.operators);
                }
            }
            said = Kernel::default();
        }
    }
}

impl Kernel {
    /// `Topologically Sorted Source Nodes: [y], Original ATen: [aten.gelu]`, or `  gelu => erf, mul`.
    fn hear(&mut self, comment: &str) {
        if let Some((_, operators)) = comment.split_once("Original ATen: [") {
            self.operators = operators.trim_end_matches(']').to_owned();
        } else if let Some((_, nodes)) = comment.split_once(" => ") {
            self.nodes.extend(nodes.split(", ").map(|node| node.trim().to_owned()));
        }
    }
}

/// `name` of `name = …` and `name: type = …`.
fn assigned(line: &str) -> Option<&str> {
    let end = line.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')?;
    let rest = line[end..].trim_start();
    (end > 0 && (rest.starts_with(':') || rest.starts_with('='))).then_some(&line[..end])
}

/// The kernel that a line makes: `triton_poi_fused_0 = async_compile.triton(…`.
fn made(line: &str) -> Option<&str> {
    let name = assigned(line)?;
    line[name.len()..].trim_start().strip_prefix("= async_compile.").map(|_| name)
}

/// The kernel that a line calls: `triton_poi_fused_0.run(…`, `cpp_fused_0(…`, `extern_kernels.mm(…`.
fn called(line: &str) -> Option<&str> {
    let name = line.split('(').next().filter(|name| name.len() < line.len())?;
    let name = name.strip_suffix(".run").unwrap_or(name);
    let is_one = name.starts_with("extern_kernels.") || name.starts_with("triton_") || name.starts_with("cpp_");
    (is_one && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_.".contains(letter))).then_some(name)
}
