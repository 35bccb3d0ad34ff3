//! What the host's own time is made of: converting arrays, working on results, joining arrays, reading and writing files, drawing,
//! copying objects.
//!
//! Looks at the program's Python say what was called: by the name of the call in the program's own line, with its package, and by the
//! functions of packages below it.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::pauses::is_own_code;
use crate::places::Seen;
use ridge_analysis::{Cause, PythonLooks};
use ridge_trace::PythonStack;

/// A part of the host's time that has a cause of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostPart {
    /// Arrays of the host are made into arrays of the device.
    Converting,
    /// Libraries of the host work on values.
    Computing,
    /// Arrays of the host are joined to a longer one.
    Joining,
    /// Files are read, or the program sleeps or waits for another one.
    Reading,
    /// Values are written into files, or packed for that.
    Writing,
    /// Figures are drawn.
    Drawing,
    /// Objects of Python are copied with all that they hold.
    Copying,
    /// Another thread of the program is waited for.
    Waiting,
}

/// What joins arrays of the host.
const JOINING: [&str; 6] =
    ["numpy.concatenate", "numpy.append", "numpy.vstack", "numpy.hstack", "numpy.column_stack", "numpy.insert"];
/// What makes arrays of the device from those of the host.
const CONVERTING: [&str; 8] = [
    "jax.numpy.asarray",
    "jax.numpy.array",
    "jax.device_put",
    "jax.device_put_sharded",
    "jax.device_put_replicated",
    "torch.tensor",
    "torch.as_tensor",
    "torch.from_numpy",
];
/// Functions of JAX below which that happens.
const CONVERTING_IN: [&str; 3] =
    ["_src/numpy/array_constructors.py", "_src/api.py:device_put", "_src/dispatch.py:_device_put"];
/// Where JAX takes the numbers of a list one by one, and where Python collects the garbage that so many objects call for.
const WALKING_IN: [&str; 3] = ["jax/_src/dtypes.py", "jax/_src/tree_util.py", "_xla_gc_callback"];
/// Fewer looks than this may be chance.
const FEWEST_INSIDE: u64 = 4;
/// What reads or waits.
const READING: [&str; 12] = [
    "open",
    "time.sleep",
    "numpy.load",
    "numpy.loadtxt",
    "numpy.genfromtxt",
    "numpy.fromfile",
    "numpy.memmap",
    "json.load",
    "json.loads",
    "pickle.load",
    "pandas.read_csv",
    "torch.load",
];
/// The same by the package that is called.
const READING_IN: [&str; 8] = [
    "h5py/",
    "zarr/",
    "PIL/",
    "imageio/",
    "pandas/io/",
    "torch/utils/data/",
    "numpy/lib/_npyio_impl.py",
    "numpy/_core/memmap.py",
];
/// What writes, or packs for that.
const WRITING: [&str; 21] = [
    "torch.save",
    "numpy.save",
    "numpy.savez",
    "numpy.savez_compressed",
    "numpy.savetxt",
    "jax.numpy.save",
    "jax.numpy.savez",
    "pickle.dump",
    "pickle.dumps",
    "json.dump",
    "json.dumps",
    "os.fsync",
    "os.replace",
    "os.rename",
    "zlib.compress",
    "gzip.compress",
    "lzma.compress",
    "bz2.compress",
    "equinox.tree_serialise_leaves",
    "flax.serialization.to_bytes",
    "flax.serialization.msgpack_serialize",
];
/// The same by the package or the file of Python that is called.
const WRITING_IN: [&str; 16] = [
    "orbax/",
    "logging/__init__.py",
    "tensorboard/",
    "tensorboardX/",
    "torch/serialization.py:save",
    "torch/utils/tensorboard/",
    "equinox/_serialisation.py:tree_serialise",
    "flax/serialization.py",
    "flax/training/checkpoints.py",
    "pandas/io/formats/",
    "pathlib.py:Path.replace",
    "pathlib.py:Path.rename",
    "pathlib.py:Path.write_",
    "shutil.py",
    "gzip.py",
    "safetensors/",
];
/// What waits for another thread of the program.
const WAITING_IN: [&str; 5] = [
    "threading.py:Condition.wait",
    "threading.py:Event.wait",
    "threading.py:Thread.join",
    "threading.py:Thread._wait_for_tstate_lock",
    "queue.py:Queue.get",
];
/// Packages that draw.
const DRAWING_IN: [&str; 4] = ["matplotlib/", "seaborn/", "plotly/", "bokeh/"];
/// Where JAX traces, lowers and compiles, which events tell.
const COMPILING_IN: [&str; 4] = [
    "_src/compiler.py",
    "_src/interpreters/mlir.py",
    "_src/interpreters/partial_eval.py",
    "_src/interpreters/pxla.py:lower",
];
/// Packages that compute on the host.
const COMPUTING: [&str; 6] = ["numpy", "scipy", "pandas", "skimage", "sklearn", "cv2"];
/// Calls of those that fetch a value rather than compute, which waits for the device.
const FETCHING: [&str; 4] = ["numpy.asarray", "numpy.array", "numpy.ascontiguousarray", "numpy.copy"];

/// Where Python unpacks what it reads.
pub(crate) const UNPACKING_IN: [&str; 5] = ["zipfile", "gzip.py", "lzma.py", "bz2.py", "_compression.py"];

impl Case<'_> {
    /// What the host did in `stack`, where that has a cause of its own.
    pub(crate) fn part_of(&self, stack: &PythonStack) -> Option<HostPart> {
        let python = &self.trace().python;
        let text = |id| self.trace().strings.get(id);
        let call = python.places.get(*stack.places.first()? as usize).map_or("", |place| text(place.call));
        part(&with_package(call), text(stack.calls), text(stack.innermost))
    }

    /// The idle time in which the host did `wanted`: rows of the breakdown with the part of each, by the looks that fell into it.
    pub(crate) fn idle_while(&self, wanted: HostPart) -> Vec<(usize, f32)> {
        let looks = self.analysis.get::<PythonLooks>();
        let of_row = |at: usize| {
            let all: u64 = looks.idle_in(at)?.values().sum();
            let found: u64 = self.looks_in(&[(at, 1.0)], |stack| self.part_of(stack) == Some(wanted)).values().sum();
            (all >= FEWEST_OF_ROW && found > 0).then(|| (at, found as f32 / all as f32))
        };
        let by_host = |cause: Cause| matches!(cause, Cause::HostLate | Cause::LaunchCall | Cause::Run);
        self.idle()
            .filter(|idle| by_host(idle.cause) && is_own_code(idle.activity))
            .filter_map(|idle| of_row(idle.at))
            .collect()
    }

    /// A finding of the idle time in which the host did `wanted`, where that is enough to speak of: `message` of its share.
    pub(crate) fn finding_of_part(
        &self,
        wanted: HostPart,
        message: impl Fn(f64, &Seen<'_>) -> String,
    ) -> Option<Finding> {
        let claim = self.idle_while(wanted);
        let share = self.share_of(claim.iter().copied());
        if let Some(finding) = self.part_of_all_looks(wanted, share, &message) {
            return Some(finding);
        }
        let least = if self.is_on_processors() { LEAST_ON_PROCESSORS } else { LEAST };
        let seen = self
            .seen(&self.looks_in(&claim, |stack| self.part_of(stack) == Some(wanted)))
            .filter(|_| share >= least)?;
        let ns = (share * self.breakdown().whole_ns() as f64) as i64;
        let finding = Finding::new(message(share, &seen))
            .seen(Some(&seen))
            .number("idle time, estimated from Python stack samples", self.per_unit(ns))
            .fact(format!("{} of {} of these samples were at this line", seen.looks, seen.of));
        let finding = finding.claims(claim);
        // What a few looks found in a short time may be all of it by chance.
        Some(if seen.of < FEWEST_TO_WARN { finding.information() } else { finding })
    }

    /// The same for PyTorch on processors, where the host is the device, by all looks at the program: its windows may be short.
    fn part_of_all_looks(
        &self,
        wanted: HostPart,
        idle_share: f64,
        message: impl Fn(f64, &Seen<'_>) -> String,
    ) -> Option<Finding> {
        if self.framework() != Framework::Torch || !self.is_on_processors() {
            return None;
        }
        let all = self.analysis.get::<PythonLooks>();
        // What a loader does, or waits for, has a rule of its own.
        let is_of_loader = |stack: &PythonStack| self.trace().strings.get(stack.calls).starts_with("torch/utils/data/");
        let looks = self.looks_with(|stack| self.part_of(stack) == Some(wanted) && !is_of_loader(stack));
        let held: u64 = looks.values().sum();
        let share = held as f64 / all.count.max(1) as f64;
        let seen = self
            .seen(&looks)
            .filter(|_| held >= FEWEST_OF_ALL && share >= LEAST_ON_PROCESSORS && share > idle_share)?;
        let finding = Finding::new(message(share, &seen))
            .seen(Some(&seen))
            .fact(format!("{held} of {} Python stack samples were in this code", all.count))
            .fact(format!("{} of {} of these samples were at this line", seen.looks, seen.of))
            .claims(self.claim_of_all(share));
        Some(finding.priced(share * 0.7, (share * 1.2).min(1.0)))
    }

    /// Whether converting was mostly a walk over Python objects: JAX asks an array for its type once, and a list for that of each number.
    pub(crate) fn walks_lists(&self) -> bool {
        self.is_often_in(HostPart::Converting, &WALKING_IN)
    }

    /// Whether a third or more of what the host did as `wanted` was in one of `functions`.
    pub(crate) fn is_often_in(&self, wanted: HostPart, functions: &[&str]) -> bool {
        let claim = self.idle_while(wanted);
        let text = |id| self.trace().strings.get(id);
        let is_in = |stack: &PythonStack| functions.iter().any(|inside| text(stack.innermost).contains(inside));
        let does = |stack: &PythonStack| self.part_of(stack) == Some(wanted);
        let all: u64 = self.looks_in(&claim, does).values().sum();
        let found: u64 = self.looks_in(&claim, |stack| does(stack) && is_in(stack)).values().sum();
        found >= FEWEST_INSIDE && found * 3 > all
    }

    /// The part of row `at` of the breakdown in which the program's Python waited for a device, 0 to 1.
    pub(crate) fn part_that_waits(&self, at: usize) -> f32 {
        let Some(looks) = self.analysis.get::<PythonLooks>().idle_in(at) else { return 0.0 };
        let all: u64 = looks.values().sum();
        if all < FEWEST_OF_ROW {
            return 0.0;
        }
        let python = &self.trace().python;
        let text = |id| self.trace().strings.get(id);
        let waits = |stack: &PythonStack| {
            let call = stack
                .places
                .first()
                .and_then(|at| python.places.get(*at as usize))
                .map_or("", |place| text(place.call));
            is_wait(call, text(stack.innermost))
        };
        let found: u64 = self.looks_in(&[(at, 1.0)], waits).values().sum();
        found as f32 / all as f32
    }

    /// The part of row `at` of the breakdown that parts with a cause of their own have, 0 to 1.
    pub(crate) fn part_with_cause(&self, at: usize) -> f32 {
        let Some(looks) = self.analysis.get::<PythonLooks>().idle_in(at) else { return 0.0 };
        let all: u64 = looks.values().sum();
        if all < FEWEST_OF_ROW {
            return 0.0;
        }
        let found: u64 = self.looks_in(&[(at, 1.0)], |stack| self.part_of(stack).is_some()).values().sum();
        found as f32 / all as f32
    }
}

/// Below this part of the time nobody would notice.
const LEAST: f64 = 0.03;
/// The same on processors, where what a program does every now and then with its results is done on the same cores.
const LEAST_ON_PROCESSORS: f64 = 0.10;
/// From so many looks on a part warns.
const FEWEST_TO_WARN: u64 = 5;
/// Fewer looks at the whole program tell no part of it.
const FEWEST_OF_ALL: u64 = 8;
/// Rows of the breakdown with fewer looks are not divided.
const FEWEST_OF_ROW: u64 = 3;

/// Names that programs give packages by custom, where the recorder could not tell the package itself.
fn with_package(call: &str) -> String {
    const CUSTOM: [(&str, &str); 4] =
        [("np.", "numpy."), ("jnp.", "jax.numpy."), ("onp.", "numpy."), ("pd.", "pandas.")];
    let found = CUSTOM.iter().find_map(|(name, package)| Some(format!("{package}{}", call.strip_prefix(name)?)));
    found.unwrap_or_else(|| call.to_owned())
}

/// Whether a call returns when a device has done what it was given.
fn is_wait(call: &str, innermost: &str) -> bool {
    const WAITS: [&str; 3] = ["block_until_ready", "device_get", "synchronize"];
    let last = call.rsplit('.').next().unwrap_or(call);
    let function = innermost.rsplit(':').next().unwrap_or(innermost);
    WAITS.iter().any(|wait| last == *wait || function == *wait)
}

fn part(call: &str, calls: &str, innermost: &str) -> Option<HostPart> {
    let is_of = |package: &&str| {
        call.strip_prefix(*package).is_some_and(|rest| rest.starts_with('.'))
            || calls.strip_prefix(*package).is_some_and(|rest| rest.starts_with('/'))
    };
    let compiles = COMPILING_IN.iter().any(|inside| innermost.contains(inside));
    match () {
        () if compiles => None,
        () if JOINING.contains(&call) => Some(HostPart::Joining),
        () if CONVERTING.contains(&call) || CONVERTING_IN.iter().any(|inside| calls.contains(inside)) => {
            Some(HostPart::Converting)
        }
        // A method of an array of the host: of one of the device it would be in JAX's own files.
        () if call.ends_with(".astype") && calls.is_empty() => Some(HostPart::Converting),
        () if WRITING.contains(&call) || WRITING_IN.iter().any(|inside| calls.contains(inside)) => {
            Some(HostPart::Writing)
        }
        () if DRAWING_IN.iter().any(|inside| calls.contains(inside)) => Some(HostPart::Drawing),
        () if matches!(call, "copy.deepcopy" | "deepcopy") || calls.ends_with("copy.py:deepcopy") => {
            Some(HostPart::Copying)
        }
        () if READING.contains(&call) || READING_IN.iter().any(|inside| calls.contains(inside)) => {
            Some(HostPart::Reading)
        }
        () if WAITING_IN.iter().any(|inside| innermost.contains(inside)) => Some(HostPart::Waiting),
        () if FETCHING.contains(&call) => None,
        () if COMPUTING.iter().any(is_of) => Some(HostPart::Computing),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_for_a_device_is_known_by_its_name() {
        assert!(is_wait("loss.block_until_ready", "") && is_wait("jax.device_get", "jax/_src/api.py:device_get"));
        assert!(is_wait("train", "jax/_src/api.py:block_until_ready") && !is_wait("np.save", "") && !is_wait("", ""));
    }

    #[test]
    fn calls_say_what_the_host_does() {
        for (call, calls, innermost, expected) in [
            ("np.percentile", "numpy/lib/f.py:percentile", "numpy/lib/f.py:_quantile", Some(HostPart::Computing)),
            ("numpy.concatenate", "", "", Some(HostPart::Joining)),
            (
                "pending.result",
                "concurrent/futures/_base.py:Future.result",
                "threading.py:Condition.wait",
                Some(HostPart::Waiting),
            ),
            ("numpy.asarray", "", "", None),
            ("jnp.asarray", "jax/_src/numpy/array_constructors.py:asarray", "jax/_src/compiler.py:compile", None),
            (
                "jax.device_put",
                "jax/_src/api.py:device_put",
                "jax/_src/interpreters/pxla.py:batched_device_put",
                Some(HostPart::Converting),
            ),
            ("self.matrix.astype", "", "", Some(HostPart::Converting)),
            ("x.astype", "jax/_src/numpy/array_methods.py:_astype", "", None),
            ("np.load", "numpy/lib/_npyio_impl.py:load", "", Some(HostPart::Reading)),
            ("time.sleep", "", "", Some(HostPart::Reading)),
            ("torch.save", "torch/serialization.py:save", "torch/serialization.py:_save", Some(HostPart::Writing)),
            ("partial.replace", "3.11.7/lib/python3.11/pathlib.py:Path.replace", "", Some(HostPart::Writing)),
            ("text.replace", "", "", None),
            ("plt.savefig", "matplotlib/pyplot.py:savefig", "", Some(HostPart::Drawing)),
            ("copy.deepcopy", "lib/python3.11/copy.py:deepcopy", "", Some(HostPart::Copying)),
            ("step", "", "", None),
            ("", "", "", None),
        ] {
            assert_eq!(part(&with_package(call), calls, innermost), expected, "{call}");
        }
    }
}
