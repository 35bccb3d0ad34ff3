//! The machine: which device each thread launches on, what the devices are, versions.

use super::replica::Replica;
use crate::import::Import;
use ridge_sqlite::Row;
use std::collections::BTreeMap;

/// A device as the archive describes it.
#[derive(Debug, Default, Clone)]
pub(super) struct Gpu {
    /// CUDA's number for it.
    pub(super) cuda: i64,
    /// Its number among all devices of the program, as XLA gave it.
    global: Option<u64>,
    pub(super) model: Option<String>,
    pub(super) memory_bytes: Option<u64>,
    pub(super) memory_bytes_per_sec: Option<u64>,
    pub(super) clock_hz: Option<u64>,
    pub(super) cores: Option<u64>,
    pub(super) compute_capability: Option<(u32, u32)>,
}

/// A thread of XLA that launches work on one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Launcher {
    global: u64,
    rank: u32,
}

/// What is known of the machine.
#[derive(Debug, Default)]
pub(super) struct Machine {
    pub(super) gpus: Vec<Gpu>,
    launchers: BTreeMap<(i64, i64), Launcher>,
    /// Processes of threads, for tables that name threads alone.
    processes: BTreeMap<i64, i64>,
}

impl Machine {
    /// The device that a thread launches on; `true` where that is a guess.
    ///
    /// A thread that XLA did not name is a program's own, which launches on its process's first device: the rule of
    /// `nsys_jax`, exact where each process has one device.
    pub(super) fn gpu_of(&self, pid: i64, tid: i64) -> (Option<&Gpu>, bool) {
        let with = |launcher: &Launcher| self.gpus.iter().find(|gpu| gpu.global == Some(launcher.global));
        if let Some(gpu) = self.launchers.get(&(pid, tid)).and_then(with) {
            return (Some(gpu), false);
        }
        let first = self.launchers.range((pid, i64::MIN)..).next().filter(|((found, _), _)| *found == pid);
        (first.and_then(|(_, launcher)| with(launcher)).or(self.gpus.first()), self.gpus.len() > 1)
    }

    /// The rank of a process, where XLA's threads are named after it.
    pub(super) fn rank_of(&self, pid: i64) -> Option<u32> {
        let of_process = self.launchers.range((pid, i64::MIN)..).next().filter(|((found, _), _)| *found == pid);
        of_process.map(|(_, launcher)| launcher.rank)
    }

    /// The process of a thread.
    pub(super) fn process_of(&self, tid: i64) -> Option<i64> {
        self.processes.get(&tid).copied()
    }
}

/// Keys of the system's description that are shown, with the names they get; beside them stand hosts and environments.
const SHOWN: [(&str, &str); 3] =
    [("NvDriverVersion", "driver"), ("CpuDescription", "cpu"), ("OsDescription", "system")];

/// Devices after which no more are looked at.
const MAX_GPUS: usize = 1 << 10;

const GPU_COLUMNS: [&str; 10] = [
    "cuDevice",
    "('TARGET_INFO_GPU', 'name')",
    "('TARGET_INFO_GPU', 'totalMemory')",
    "('TARGET_INFO_GPU', 'memoryBandwidth')",
    "('TARGET_INFO_GPU', 'clockRate')",
    "('TARGET_INFO_GPU', 'smCount')",
    "('TARGET_INFO_GPU', 'computeMajor')",
    "('TARGET_INFO_GPU', 'computeMinor')",
    "('TARGET_INFO_NVTX_CUDA_DEVICE', 'name')",
    "('TARGET_INFO_GPU', 'cuDevice')",
];

/// Reads the tables of devices, threads and the system.
pub(super) fn read(replica: &Replica<'_, '_>, import: &mut Import) -> Machine {
    let mut machine = Machine::default();
    let gpu = |gpus: &mut Vec<Gpu>, row: &Row<'_>| gpus.extend(gpu(row));
    let gpus = replica.table("device-metadata.parquet", &GPU_COLUMNS, import, gpu);
    machine.gpus = gpus.into_iter().flatten().take(MAX_GPUS).collect();
    let thread = |found: &mut Vec<(i64, i64, Option<Launcher>)>, row: &Row<'_>| {
        if let (Some(pid), Some(tid)) = (row.int(0), row.int(1)) {
            found.push((pid, tid, row.text(2).and_then(|name| launcher(&name))));
        }
    };
    let threads = replica.table("thread-metadata.parquet", &["PID", "TID", "Name"], import, thread);
    for (pid, tid, launcher) in threads.into_iter().flatten() {
        machine.processes.insert(tid, pid);
        machine.launchers.extend(launcher.map(|launcher| ((pid, tid), launcher)));
    }
    let fact = |facts: &mut Vec<(String, String)>, row: &Row<'_>| {
        let (Some(key), Some(value)) = (row.text(0), row.text(1)) else { return };
        let shown = SHOWN.iter().find(|(known, _)| *known == key);
        facts.extend(shown.map(|(_, name)| ((*name).to_owned(), value.chars().take(80).collect())));
    };
    let facts = replica.table("system-metadata.parquet", &["name", "value"], import, fact);
    if let Some(capture) = import.captures.last_mut() {
        for fact in facts.into_iter().flatten() {
            if !capture.facts.contains(&fact) {
                capture.facts.push(fact);
            }
        }
    }
    machine
}

fn gpu(row: &Row<'_>) -> Option<Gpu> {
    let positive = |at| row.int(at).and_then(|value| u64::try_from(value).ok()).filter(|value| *value > 0);
    let small = |at| row.int(at).and_then(|value| u32::try_from(value).ok());
    Some(Gpu {
        cuda: row.int(0).or(row.int(9))?,
        global: row.text(8).and_then(|name| number_after(&name, "global=")),
        model: row.text(1).map(|name| name.into_owned()),
        memory_bytes: positive(2),
        memory_bytes_per_sec: positive(3),
        clock_hz: positive(4),
        cores: positive(5),
        compute_capability: small(6).zip(small(7)),
    })
}

/// What XLA calls its threads: `XlaLauncher:#global=3,local=1,process=1,slice=0#`; newer ones say `partition`.
fn launcher(name: &str) -> Option<Launcher> {
    let name = name.strip_prefix("XlaLauncher:#")?;
    let rank = u32::try_from(number_after(name, "process=")?).ok()?;
    Some(Launcher { global: number_after(name, "global=")?, rank })
}

fn number_after(text: &str, key: &str) -> Option<u64> {
    let digits = text.split_once(key)?.1;
    digits[..digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len())].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_name_their_device() {
        let expected = Some(Launcher { global: 13, rank: 1 });
        assert_eq!(launcher("XlaLauncher:#global=13,local=5,process=1,slice=0#"), expected);
        assert_eq!(launcher("XlaLauncher:#global=13,local=5,process=1,partition=0#"), expected);
        assert_eq!((launcher("python"), launcher("XlaLauncher:#global=,process=1#")), (None, None));
    }

    #[test]
    fn threads_without_a_name_take_the_first_device_of_their_process() {
        let gpu = |cuda, global| Gpu { cuda, global: Some(global), ..Gpu::default() };
        let launchers = [((7, 71), Launcher { global: 1, rank: 0 }), ((8, 81), Launcher { global: 2, rank: 1 })];
        let machine = Machine {
            gpus: vec![gpu(0, 0), gpu(1, 1), gpu(2, 2)],
            launchers: launchers.into_iter().collect(),
            processes: BTreeMap::new(),
        };
        let found = |pid, tid| (machine.gpu_of(pid, tid).0.map(|gpu| gpu.cuda), machine.gpu_of(pid, tid).1);
        assert_eq!(found(8, 81), (Some(2), false));
        assert_eq!((found(8, 80), found(9, 90)), ((Some(2), true), (Some(0), true)));
        assert_eq!((machine.rank_of(8), machine.rank_of(9)), (Some(1), None));
    }
}
