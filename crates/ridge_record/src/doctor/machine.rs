//! What the system says of itself: device files, capabilities, limits.

use std::fs;
use std::path::{Path, PathBuf};

use crate::programs::{find_program, search_path};
use rustix::fs::statvfs;
use rustix::process::{Resource, getrlimit};

/// Bit of `CAP_SYS_ADMIN` in `/proc/self/status` (capability.h).
const SYS_ADMIN: u64 = 1 << 21;

/// Device files that are looked for, at most.
const MOST_GPUS: u32 = 64;

/// A machine, or a container on it.
#[derive(Debug, Default)]
pub(super) struct Machine {
    pub(super) is_container: bool,
    /// Device files of GPUs.
    pub(super) gpus: Vec<String>,
    /// Whether NVIDIA's driver keeps counters for administrators; `None` where it does not say.
    pub(super) counters_for_admins: Option<bool>,
    pub(super) has_sys_admin: bool,
    /// Bytes that a process may lock; [`u64::MAX`] for no limit.
    pub(super) memlock: Option<u64>,
    /// Bytes of `/dev/shm`.
    pub(super) shared_memory: Option<u64>,
    /// Who may attach to a process, as Linux numbers it.
    pub(super) ptrace_scope: Option<u32>,
    /// Value of `JAX_PLATFORMS`.
    pub(super) jax_platforms: Option<String>,
    /// Folders of executables.
    pub(super) path: Vec<PathBuf>,
}

impl Machine {
    /// The one that this process is on.
    pub(super) fn here() -> Machine {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let limit = getrlimit(Resource::Memlock).current.unwrap_or(u64::MAX);
        let shared = statvfs("/dev/shm").ok().map(|found| found.f_blocks.saturating_mul(found.f_frsize));
        Machine {
            is_container: is_container(),
            gpus: gpus(Path::new("/dev")),
            counters_for_admins: counters_for_admins(&text("/proc/driver/nvidia/params")),
            has_sys_admin: has_sys_admin(&text("/proc/self/status")),
            memlock: cfg!(target_os = "linux").then_some(limit),
            shared_memory: shared,
            ptrace_scope: text("/proc/sys/kernel/yama/ptrace_scope").trim().parse().ok(),
            jax_platforms: std::env::var("JAX_PLATFORMS").ok(),
            path: search_path(),
        }
    }

    /// Whether a GPU is of NVIDIA.
    pub(super) fn has_nvidia(&self) -> bool {
        self.gpus.iter().any(|gpu| gpu.contains("nvidia"))
    }

    /// The executable `name`.
    pub(super) fn tool(&self, name: &str) -> Option<PathBuf> {
        find_program(Path::new(name), self.path.iter().cloned())
    }
}

/// Docker and Podman leave a file; others name themselves in the environment of what they start.
fn is_container() -> bool {
    ["/.dockerenv", "/run/.containerenv"].iter().any(|path| Path::new(path).exists())
        || std::env::var_os("container").is_some()
        || std::env::var_os("KUBERNETES_SERVICE_HOST").is_some()
}

/// Device files: one for each GPU of NVIDIA, one for all of AMD.
fn gpus(dev: &Path) -> Vec<String> {
    let nvidia = (0..MOST_GPUS).map(|index| dev.join(format!("nvidia{index}")));
    let all = nvidia.chain([dev.join("kfd"), dev.join("dxg")]);
    all.filter(|path| path.exists()).map(|path| path.display().to_string()).collect()
}

/// `RmProfilingAdminOnly: 1` of the driver's parameters.
fn counters_for_admins(parameters: &str) -> Option<bool> {
    let value = parameters.lines().find_map(|line| line.strip_prefix("RmProfilingAdminOnly:"))?;
    Some(value.trim() != "0")
}

/// `CapEff: 000001ffffffffff` of a process.
fn has_sys_admin(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & SYS_ADMIN != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_is_read() {
        assert_eq!(counters_for_admins("A: 1\nRmProfilingAdminOnly: 1\n"), Some(true));
        assert_eq!(counters_for_admins("RmProfilingAdminOnly: 0\n"), Some(false));
        assert_eq!(counters_for_admins(""), None);
        assert!(has_sys_admin("Name:\tx\nCapEff:\t000001ffffffffff\n"));
        assert!(!has_sys_admin("CapEff:\t00000000a80425fb\n") && !has_sys_admin("CapEff:\tzz\n"));
        let dev = tempfile::tempdir().expect("a temporary folder");
        for name in ["nvidia0", "nvidia3", "nvidiactl", "kfd"] {
            fs::write(dev.path().join(name), "").expect("a file");
        }
        let names: Vec<_> = gpus(dev.path()).iter().map(|path| path.rsplit('/').next().map(str::to_owned)).collect();
        assert_eq!(names, ["nvidia0", "nvidia3", "kfd"].map(|name| Some(name.to_owned())));
    }
}
