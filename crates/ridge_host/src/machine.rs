//! The machine as its system describes it: processor, cores, last-level cache, memory.
//!
//! What the system does not say is `None`; no host name, user or address is read.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The machine as its system describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// Processor as its maker names it.
    pub model: Option<String>,
    /// Architecture (`x86_64`).
    pub architecture: &'static str,
    /// Cores that this process may use.
    pub usable_cores: usize,
    /// All last-level caches together, bytes.
    pub last_level_cache_bytes: Option<u64>,
    /// Memory that can be had without swapping, bytes.
    pub available_memory_bytes: Option<u64>,
    /// Main memory, bytes.
    pub memory_bytes: Option<u64>,
}

/// Describes this machine.
pub fn machine() -> Machine {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let memory = read("/proc/meminfo");
    Machine {
        model: model(&read("/proc/cpuinfo")),
        architecture: std::env::consts::ARCH,
        usable_cores: std::thread::available_parallelism().map_or(1, usize::from),
        last_level_cache_bytes: last_level_cache(Path::new("/sys/devices/system/cpu")),
        available_memory_bytes: kilobytes(&memory, "MemAvailable:"),
        memory_bytes: kilobytes(&memory, "MemTotal:"),
    }
}

/// The first processor's name in the text of `/proc/cpuinfo`.
fn model(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.to_lowercase().starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The value of `key` in the text of `/proc/meminfo`, which is in KiB.
fn kilobytes(meminfo: &str, key: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Caches of the highest level under `cpus`, each once however many cores share it.
fn last_level_cache(cpus: &Path) -> Option<u64> {
    let mut caches: BTreeSet<(u32, String, u64)> = BTreeSet::new();
    for cpu in folders(cpus) {
        for index in folders(&cpu.join("cache")) {
            let read = |name: &str| fs::read_to_string(index.join(name)).unwrap_or_default().trim().to_owned();
            if let (Ok(level), Some(bytes)) = (read("level").parse(), cache_size(&read("size"))) {
                caches.insert((level, read("shared_cpu_list"), bytes));
            }
        }
    }
    let last = caches.last()?.0;
    Some(caches.iter().filter(|(level, ..)| *level == last).map(|(.., bytes)| bytes).sum())
}

fn folders(path: &Path) -> Vec<std::path::PathBuf> {
    fs::read_dir(path).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect()
}

/// `32768K` in bytes.
fn cache_size(text: &str) -> Option<u64> {
    let (digits, unit) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_words_are_read() {
        assert_eq!(model("processor : 0\nmodel name\t: A (R) CPU\n").as_deref(), Some("A (R) CPU"));
        assert_eq!(kilobytes("MemTotal:  16 kB\nMemAvailable:   4 kB\n", "MemAvailable:"), Some(4096));
        assert_eq!(kilobytes("", "MemTotal:"), None);
        for (text, bytes) in [("48K", Some(49_152)), ("2M", Some(2 << 20)), ("17", Some(17)), ("", None), ("xK", None)]
        {
            assert_eq!(cache_size(text), bytes, "{text}");
        }
    }

    #[test]
    fn it_has_a_core() {
        assert!(machine().usable_cores > 0);
    }
}
