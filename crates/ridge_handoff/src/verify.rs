//! Runs everything that can be run on a bundle again, offline.
//!
//! Nothing of a bundle is executed before every hash in it fits, and no path in it is followed out of it.

mod checks;
mod opened;
pub(crate) mod tools;

pub use opened::{BrokenBundle, Opened, open};

use crate::bundle::{Check, CheckState};
use crate::vectors;
use serde_json::Value;
use std::path::Path;

/// What to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Running {
    /// Everything that the tools on this machine allow.
    Everything,
    /// Nothing of the bundle: hashes and our own interpreter alone.
    NothingOfIt,
}

/// All checks of an opened bundle, in order.
pub fn verify(bundle: &Opened, running: Running, mut tell: impl FnMut(&str)) -> Vec<Check> {
    let mut ledger = vec![Check {
        name: "hashes".to_owned(),
        state: CheckState::Passed,
        found: format!("{} files are what MANIFEST.json says", bundle.files.len()),
        command: "sha256".to_owned(),
        version: String::new(),
        wall_s: bundle.wall_s,
    }];
    if !bundle.has_program() {
        return ledger;
    }
    tell("the interpreter");
    ledger.push(checks::interpreter(bundle));
    ledger.push(checks::agreement(bundle, "xla", "XLA's processor backend"));
    ledger.push(checks::agreement(bundle, "stablehlo", "the StableHLO reference interpreter"));
    if !bundle.manifest["engines"]["program"].is_null() {
        ledger.push(checks::agreement(bundle, "program", "the program while it ran"));
    }
    let Ok(folder) = tempfile::tempdir() else {
        ledger.push(checks::not_run("c++", "no temporary folder can be made"));
        return ledger;
    };
    let can_run = running == Running::Everything && copied(bundle, folder.path());
    let why = if running == Running::Everything { "no copy can be made" } else { "nothing of the bundle is to be run" };
    if !can_run {
        ledger.push(checks::not_run("c++", why));
        return ledger;
    }
    let formats =
        bundle.json("spec/numerics.json").map(|document| crate::bundle::usable(&document)).unwrap_or_default();
    tell("C++");
    ledger.push(checks::cpp(bundle, folder.path(), None));
    for slug in formats {
        tell(&slug);
        ledger.push(checks::cpp(bundle, folder.path(), Some(&slug)));
    }
    if bundle.files.contains_key("rtl/kernel.v") {
        for (name, run) in checks::RTL {
            tell(name);
            ledger.push(run(bundle, folder.path()));
        }
    }
    ledger
}

/// The bundle's files in a folder of our own, where nobody changes them after they were hashed.
fn copied(bundle: &Opened, to: &Path) -> bool {
    bundle.files.iter().all(|(path, bytes)| {
        let target = to.join(path);
        let parent = target.parent().map_or(Ok(()), std::fs::create_dir_all);
        parent.and_then(|()| std::fs::write(target, bytes)).is_ok()
    })
}

/// The names of the sets of vectors.
pub(crate) fn sets(bundle: &Opened) -> Vec<String> {
    let document = bundle.json("golden/vectors.json").unwrap_or(Value::Null);
    let sets = document["sets"].as_array().cloned().unwrap_or_default();
    sets.iter()
        .filter_map(|set| set["name"].as_str())
        .filter(|name| opened::is_plain(name))
        .map(str::to_owned)
        .collect()
}

/// The inputs of a set.
pub(crate) fn inputs(
    bundle: &Opened,
    program: &crate::Program,
    set: &str,
) -> Result<Vec<Vec<crate::Cell<f64>>>, String> {
    let files: Option<Vec<Vec<u8>>> =
        (0..program.inputs.len()).map(|at| bundle.files.get(&format!("golden/{set}/in{at}.bin")).cloned()).collect();
    let files = files.ok_or_else(|| format!("set `{set}` lacks an input"))?;
    vectors::inputs_of(program, &files).map_err(|error| error.to_string())
}
