//! What XLA is told of a GPU when it compiles without one: the fields of `GpuTargetConfigProto`, each file with its source.

use serde::Deserialize;
use std::fmt::Write as _;
use std::sync::LazyLock;
use thiserror::Error;

/// The files, by the names that `--for` takes.
const TEXTS: [(&str, &str); 14] = [
    ("a100", include_str!("../targets/a100.toml")),
    ("a100-40gb", include_str!("../targets/a100-40gb.toml")),
    ("a100-pcie", include_str!("../targets/a100-pcie.toml")),
    ("a6000", include_str!("../targets/a6000.toml")),
    ("b200", include_str!("../targets/b200.toml")),
    ("b300", include_str!("../targets/b300.toml")),
    ("gb200", include_str!("../targets/gb200.toml")),
    ("gb300", include_str!("../targets/gb300.toml")),
    ("h100", include_str!("../targets/h100.toml")),
    ("h100-pcie", include_str!("../targets/h100-pcie.toml")),
    ("h200", include_str!("../targets/h200.toml")),
    ("p100", include_str!("../targets/p100.toml")),
    ("rtx6000-pro", include_str!("../targets/rtx6000-pro.toml")),
    ("v100", include_str!("../targets/v100.toml")),
];

/// A GPU that XLA can compile for without one.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The name that `--for` takes.
    pub id: &'static str,
    /// The name that a driver gives it.
    pub name: String,
    /// Where the figures are from.
    pub source: String,
    /// Major and minor version of its instructions.
    pub compute_capability: (u32, u32),
    /// Multiprocessors.
    pub cores: u32,
    /// Clock of a multiprocessor, GHz.
    pub clock_ghz: f64,
    /// Bytes a second of its memory.
    pub memory_bytes_per_s: f64,
    /// Bytes of its memory.
    pub memory_bytes: u64,
    /// Bytes of the cache that all multiprocessors share.
    pub cache_bytes: u64,
    /// Lanes of 32-bit arithmetic in a multiprocessor.
    pub lanes_per_core: u32,
    /// What a multiprocessor holds at a time.
    pub core: Core,
    file: File,
}

/// What a multiprocessor holds at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Core {
    /// Threads.
    pub threads: u32,
    /// Blocks.
    pub blocks: u32,
    /// Registers of 32 bits.
    pub registers: u32,
    /// Bytes of shared memory.
    pub shared_bytes: u32,
    /// Threads of a warp.
    pub warp: u32,
}

/// A file of a target that does not say what it must.
#[derive(Debug, Error)]
#[error("target {id}: {why}")]
pub struct TargetError {
    id: &'static str,
    why: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    platform: String,
    compute_capability: (u32, u32),
    features: Option<String>,
    dnn: (u32, u32, u32),
    source: String,
    device: toml::Table,
    rates: Option<Rates>,
}

/// Type, GHz, units of a core, operations of a unit in a clock.
type Rate = (u32, f64, u32, u32);

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rates {
    scalar: Vec<Rate>,
    matrix: Vec<Rate>,
}

/// Every target, by name.
pub fn targets() -> &'static [Target] {
    static TARGETS: LazyLock<Vec<Target>> = LazyLock::new(|| {
        let parse = |(id, text): &(&'static str, &str)| Target::parse(id, text).expect("the tests read every file");
        TEXTS.iter().map(parse).collect()
    });
    &TARGETS
}

impl Target {
    /// The target of this name: that of `--for`, or the one that a driver gives.
    pub fn named(name: &str) -> Option<&'static Target> {
        targets().iter().find(|target| target.id.eq_ignore_ascii_case(name) || target.name.eq_ignore_ascii_case(name))
    }

    fn parse(id: &'static str, text: &str) -> Result<Target, TargetError> {
        let file: File = toml::from_str(text).map_err(|error| TargetError { id, why: error.to_string() })?;
        let missing = |key: &str| TargetError { id, why: format!("no {key}") };
        let whole = |key: &str| {
            let value = file.device.get(key).and_then(toml::Value::as_integer);
            value.and_then(|value| u64::try_from(value).ok()).ok_or_else(|| missing(key))
        };
        let small = |key: &str| whole(key).and_then(|value| u32::try_from(value).map_err(|_| missing(key)));
        let clock_ghz = file.device.get("clock_rate_ghz").and_then(toml::Value::as_float);
        Ok(Target {
            id,
            name: file.name.clone(),
            source: file.source.clone(),
            compute_capability: file.compute_capability,
            cores: small("core_count")?,
            clock_ghz: clock_ghz.ok_or_else(|| missing("clock_rate_ghz"))?,
            memory_bytes_per_s: whole("memory_bandwidth")? as f64,
            memory_bytes: whole("device_memory_size")?,
            cache_bytes: whole("l2_cache_size")?,
            lanes_per_core: small("fpus_per_core")?,
            core: Core {
                threads: small("threads_per_core_limit")?,
                blocks: resident_blocks(file.compute_capability),
                registers: small("registers_per_core_limit")?,
                shared_bytes: small("shared_memory_per_core")?,
                warp: small("threads_per_warp")?,
            },
            file,
        })
    }

    /// As a `GpuTargetConfigProto` in the text format of protocol buffers.
    pub fn config(&self) -> String {
        let mut text = String::from("gpu_device_info {\n");
        for (key, value) in &self.file.device {
            // Writing to a string cannot fail.
            let _ = match value {
                toml::Value::String(value) => writeln!(text, "  {key}: \"{value}\""),
                toml::Value::Float(value) => writeln!(text, "  {key}: {value}"),
                toml::Value::Integer(value) => writeln!(text, "  {key}: {value}"),
                _ => Ok(()),
            };
        }
        let (major, minor) = self.compute_capability;
        let features =
            self.file.features.as_ref().map(|name| format!(" feature_extension: {name}")).unwrap_or_default();
        let _ = writeln!(text, "  cuda_compute_capability {{ major: {major} minor: {minor}{features} }}");
        if let Some(rates) = &self.file.rates {
            for (unit, rates) in [("scalar", &rates.scalar), ("matrix", &rates.matrix)] {
                let _ = writeln!(text, "  {unit}_unit_description {{");
                for (kind, ghz, units, ops) in rates {
                    let _ = writeln!(
                        text,
                        "    rate_infos {{ key: {kind} value {{ clock_rate_ghz: {ghz} units_per_core: {units} ops_per_clock: {ops} }} }}"
                    );
                }
                text.push_str("  }\n");
            }
        }
        let (major, minor, patch) = self.file.dnn;
        let _ = writeln!(text, "}}\nplatform_name: \"{}\"", self.file.platform);
        let _ = writeln!(text, "dnn_version_info {{ major: {major} minor: {minor} patch: {patch} }}");
        let _ = writeln!(text, "device_description_str: \"{}\"", self.name);
        text
    }
}

/// Blocks that a multiprocessor holds; CUDA C++ Programming Guide, technical specifications per compute capability.
fn resident_blocks((major, minor): (u32, u32)) -> u32 {
    match (major, minor) {
        (8, 6 | 7) => 16,
        (8, 9) | (12, _) => 24,
        _ => 32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_read_and_is_in_the_list() {
        assert_eq!(targets().len(), TEXTS.len());
        for (target, (id, _)) in targets().iter().zip(TEXTS) {
            assert_eq!(target.id, id);
            assert!(target.source.contains("openxla/xla") && target.source.contains(" at "), "{id}: {}", target.source);
            assert!(target.memory_bytes_per_s > 1e11 && target.cores > 50, "{id}");
        }
        assert_eq!(Target::named("H100").map(|target| target.cores), Some(132));
        assert_eq!(Target::named("NVIDIA H200 141GB HBM3e").map(|target| target.id), Some("h200"));
        assert_eq!(Target::named("h"), None);
    }

    #[test]
    fn a_target_is_written_as_xla_reads_it() {
        let text = Target::named("a100").expect("it is in the list").config();
        for line in [
            "  core_count: 108",
            "  clock_rate_ghz: 1.41",
            "  dnn_version: \"8.9.4\"",
            "  cuda_compute_capability { major: 8 minor: 0 feature_extension: NONE }",
            "platform_name: \"CUDA\"",
            "dnn_version_info { major: 8 minor: 9 patch: 4 }",
            "device_description_str: \"NVIDIA A100-SXM4-80GB\"",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
        }
    }

    #[test]
    fn a_file_that_lacks_a_figure_is_refused() {
        let text = "name=\"x\"\nplatform=\"CUDA\"\ncompute_capability=[8,0]\ndnn=[1,2,3]\nsource=\"s\"\n[device]\n";
        let error = Target::parse("x", text).expect_err("it has no figures");
        assert_eq!(error.to_string(), "target x: no core_count");
    }
}
