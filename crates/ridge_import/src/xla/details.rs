//! The texts in which collectors describe launches and copies: `regs:38 shm:0 grid:160,1,1 block:1024,1,1`.
//!
//! The words differ by vendor and year; unknown ones are skipped and absent ones stay unknown.

use ridge_trace::{LaunchShape, MemoryKind, Transfer};

/// Reads `kernel_details`; an occupancy of 0 means that the collector did not know it.
pub(crate) fn launch_shape(text: &str) -> LaunchShape {
    let mut shape = LaunchShape::default();
    for (key, value) in words(text) {
        match key {
            "regs" => shape.registers = value.parse().ok(),
            "static_shared" | "shm" | "group_mem" => shape.static_shared_bytes = value.parse().ok(),
            "dynamic_shared" => shape.dynamic_shared_bytes = value.parse().ok(),
            "grid" => shape.grid = triple(value),
            "block" => shape.block = triple(value),
            "occ_pct" => shape.occupancy_pct = value.parse().ok().filter(|percent| *percent > 0.0),
            _ => {}
        }
    }
    shape
}

/// Reads `memcpy_details` and `memset_details`.
pub(crate) fn transfer(text: &str) -> Transfer {
    let mut transfer = Transfer::default();
    for (key, value) in words(text) {
        match key {
            "size" | "num_bytes" => transfer.bytes = value.parse().unwrap_or(0),
            "kind_src" => transfer.source = memory_kind(value),
            "kind_dst" | "kind" => transfer.destination = memory_kind(value),
            "async" => transfer.is_async = Some(value == "1"),
            _ => {}
        }
    }
    transfer
}

fn words(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split_ascii_whitespace().filter_map(|word| word.split_once(':'))
}

fn triple(text: &str) -> [u32; 3] {
    let mut numbers = text.split(',').map(|number| number.parse().unwrap_or(0));
    [(); 3].map(|()| numbers.next().unwrap_or(1))
}

fn memory_kind(word: &str) -> MemoryKind {
    match word {
        "pageable" => MemoryKind::Pageable,
        "pinned" => MemoryKind::Pinned,
        "device" | "device_static" => MemoryKind::Device,
        "array" => MemoryKind::Array,
        "managed" | "managed_static" => MemoryKind::Managed,
        _ => MemoryKind::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_of_every_collector() {
        let shape =
            launch_shape("regs:128 static_shared:1024 dynamic_shared:65536 grid:132,1,1 block:256,1,1 occ_pct:25");
        assert_eq!((shape.registers, shape.grid, shape.occupancy_pct), (Some(128), [132, 1, 1], Some(25.0)));
        let old = launch_shape("regs:38 shm:16 grid:160,2,1 block:1024,1,1");
        assert_eq!((old.static_shared_bytes, old.grid, old.block), (Some(16), [160, 2, 1], [1024, 1, 1]));
        let rocm = launch_shape(" grid:16,1,1 block:512,1,1 private_mem:0 group_mem:8192 occ_pct:0");
        assert_eq!((rocm.registers, rocm.static_shared_bytes, rocm.occupancy_pct), (None, Some(8192), None));
        assert_eq!(launch_shape("grid:99999999999,x block:").grid, [0, 0, 1]);
    }

    #[test]
    fn transfers_of_every_collector() {
        let new = transfer("kind_src:pinned kind_dst:device size:67108864 dest:0 async:1");
        let parts = (new.bytes, new.source, new.destination, new.is_async);
        assert_eq!(parts, (67_108_864, MemoryKind::Pinned, MemoryKind::Device, Some(true)));
        assert_eq!(transfer("size:4 dest:1 async:0").bytes, 4);
        assert_eq!(transfer("kind:device num_bytes:128 async:1").bytes, 128);
    }
}
