//! What the harness said while the program ran: one line of JSON each.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of one file of events that are read.
const MOST_BYTES: usize = 4 << 20;

/// Something of the region's name that is not the region.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Other {
    /// The module or the hook.
    pub name: String,
    /// What goes in and out, `f32[8] -> f32[8]`.
    pub ports: String,
}

/// What happened in all processes of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Events {
    /// The version of JAX; `None` where no process imported it.
    pub jax: Option<String>,
    /// Where JAX has the headers of XLA's foreign function interface.
    pub include: Option<PathBuf>,
    /// Where JAX computed, `cpu`.
    pub platform: Option<String>,
    /// Modules that were the region.
    pub modules: BTreeSet<String>,
    /// Hooks that were the region.
    pub hooks: BTreeSet<String>,
    /// Hooks that were traced inside of other functions where nothing was replaced, so that their calls are not counted.
    pub traced: BTreeSet<String>,
    /// A larger module that holds the region's line of the program.
    pub inside: Option<String>,
    /// What has the region's name, and other shapes or other code.
    pub others: BTreeSet<Other>,
    /// Parts of the harness that failed, and why.
    pub lost: BTreeSet<(String, String)>,
}

/// Reads what the harness left in `folder`; a line that was cut is left out.
pub fn events(folder: &Path) -> Events {
    let mut found = Events::default();
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")) {
        let bytes = fs::read(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_BYTES)]).into_owned();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).for_each(|line| found.add(&line));
    }
    found
}

impl Events {
    fn add(&mut self, line: &Value) {
        let text = |key: &str| line[key].as_str().map(str::to_owned);
        let name = text("hook").or_else(|| text("module"));
        match line["what"].as_str().unwrap_or_default() {
            "jax" => {
                self.jax = self.jax.take().or_else(|| text("version"));
                self.include = self.include.take().or_else(|| text("include").map(PathBuf::from));
            }
            "backend" => self.platform = text("platform"),
            "region" if text("hook").is_some() => self.hooks.extend(text("hook")),
            "region" => self.modules.extend(text("module")),
            "traced" => self.traced.extend(text("region")),
            "inside" => self.inside = text("module"),
            "other" => self.others.extend(name.map(|name| Other { name, ports: text("ports").unwrap_or_default() })),
            "lost" => self.lost.extend(text("part").zip(text("why"))),
            _ => {}
        }
    }

    /// Whether the region was found.
    pub fn has_region(&self) -> bool {
        !self.modules.is_empty() || !self.hooks.is_empty() || !self.traced.is_empty()
    }
}
