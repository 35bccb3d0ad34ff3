//! A finished benchmark laid out as the profiler of MBIRJAX does, for programs that read its files.
//!
//! `mbirjax_profile_TIME.json` has the times, `jax_traces/TIME/vol32/` is a log directory of TensorBoard, `hlo_dumps/TIME/vol32/`
//! has the modules of each operation and `hlo_dumps_xla/TIME/vol32/` XLA's own dumps.
//! Run 1 of an operation is its first, which compiles; the timed runs follow, and the traced run is not among them.

use std::fs;
use std::io;
use std::path::Path;

use ridge_documents::{BenchResults, Device};
use serde_json::{Map, Value, json};

use super::size::size_dir;

/// Folders of a size, and the folder that each goes to.
const MOVED: [(&str, &str, &str); 3] =
    [("plugins", "jax_traces", "plugins"), ("hlo", "hlo_dumps", ""), ("hlo_dump", "hlo_dumps_xla", "")];

/// Entries of the folder that this layout adds.
pub(super) const FOLDERS: [&str; 3] = ["jax_traces", "hlo_dumps", "hlo_dumps_xla"];

/// How the name of the file of times begins and ends.
pub(super) const FILE: (&str, &str) = ("mbirjax_profile_", ".json");

/// The folder of one size below a folder of [`FOLDERS`].
fn volume(began: &str, size: u32) -> String {
    format!("{began}/vol{size}")
}

/// Where the layout puts `path`, which lies in the folder of `size`.
pub(super) fn path_of(path: &str, began: &str, size: u32) -> String {
    let inside = path.strip_prefix(&format!("{}/", size_dir(size)));
    let found = MOVED.iter().find_map(|(from, to, below)| {
        let rest = inside?.strip_prefix(&format!("{from}/"))?;
        let below = if below.is_empty() { String::new() } else { format!("{below}/") };
        Some(format!("{to}/{}/{below}{rest}", volume(began, size)))
    });
    found.unwrap_or_else(|| path.to_owned())
}

/// Moves the captures and modules of `size` in `out`.
pub(super) fn move_size(out: &Path, began: &str, size: u32) -> io::Result<()> {
    for (from, to, below) in MOVED {
        let from = out.join(size_dir(size)).join(from);
        if !from.is_dir() {
            continue;
        }
        let to = out.join(to).join(volume(began, size)).join(below);
        fs::create_dir_all(to.parent().unwrap_or(out))?;
        fs::rename(from, to)?;
    }
    Ok(())
}

/// The file of times.
pub(super) fn document(results: &BenchResults<Value>, began: &str) -> Value {
    let environment = results.environment.clone().unwrap_or_default();
    let devices = environment.devices.unwrap_or_default();
    let version = |package: &str| environment.versions.as_ref().and_then(|all| all.get(package)).cloned();
    json!({
        "timestamp": began,
        "environment": {
            "backend": devices.first().and_then(|device| device.platform.clone()),
            "devices": devices.iter().map(name_of).collect::<Vec<_>>(),
            "jax_version": version("jax"),
            "mbirjax_version": version("mbirjax"),
        },
        "measurements": measurements(results),
        "cost_analysis": costs(results),
    })
}

/// `cuda:0`, as JAX prints devices of NVIDIA; `gpu` is its platform.
fn name_of(device: &Device) -> String {
    let platform = match device.platform.as_deref() {
        Some("gpu") => "cuda",
        Some(platform) => platform,
        None => "device",
    };
    format!("{platform}:{}", device.id.unwrap_or(0))
}

fn measurements(results: &BenchResults<Value>) -> Vec<Value> {
    let mut all = Vec::new();
    for row in &results.summary {
        let (operation, size) = (&row["operation"], &row["volume_size"]);
        let first = row["first_run_s"].as_f64().into_iter();
        let is_of = |run: &&ridge_documents::Measurement| {
            !run.traced && operation == &run.operation && size.as_u64() == Some(run.volume_size)
        };
        let timed = results.measurements.iter().filter(is_of).map(|run| run.time);
        let runs = first.chain(timed).zip(1_u32..);
        all.extend(
            runs.map(|(time, run)| json!({"operation": operation, "volume_size": size, "run": run, "time": time})),
        );
    }
    all
}

/// XLA's costs by size, then by operation.
fn costs(results: &BenchResults<Value>) -> Value {
    let mut by_size = Map::new();
    for (operation, sizes) in &results.cost_analysis {
        for (size, cost) in sizes.as_object().into_iter().flatten() {
            let of_size = by_size.entry(size).or_insert_with(|| json!({}));
            of_size[operation] = json!({"flops": cost["flops_once"], "bytes accessed": cost["bytes_accessed_once"]});
        }
    }
    Value::Object(by_size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ridge_documents::{Environment, Measurement};

    #[test]
    fn paths_are_those_of_the_layout() {
        let path = |path: &str| path_of(path, "20260102_030405", 32);
        assert_eq!(
            path("size_032/plugins/profile/add/host0.xplane.pb"),
            "jax_traces/20260102_030405/vol32/plugins/profile/add/host0.xplane.pb"
        );
        assert_eq!(path("size_032/hlo/add/jit_f.1"), "hlo_dumps/20260102_030405/vol32/add/jit_f.1");
        assert_eq!(path("size_064/hlo/add"), "size_064/hlo/add");
    }

    #[test]
    fn the_first_run_is_run_1_and_the_traced_run_none() {
        let measured =
            |run, time, traced| Measurement { operation: "add".to_owned(), volume_size: 32, run, time, traced };
        let versions = json!({"jax": "0.10.1", "mbirjax": "0.7.3"}).as_object().cloned();
        let device = Device { id: Some(0), kind: None, platform: Some("gpu".to_owned()), more: Map::new() };
        let results = BenchResults {
            environment: Some(Environment { versions, devices: Some(vec![device]), ..Environment::default() }),
            measurements: vec![measured(0, 9.0, true), measured(1, 0.2, false), measured(2, 0.3, false)],
            summary: vec![json!({"operation": "add", "volume_size": 32, "first_run_s": 1.5})],
            cost_analysis: json!({"add": {"32": {"flops_once": 10.0, "bytes_accessed_once": 20.0, "modules": []}}})
                .as_object()
                .cloned()
                .unwrap_or_default(),
            ..BenchResults::default()
        };
        assert_eq!(
            document(&results, "t"),
            json!({
                "timestamp": "t",
                "environment": {"backend": "gpu", "devices": ["cuda:0"], "jax_version": "0.10.1", "mbirjax_version": "0.7.3"},
                "measurements": [
                    {"operation": "add", "volume_size": 32, "run": 1, "time": 1.5},
                    {"operation": "add", "volume_size": 32, "run": 2, "time": 0.2},
                    {"operation": "add", "volume_size": 32, "run": 3, "time": 0.3},
                ],
                "cost_analysis": {"32": {"add": {"flops": 10.0, "bytes accessed": 20.0}}},
            })
        );
    }
}
