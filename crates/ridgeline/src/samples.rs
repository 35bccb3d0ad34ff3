//! Where the program's Python stood: what the recorder sampled, put beside the trace and on its clock.

use crate::note::{Note, Severity};
use ridge_documents::{SampledFrame, Samples, Stretch};
use ridge_import::Imported;
use ridge_trace::{
    ClearedGradients, Conversions, Padding, RecomputedValue, RepeatedCalls, RestartedWorkers, SteadyArguments,
    UnreadGradients, Watched, ZeroMatrix,
};
use ridge_trace::{NONE, PythonPlace, PythonStack, PythonThread, StringId, Trace};
use std::fs::{File, read_dir};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Files that are read: one for each process of a recording.
const MOST_FILES: usize = 256;
/// Looks of one process that are kept: 2 hours of a thousand a second.
const MOST_LOOKS: usize = 1 << 23;

/// Reads what was sampled in the recording at `folder` into the trace of `imported`; what cannot be used is said.
pub(crate) fn add(folder: &Path, imported: &mut Imported, notes: &mut Vec<Note>) {
    // Without it nothing says when a look was.
    let Some(zero) = imported.captures.iter().find_map(|capture| capture.unix_zero_ns) else { return };
    for path in files(folder) {
        match read(&path) {
            Ok(samples) => {
                if samples.damaged > 0 {
                    let message = format!("{} lines of samples of Python are damaged and left out", samples.damaged);
                    notes.push(note(message, &path));
                }
                put(&mut imported.trace, &samples, zero);
            }
            Err(why) => notes.push(note(format!("samples of Python cannot be used: {why}"), &path)),
        }
    }
}

fn note(message: String, path: &Path) -> Note {
    Note { severity: Severity::Partial, message, file: Some(path.display().to_string()), offset: None, count: 1 }
}

/// The files of samples, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = read_dir(folder.join("samples")) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    files.sort();
    files.truncate(MOST_FILES);
    files
}

fn read(path: &Path) -> Result<Samples, String> {
    let mut text = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(Samples::MAX_BYTES + 1).read_to_end(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > Samples::MAX_BYTES {
        return Err("the file is too large".to_owned());
    }
    Samples::read(&text).map_err(|error| error.to_string())
}

fn place_of(frame: &SampledFrame, id: &mut impl FnMut(&str) -> StringId) -> PythonPlace {
    PythonPlace {
        file: id(&frame.0),
        line: frame.1,
        function: id(&frame.2),
        call: id(&frame.3),
        over: id(&frame.4),
        is_apart: frame.5,
        loops: frame.6,
    }
}

/// Puts `samples` beside `trace`, whose clock began at `zero`: Unix time, nanoseconds.
fn put(trace: &mut Trace, samples: &Samples, zero: u64) {
    let processes = processes(trace, samples);
    if processes.is_empty() {
        return;
    }
    let (first_place, first_stack) = (trace.python.places.len() as u32, trace.python.stacks.len() as u32);
    for frame in &samples.frames {
        let mut id = |text: &str| trace.strings.intern(text);
        let place = place_of(frame, &mut id);
        trace.python.places.push(place);
    }
    let known = samples.frames.len() as u32;
    for stack in &samples.stacks {
        let mut id = |text: &Option<String>| text.as_deref().map_or(StringId(0), |text| trace.strings.intern(text));
        let (calls, innermost) = (id(&stack.calls), id(&stack.innermost));
        let places = stack.frames.iter().filter(|frame| **frame < known).map(|frame| first_place + frame).collect();
        trace.python.stacks.push(PythonStack { places, calls, innermost });
    }
    let usable: Vec<bool> = trace.python.stacks.iter().map(|stack| !stack.places.is_empty()).collect();
    let row = |stack: u32| {
        let row = first_stack.checked_add(stack).unwrap_or(NONE);
        usable.get(row as usize).copied().unwrap_or(false).then_some(row)
    };
    if let Some((process, _)) = processes.first() {
        let watched = watched(trace, samples, *process);
        trace.python.watched.extend(watched);
    }
    for (process, span) in processes {
        for thread in &samples.threads {
            let looks = thread.samples.iter().filter_map(|stretch| Some((stretch, row(stretch.2)?)));
            let looks = looks.flat_map(|(stretch, row)| looks_of(*stretch, zero).map(move |at| (at, row)));
            // Those after a window tell where the program goes on; what came before it may be its start.
            let mut looks: Vec<(i64, u32)> = looks.filter(|(at, _)| span.0 <= *at).take(MOST_LOOKS).collect();
            looks.sort_unstable();
            let (at_ns, stack) = looks.into_iter().unzip();
            let (native_id, is_main) = (thread.id, thread.main);
            trace.python.threads.push(PythonThread { process, native_id, is_main, at_ns, stack });
        }
    }
}

/// What was watched, where it was anything.
fn watched(trace: &mut Trace, samples: &Samples, process: u32) -> Option<Watched> {
    let said = &samples.watched;
    if *said == ridge_documents::Watched::default() {
        return None;
    }
    let mut place = |frame: &SampledFrame| place_of(frame, &mut |text| trace.strings.intern(text));
    let repeated = said.repeated.iter().map(|calls| RepeatedCalls {
        module: calls.module.clone(),
        calls: calls.calls,
        again: calls.again.min(calls.calls),
        place: calls.frame.as_ref().map(&mut place),
    });
    let repeated = repeated.collect();
    let padding = said.padding.as_ref().map(|padding| Padding {
        share: padding.share.clamp(0.0, 1.0),
        beyond_longest: padding.beyond_longest.clamp(0.0, 1.0),
        looks: padding.looks,
        function: padding.function.clone(),
        extent: padding.extent,
        place: padding.frame.as_ref().map(&mut place),
    });
    let unread_gradients = said.unread_gradients.as_ref().map(|gradients| UnreadGradients {
        numbers: gradients.numbers.min(gradients.of),
        of: gradients.of,
        arrays: gradients.arrays,
        names: gradients.names.clone(),
    });
    let cleared_gradients = said.cleared_gradients.iter().map(|cleared| ClearedGradients {
        optimizer: cleared.optimizer.clone(),
        numbers: cleared.numbers,
        times: cleared.times.min(cleared.of),
        of: cleared.of,
        place: cleared.frame.as_ref().map(&mut place),
    });
    let cleared_gradients = cleared_gradients.collect();
    let restarted_workers = said.restarted_workers.iter().map(|loader| RestartedWorkers {
        workers: loader.workers,
        passes: loader.passes,
        place: loader.frame.as_ref().map(&mut place),
    });
    let restarted_workers = restarted_workers.collect();
    let steady = said.steady.iter().map(|steady| SteadyArguments {
        function: steady.function.clone(),
        arguments: steady.arguments.clone(),
        looks: steady.looks,
        changing: steady.changing.clone(),
    });
    let steady = steady.collect();
    let zeros = said.zeros.iter().map(|matrix| ZeroMatrix {
        place: matrix.frame.as_ref().map(&mut place),
        name: matrix.name.clone(),
        extents: matrix.extents.clone(),
        zeros: matrix.zeros.clamp(0.0, 1.0),
        most_in_row: matrix.most_in_row,
        looks: matrix.looks,
    });
    let zeros = zeros.collect();
    let conversions = said.conversions.iter().map(|conversions| Conversions {
        of: conversions.of.clone(),
        calls: conversions.calls,
        part: conversions.part.clamp(0.0, 1.0),
        place: conversions.frame.as_ref().map(&mut place),
    });
    let conversions = conversions.collect();
    let recomputed = said.recomputed.iter().map(|value| RecomputedValue {
        place: value.frame.as_ref().map(&mut place),
        until: value.until,
        name: value.name.clone(),
        extents: value.extents.clone(),
        again: value.again,
    });
    let recomputed = recomputed.collect();
    Some(Watched {
        process,
        conversions,
        recomputed,
        repeated,
        padding,
        unread_gradients,
        cleared_gradients,
        restarted_workers,
        steady,
        zeros,
    })
}

/// The process, or each window of it, with the time that the trace has of it; where nothing tells, the only one there is.
fn processes(trace: &Trace, samples: &Samples) -> Vec<(u32, (i64, i64))> {
    let with_span = |process: u32| Some((process, trace.process_span_ns(process)?));
    let all = || (0..).zip(&trace.processes);
    let named: Vec<u32> =
        all().filter(|(_, process)| process.pid.is_some() && process.pid == samples.pid).map(|(row, _)| row).collect();
    let only = || all().filter(|(_, process)| process.pid.is_none()).map(|(row, _)| row).take(2);
    match (named.is_empty(), only().count()) {
        (false, _) => named.into_iter().filter_map(with_span).collect(),
        (true, 1) => only().filter_map(with_span).collect(),
        (true, _) => Vec::new(),
    }
}

/// When the looks of a stretch were: the first and the last are known, the others lie evenly between.
fn looks_of(stretch: Stretch, zero: u64) -> impl Iterator<Item = i64> {
    let Stretch(first, later, _, count) = stretch;
    let count = i64::from(count.max(1)).min(MOST_LOOKS as i64);
    let first = first.saturating_sub_unsigned(zero);
    (0..count).map(move |at| {
        first.saturating_add((i128::from(later) * i128::from(at) / i128::from((count - 1).max(1))) as i64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_on_the_clock_of_the_trace_and_those_before_it_are_left_out() {
        let mut trace = ridge_test::trace("thread python\n 0 +100 step\nstream 1 on gpu\n 20 +10 a");
        let text = r#"{"schema":"ridgeline.samples.v1","pid":7}
{"frames":[["/x/a.py",3,"f","numpy.sort"]],"stacks":[{"frames":[0]},{"frames":[9]}],"threads":[{"id":1,"main":true,"samples":[[1000,40,0,3],[1090,0,1,1],[1200,0,0,1]]}]}"#;
        let samples = Samples::read(text.as_bytes()).expect("samples");
        put(&mut trace, &samples, 1000);
        let thread = &trace.python.threads[0];
        assert_eq!((thread.at_ns.as_slice(), thread.stack.as_slice()), (&[0, 20, 40, 200][..], &[0, 0, 0, 0][..]));
        assert_eq!(trace.strings.get(trace.python.places[0].call), "numpy.sort");
    }
}
