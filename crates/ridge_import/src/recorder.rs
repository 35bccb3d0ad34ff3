//! What the recorder did inside the program, by the names that profilers give to its functions.
//!
//! PyTorch's profiler writes the path of a function's file, in which the harness's folder is. XLA's writes the file's name
//! alone, and other programs may have a `session.py`: only in a capture that the harness stopped are such names its own.

use ridge_trace::{RecorderNames, StringId, Strings};
use rustc_hash::FxHashSet;

/// The folder that the recorder puts its harness in.
const FOLDER: &str = "_ridgeline_harness/";
/// How the harness calls ranges around what it does.
const RANGE: &str = "ridgeline: ";
/// The functions that stop a capture, one of which is open when it ends.
const STOPS: [&str; 2] = ["_stop_for_bytes", "_stop_through_folder"];

/// The functions that the harness's own threads run: between their looks they wait, and hold nobody up.
const LOOPS: [&str; 2] = ["_tick_until_over", "_look_until_over"];

/// The harness's files, but for those that stand around what the program calls: that is the program's time.
const FILES: [(&str, &str); 17] = [
    ("annotations.py", include_str!("../../../python/ridgeline/annotations.py")),
    ("environment.py", include_str!("../../../python/ridgeline/environment.py")),
    ("jax_tracer.py", include_str!("../../../python/ridgeline/jax_tracer.py")),
    ("limits.py", include_str!("../../../python/ridgeline/limits.py")),
    ("manifest.py", include_str!("../../../python/ridgeline/manifest.py")),
    ("memory.py", include_str!("../../../python/ridgeline/memory.py")),
    ("module_files.py", include_str!("../../../python/ridgeline/module_files.py")),
    ("profiler.py", include_str!("../../../python/ridgeline/profiler.py")),
    ("safely.py", include_str!("../../../python/ridgeline/safely.py")),
    ("samples.py", include_str!("../../../python/ridgeline/samples.py")),
    ("schedule.py", include_str!("../../../python/ridgeline/schedule.py")),
    ("session.py", include_str!("../../../python/ridgeline/session.py")),
    ("sizes.py", include_str!("../../../python/ridgeline/sizes.py")),
    ("sources.py", include_str!("../../../python/ridgeline/sources.py")),
    ("torch_memory.py", include_str!("../../../python/ridgeline/torch_memory.py")),
    ("torch_tracer.py", include_str!("../../../python/ridgeline/torch_tracer.py")),
    ("xplane.py", include_str!("../../../python/ridgeline/xplane.py")),
];

/// The names among `strings` of what the recorder did, with all that happened inside of it, and of its own threads.
pub(crate) fn names(strings: &Strings) -> RecorderNames {
    let is_harness =
        strings.iter().filter_map(of_xla).any(|(file, function)| file == "profiler.py" && STOPS.contains(&function));
    let functions = if is_harness { functions() } else { FxHashSet::default() };
    let is_ours = |name: &str| {
        name.starts_with(RANGE)
            || of_xla(name).is_some_and(|place| functions.contains(&place))
            || name.split_once(FOLDER).is_some_and(|(_, inside)| FILES.iter().any(|(file, _)| inside.starts_with(file)))
    };
    let ours = (0..).zip(strings.iter()).filter(|(_, name)| is_ours(name)).map(|(id, _)| StringId(id));
    let (threads, work) =
        ours.partition(|id| strings.get(*id).ends_with(LOOPS[0]) || strings.get(*id).ends_with(LOOPS[1]));
    RecorderNames { work, threads }
}

/// The file and the function of a frame that XLA's tracer named: `$session.py:351 _tick_until_over`.
fn of_xla(name: &str) -> Option<(&str, &str)> {
    let (place, function) = name.strip_prefix('$')?.split_once(' ')?;
    Some((place.rsplit_once(':')?.0, function))
}

/// The files and functions of the harness, but for those that any class has.
fn functions() -> FxHashSet<(&'static str, &'static str)> {
    let defined = |line: &'static str| line.trim_start().strip_prefix("def ")?.split_once('(').map(|(name, _)| name);
    let named = |text: &'static str| text.lines().filter_map(defined).filter(|name| !name.starts_with("__"));
    FILES.iter().flat_map(|(file, text)| named(text).map(|name| (*file, name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], threads: &[&str], work: &[&str]) {
        let mut strings = Strings::default();
        names.iter().for_each(|name| _ = strings.intern(name));
        let found = super::names(&strings);
        let texts = |ids: &[StringId]| ids.iter().map(|id| strings.get(*id)).collect::<Vec<&str>>();
        assert_eq!((texts(&found.threads), texts(&found.work)), (threads.to_vec(), work.to_vec()));
    }

    #[test]
    fn frames_of_the_harness_are_told_from_others_of_their_names() {
        let frames = [
            "$session.py:9 _tick_until_over",
            "$session.py:3 __init__",
            "$session.py:12 predict",
            "$profiler.py:506 trace",
            "$train.py:1 run",
        ];
        check(&frames, &[], &[]);
        check(
            &[&frames[..], &["$profiler.py:69 _stop_for_bytes"]].concat(),
            &["$session.py:9 _tick_until_over"],
            &["$profiler.py:69 _stop_for_bytes"],
        );
    }

    #[test]
    fn paths_and_ranges_say_it_themselves() {
        check(
            &[
                "/tmp/x/_ridgeline_harness/session.py(351): _tick_until_over",
                "/tmp/x/_ridgeline_harness/session.py(180): _entered",
                "/tmp/x/_ridgeline_harness/step_function.py(9): wrapper",
                "ridgeline: collect module",
                "session.py(351): _tick_until_over",
            ],
            &["/tmp/x/_ridgeline_harness/session.py(351): _tick_until_over"],
            &["/tmp/x/_ridgeline_harness/session.py(180): _entered", "ridgeline: collect module"],
        );
    }
}
