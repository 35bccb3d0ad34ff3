//! What the devices are: names, multiprocessors, clocks and memory from `TARGET_INFO_GPU`.

use super::device::source_of;
use super::place::Placed;
use super::tables::Tables;
use crate::import::Import;
use crate::note::Severity;
use ridge_sqlite::Row;
use rustc_hash::FxHashMap;

/// A GPU as the export describes it.
#[derive(Debug)]
struct Gpu {
    id: Option<i64>,
    /// CUDA's number for it, where the process saw all devices.
    cuda: Option<i64>,
    model: Option<String>,
    memory_bytes: Option<u64>,
    memory_bytes_per_sec: Option<u64>,
    clock_hz: Option<u64>,
    cores: Option<u64>,
    compute_capability: Option<(u32, u32)>,
}

/// GPUs after which no more are looked at: no machine has as many.
const MAX_GPUS: usize = 1 << 10;

const COLUMNS: [&str; 9] = [
    "id",
    "cuDevice",
    "name",
    "totalMemory",
    "memoryBandwidth",
    "clockRate",
    "smCount",
    "computeMajor",
    "computeMinor",
];

fn gpu(row: &Row<'_>) -> Option<Gpu> {
    let positive = |at| row.int(at).and_then(|value| u64::try_from(value).ok()).filter(|value| *value > 0);
    let small = |at| row.int(at).and_then(|value| u32::try_from(value).ok());
    Some(Gpu {
        id: row.int(0),
        cuda: row.int(1),
        model: row.text(2).map(|name| name.into_owned()),
        memory_bytes: positive(3),
        memory_bytes_per_sec: positive(4),
        clock_hz: positive(5),
        cores: positive(6),
        compute_capability: small(7).zip(small(8)),
    })
}

/// Describes the devices that worked.
///
/// A process numbers the devices it sees: only `TARGET_INFO_CUDA_DEVICE` says which is which; without it the number is
/// taken for the machine's, which is said where it could be wrong.
pub(super) fn describe(tables: &impl Tables, placed: &Placed, import: &mut Import) {
    let mut gpus = tables.collect("TARGET_INFO_GPU", &COLUMNS, gpu);
    gpus.truncate(MAX_GPUS);
    // Seen in a capture from a container: the tables that describe GPUs were not there.
    if gpus.is_empty() && !placed.devices.is_empty() {
        let message =
            "the export doesn't name its GPUs: device and link limits are unknown unless `--ceilings` names the model";
        let devices = placed.devices.len() as u64;
        import.note(Severity::Info, &source_of(import), None, devices, message.to_owned());
    }
    let pairs = |row: &Row<'_>| Some(((row.int(0)?, row.int(1)?), row.int(2)?));
    let seen: FxHashMap<(i64, i64), i64> =
        tables.collect("TARGET_INFO_CUDA_DEVICE", &["pid", "cudaId", "gpuId"], pairs).into_iter().collect();
    let mut guessed = 0;
    for ((pid, cuda), row) in &placed.devices {
        let pid = (pid & 0xff_ffff) as i64;
        let known = seen.get(&(pid, *cuda)).copied();
        let found = match known {
            Some(id) => gpus.iter().find(|gpu| gpu.id == Some(id)),
            None => gpus.iter().find(|gpu| gpu.cuda.or(gpu.id) == Some(*cuda)),
        };
        let Some(gpu) = found else { continue };
        guessed += u64::from(known.is_none());
        let device = import.builder.device_mut(*row);
        device.vendor = Some("Nvidia".to_owned());
        device.model = gpu.model.clone();
        device.cores = gpu.cores;
        device.clock_khz = gpu.clock_hz.map(|hz| hz / 1000);
        device.memory_bytes = gpu.memory_bytes;
        device.memory_bytes_per_sec = gpu.memory_bytes_per_sec;
        device.compute_capability = gpu.compute_capability;
    }
    let alike = gpus.windows(2).all(|pair| pair[0].model == pair[1].model);
    if guessed > 0 && !alike {
        let message = "GPUs were matched to devices by number, because the export doesn't map them";
        import.note(Severity::Info, &source_of(import), None, guessed, message.to_owned());
    }
}
