//! What a machine, or a container on it, has of what recording needs: what is missing, what that costs, and what mends it.

mod machine;
mod probe;

use std::path::Path;

use machine::Machine;
use probe::Probe;

use crate::compile::{CompilerParts, compiler_parts};
use crate::python::interpreter;

/// How one thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// As it should be.
    Fine,
    /// Something works worse, or only in part.
    Limited,
    /// It is not there.
    Missing,
}

impl State {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            State::Fine => "fine",
            State::Limited => "limited",
            State::Missing => "missing",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What.
    pub name: &'static str,
    /// How it is.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What its absence costs, where something is absent.
    pub cost: Option<&'static str>,
    /// The command or setting that mends it.
    pub fix: Option<String>,
}

impl Check {
    fn fine(name: &'static str, found: impl Into<String>) -> Check {
        Check { name, state: State::Fine, found: found.into(), cost: None, fix: None }
    }

    fn not(
        name: &'static str,
        state: State,
        found: impl Into<String>,
        cost: &'static str,
        fix: impl Into<String>,
    ) -> Check {
        Check { name, state, found: found.into(), cost: Some(cost), fix: Some(fix.into()) }
    }
}

/// Looks at this machine, and at what the interpreter `python` has; the usual one where none is named.
pub fn examine(python: Option<&Path>) -> Vec<Check> {
    let machine = Machine::here();
    let python = interpreter(python);
    let probe = Probe::of(&python);
    let jaxlib = probe.as_ref().ok().and_then(|probe| probe.version("jaxlib")).map(str::to_owned);
    let mut all = checks(&machine, &python, probe);
    all.push(of_compiler(&compiler_parts(), jaxlib.as_deref()));
    all
}

/// What compiling for GPUs that are not there has and lacks; `jaxlib` is the program's version.
fn of_compiler(parts: &CompilerParts, jaxlib: Option<&str>) -> Check {
    let cost = "`compile`, and `--as GPU` by compiled modules, do not work; `offload --as` falls back on the CPU's HLO";
    let install = |version: Option<&str>| match version {
        Some(version) => format!("ridgeline compile --install --jax {version}"),
        None => "ridgeline compile --install".to_owned(),
    };
    const NAME: &str = "compiler for GPUs";
    if !parts.python.is_file() {
        let found = format!("not installed (looked for {})", parts.python.display());
        return Check::not(NAME, State::Missing, found, cost, install(jaxlib));
    }
    let lacking: Vec<&str> =
        parts.versions.iter().filter(|(_, version)| version.is_none()).map(|(name, _)| *name).collect();
    if !lacking.is_empty() {
        let found = format!("{} has no {}", parts.python.display(), lacking.join(", "));
        return Check::not(NAME, State::Limited, found, cost, install(jaxlib));
    }
    let own = parts.versions.iter().find(|(name, _)| *name == "jaxlib").and_then(|(_, version)| version.as_deref());
    match (own, jaxlib) {
        (Some(own), Some(jaxlib)) if own != jaxlib => Check::not(
            NAME,
            State::Limited,
            format!("it has jaxlib {own}, and programs have {jaxlib}"),
            "only the same version can compile modules recorded as bytecode",
            install(Some(jaxlib)),
        ),
        _ => {
            let versions =
                parts.versions.iter().filter_map(|(name, version)| Some(format!("{name} {}", version.as_ref()?)));
            let versions: Vec<String> = versions.collect();
            Check::fine(NAME, format!("{}; AMD's GPUs need ROCm and are not offered", versions.join(", ")))
        }
    }
}

/// Bytes below which locked memory is too little for copies by pinned buffers.
const MEMLOCK: u64 = 64 << 20;

/// Bytes below which shared memory is too little for NCCL and loaders of data.
const SHARED: u64 = 1 << 30;

fn checks(machine: &Machine, python: &Path, probe: Result<Probe, String>) -> Vec<Check> {
    let mut all = vec![of_machine(machine)];
    match probe {
        Ok(probe) => all.extend(of_python(machine, &probe)),
        Err(why) => all.push(Check::not(
            "python",
            State::Missing,
            format!("{}: {why}", python.display()),
            "no JAX or PyTorch program can be recorded",
            "install Python 3.11 or newer, or name one with `--python FILE`",
        )),
    }
    all.extend(gpus(machine));
    all.extend(profilers(machine));
    all.extend(limits(machine));
    all
}

/// Where this is.
fn of_machine(machine: &Machine) -> Check {
    Check::fine("place", if machine.is_container { "inside a container" } else { "no container was recognized" })
}

fn of_python(machine: &Machine, probe: &Probe) -> Vec<Check> {
    let mut all = vec![match probe.is_old() {
        false => Check::fine("python", format!("{}, {}", probe.python, probe.executable)),
        true => Check::not(
            "python",
            State::Limited,
            format!("{}, {}", probe.python, probe.executable),
            "the recorder's harness is tested with Python 3.11 and newer",
            "install Python 3.11 or newer, or name one with `--python FILE`",
        ),
    }];
    let absent = probe.version("jax").is_none() && probe.version("torch").is_none();
    if absent {
        let cost = "there is nothing to record";
        all.push(Check::not("jax", State::Missing, "neither JAX nor PyTorch is installed", cost, "pip install jax"));
    }
    for library in ["jax", "torch"] {
        all.extend(probe.version(library).map(|version| of_library(machine, probe, library, version)));
    }
    all.extend(plugins(probe));
    all
}

/// Whether a library sees the machine's GPUs.
fn of_library(machine: &Machine, probe: &Probe, library: &'static str, version: &str) -> Check {
    let devices = match probe.devices(library) {
        Ok(devices) => devices,
        Err(why) => {
            let cost = "no program that uses it runs here";
            let fix = format!("python -c 'import {library}' shows the whole error");
            return Check::not(library, State::Missing, format!("{version}: {why}"), cost, fix);
        }
    };
    let found = format!("{version}, {}", probe::summed(devices));
    let sees_gpu = devices.iter().any(|device| device.is_gpu());
    if machine.gpus.is_empty() || sees_gpu {
        return Check::fine(library, found);
    }
    let is_asked_off = library == "jax" && machine.jax_platforms.as_deref().is_some_and(|asked| asked == "cpu");
    let fix = match (library, is_asked_off) {
        ("jax", true) => "unset JAX_PLATFORMS, which is `cpu`",
        ("jax", false) => "pip install -U 'jax[cuda12]'",
        _ => "install the CUDA build of PyTorch; https://pytorch.org/get-started/locally",
    };
    let cost = "programs run on the CPU, although there is a GPU";
    Check::not(library, State::Limited, found, cost, fix)
}

/// Whether the plugins of JAX are of its version.
fn plugins(probe: &Probe) -> Vec<Check> {
    let Some(jaxlib) = probe.version("jaxlib") else { return Vec::new() };
    let plugins = ["jax-cuda12-plugin", "jax-cuda13-plugin", "jax-rocm7-plugin"];
    let found = plugins.into_iter().filter_map(|plugin| Some((plugin, probe.version(plugin)?)));
    let check = |(plugin, version): (&'static str, &str)| match version == jaxlib {
        true => Check::fine(plugin, version),
        false => Check::not(
            plugin,
            State::Limited,
            format!("{version}, while jaxlib is {jaxlib}"),
            "JAX may refuse the plugin and run on the CPU",
            format!("pip install -U '{plugin}=={jaxlib}'"),
        ),
    };
    found.map(check).collect()
}

fn gpus(machine: &Machine) -> Vec<Check> {
    if machine.gpus.is_empty() {
        let fix = match machine.is_container {
            true => "start the container with `--gpus all` (needs the NVIDIA Container Toolkit on the host)",
            false => "install the driver of the GPU; on a machine without one there is nothing to do",
        };
        let cost = "only work on the CPU is recorded";
        return vec![Check::not("gpu", State::Missing, "no device file of an NVIDIA or AMD GPU", cost, fix)];
    }
    let mut all = vec![Check::fine("gpu", machine.gpus.join(", "))];
    if machine.has_nvidia() {
        all.push(counters(machine));
    }
    all
}

/// Whether hardware counters may be read.
fn counters(machine: &Machine) -> Check {
    match (machine.counters_for_admins, machine.has_sys_admin) {
        (Some(false), _) => Check::fine("counters", "the driver allows them to everybody"),
        (_, true) => Check::fine("counters", "this user is allowed to administer the system"),
        (asked, false) => {
            let found = match asked {
                Some(_) => "the driver allows them to administrators only",
                None => "the driver does not report who may read them, and this user is not an administrator",
            };
            let fix = match machine.is_container {
                true => "start the container with `--cap-add SYS_ADMIN`",
                false => {
                    "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/profiling.conf, and restart"
                }
            };
            let cost = "`record --with ncu` counts nothing, and `--with nsys` has no GPU metrics";
            Check::not("counters", State::Limited, found, cost, fix)
        }
    }
}

/// NVIDIA's profilers, where there is a GPU of NVIDIA.
fn profilers(machine: &Machine) -> Vec<Check> {
    if !machine.has_nvidia() {
        return Vec::new();
    }
    let tool = |name: &'static str, cost: &'static str, package: &str| match machine.tool(name) {
        Some(path) => Check::fine(name, path.display().to_string()),
        None => Check::not(
            name,
            State::Missing,
            "not in PATH",
            cost,
            format!("apt-get install {package}, from NVIDIA's package repository"),
        ),
    };
    vec![
        tool("nsys", "`record --with nsys` does not work; recordings by JAX and PyTorch do", "nsight-systems-cli"),
        tool("ncu", "`record --with ncu` does not work: no hardware counters of kernels", "nsight-compute"),
    ]
}

fn limits(machine: &Machine) -> Vec<Check> {
    let mut all = Vec::new();
    let megabytes = |bytes: u64| format!("{} MiB", bytes >> 20);
    match machine.memlock {
        Some(bytes) if bytes < MEMLOCK => {
            let fix = match machine.is_container {
                true => "start the container with `--ulimit memlock=-1`",
                false => "ulimit -l unlimited, or `memlock` in /etc/security/limits.conf",
            };
            let cost = "pinned memory may be refused, for copies to GPUs and between machines";
            all.push(Check::not("memlock", State::Limited, megabytes(bytes), cost, fix));
        }
        Some(u64::MAX) => all.push(Check::fine("memlock", "unlimited")),
        Some(bytes) => all.push(Check::fine("memlock", megabytes(bytes))),
        None => {}
    }
    if let Some(bytes) = machine.shared_memory {
        all.push(match bytes < SHARED {
            false => Check::fine("shared memory", megabytes(bytes)),
            true => {
                let fix = match machine.is_container {
                    true => "start the container with `--shm-size 8g`",
                    false => "mount -o remount,size=8G /dev/shm",
                };
                let cost = "NCCL and loaders of data with several processes may fail";
                Check::not("shared memory", State::Limited, megabytes(bytes), cost, fix)
            }
        });
    }
    if let Some(scope) = machine.ptrace_scope {
        all.push(match scope {
            0 | 1 => Check::fine("ptrace", format!("yama.ptrace_scope is {scope}")),
            _ => Check::not(
                "ptrace",
                State::Limited,
                format!("yama.ptrace_scope is {scope}"),
                "debuggers and profilers cannot attach to programs; `record`, which starts them, does not need it",
                "sysctl kernel.yama.ptrace_scope=1",
            ),
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(text: &str) -> Result<Probe, String> {
        Probe::read(text)
    }

    const JAX_ON_CPU: &str = r#"{"python":"3.11.7","executable":"/venv/bin/python","versions":{"jax":"0.10.1","jaxlib":"0.10.1","jax-cuda12-plugin":"0.9.0"},"jax":{"devices":[{"platform":"cpu","kind":"cpu"}]}}"#;

    fn told(machine: &Machine, found: Result<Probe, String>) -> String {
        let all = checks(machine, Path::new("python3"), found);
        let line = |check: &Check| format!("{} {}: {}", check.state.name(), check.name, check.found);
        all.iter().filter(|check| check.state != State::Fine).map(line).collect::<Vec<_>>().join("\n")
    }

    fn bare() -> Machine {
        Machine { memlock: Some(u64::MAX), shared_memory: Some(8 << 30), ptrace_scope: Some(1), ..Machine::default() }
    }

    #[test]
    fn a_gpu_that_jax_does_not_see_is_told() {
        let machine = Machine {
            gpus: vec!["/dev/nvidia0".to_owned()],
            counters_for_admins: Some(true),
            memlock: Some(8 << 20),
            shared_memory: Some(64 << 20),
            ptrace_scope: Some(3),
            ..Machine::default()
        };
        assert_eq!(
            told(&machine, probe(JAX_ON_CPU)),
            "limited jax: 0.10.1, 1 cpu (cpu)\n\
             limited jax-cuda12-plugin: 0.9.0, while jaxlib is 0.10.1\n\
             limited counters: the driver allows them to administrators only\n\
             missing nsys: not in PATH\n\
             missing ncu: not in PATH\n\
             limited memlock: 8 MiB\n\
             limited shared memory: 64 MiB\n\
             limited ptrace: yama.ptrace_scope is 3"
        );
    }

    #[test]
    fn a_machine_without_a_gpu_misses_that_alone() {
        let fine = JAX_ON_CPU.replace(r#","jax-cuda12-plugin":"0.9.0""#, "");
        assert_eq!(told(&bare(), probe(&fine)), "missing gpu: no device file of an NVIDIA or AMD GPU");
    }

    #[test]
    fn what_does_not_start_is_told_with_its_words() {
        let broken = r#"{"python":"3.9.1","executable":"p","versions":{"jax":"1"},"jax":{"why":"RuntimeError: no"}}"#;
        let all = told(&bare(), probe(broken));
        assert!(all.starts_with("limited python: 3.9.1, p\nmissing jax: 1: RuntimeError: no\n"), "{all}");
        assert!(told(&bare(), Err("not found".to_owned())).starts_with("missing python: python3: not found\n"));
    }

    #[test]
    fn the_compiler_for_gpus_is_looked_at() {
        let folder = tempfile::tempdir().expect("a folder");
        let python = folder.path().join("python");
        let parts = |versions: [(&'static str, Option<&str>); 2]| CompilerParts {
            python: python.clone(),
            versions: versions.map(|(name, version)| (name, version.map(str::to_owned))).to_vec(),
        };
        let whole = || parts([("jaxlib", Some("0.10.1")), ("ptxas", Some("12.9"))]);
        let absent = of_compiler(&whole(), Some("0.9.0"));
        assert_eq!(
            (absent.state, absent.fix.as_deref()),
            (State::Missing, Some("ridgeline compile --install --jax 0.9.0"))
        );
        std::fs::write(&python, "").expect("a file");
        assert_eq!(of_compiler(&whole(), Some("0.10.1")).state, State::Fine);
        let other = of_compiler(&whole(), Some("0.9.0"));
        assert_eq!(
            (other.state, other.fix.as_deref()),
            (State::Limited, Some("ridgeline compile --install --jax 0.9.0"))
        );
        let half = of_compiler(&parts([("jaxlib", Some("0.10.1")), ("ptxas", None)]), None);
        assert_eq!(half.fix.as_deref(), Some("ridgeline compile --install"));
        assert!(half.found.ends_with("has no ptxas"), "{}", half.found);
    }

    #[test]
    fn a_container_is_told_how_it_should_be_started() {
        let machine = Machine { is_container: true, memlock: Some(1), ..bare() };
        let fixes: Vec<_> =
            checks(&machine, Path::new("p"), probe(JAX_ON_CPU)).into_iter().filter_map(|check| check.fix).collect();
        assert!(fixes.iter().filter(|fix| fix.starts_with("start the container with `--")).count() == 2, "{fixes:?}");
    }
}
