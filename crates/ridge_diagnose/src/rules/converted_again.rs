//! Arrays are converted and moved to the device again and again.

use crate::arguments::name_of;
use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::parts::HostPart;
use crate::places::Seen;
use crate::programs::{Program, programs};
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Need, PythonLooks};
use ridge_hlo::InstructionId;
use ridge_table::{Basis, Quantity, Subject, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "converted-again",
    group: Group::Host,
    summary: "Arrays converted and copied to the device every step",
    document: include_str!("converted_again.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &["host-pause", "blocking-call"],
    needs: &[Need::of::<PythonLooks>()],
    find: Find::Causes(find),
};

/// The least part of the time.
const LEAST_TIMED: f64 = 0.10;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let (lists, is_torch) = (case.walks_lists(), case.framework() == Framework::Torch);
    let message = |share: f64, _: &Seen<'_>| match lists {
        true => format!("the device waits {} of the time while the host converts Python lists to arrays, number by number", percent(share)),
        false if is_torch => format!("the device waits {} of the time while `torch.tensor` and its like copy NumPy arrays or lists of them; `np.stack` and `torch.from_numpy` would be faster", percent(share)),
        false => format!("the device waits {} of the time while the host converts arrays and moves them to the device", percent(share)),
    };
    let found = case.finding_of_part(HostPart::Converting, message).map(|finding| match lists {
        true => finding
            .why("each number in a Python list is a separate object with its own type check and copy")
            .help("keep the data in NumPy arrays from the moment it is read, and slice batches from them; an array is copied in one piece"),
        false if is_torch => finding
            .why("`torch.tensor` copies every array passed to it, and converts a list of arrays number by number")
            .help("`np.stack` a list of arrays first and share its memory with `torch.from_numpy`; convert constant data once, before the loop"),
        false => finding
            .why("a NumPy array is converted and copied to the device every time it is passed, though constant data needs that only once")
            .help("convert constant data once, before the loop, to the type that the step uses, and pass the device array"),
    });
    Ok(copied(case).or(found).or_else(|| timed(case)).into_iter().collect())
}

/// What XLA calls the copy of an argument in the host's memory to the device.
const COPY: &str = "H2D Dispatch";
/// The least part of the time that such copies take, and how many there are at least.
const LEAST_COPIED: f64 = 0.20;
const FEWEST: usize = 8;
/// Bytes of an argument that takes long to copy.
const LARGE: u64 = 1 << 20;

/// Arguments of compiled functions that are copied to the device for each call: the call keeps looks at Python away.
fn copied(case: &Case<'_>) -> Option<Finding> {
    let waits: Vec<_> = case.idle().filter(|idle| idle.name == Some(COPY)).collect();
    let ns = waits.iter().fold(0_i64, |sum, idle| sum.saturating_add(idle.row.ns));
    let copies = case.host_rows(|_, name| name == COPY).len();
    if case.framework() != Framework::Jax || case.share(ns) < LEAST_COPIED || copies < FEWEST {
        return None;
    }
    let (program, arguments, bytes) = largest_arguments(case)?;
    let (function, names) = (program.function(case), list(&arguments, 2));
    let place = case.line_of_calls(function);
    let message = format!(
        "the device waits {} of the time while NumPy arrays passed to `{function}` (its largest {}: {names}) are copied to the device; `jnp.asarray` or `jax.device_put` before the loop does it once",
        percent(case.share(ns)),
        if arguments.len() == 1 { "argument" } else { "arguments" },
    );
    Some(
        Finding::new(message)
            .at(place)
            .about(Subject::Module(program.row))
            .number("copies of arguments", Quantity::new(copies as f64, Unit::Count, Basis::Counted))
            .number("bytes of these arguments", Quantity::new(bytes as f64, Unit::Bytes, Basis::Counted))
            .fact("which argument is a NumPy array isn't recorded")
            .why("a compiled function copies every NumPy argument to the device in each call, though constant data needs that only once")
            .help("put constant data on the device once, `data = jax.device_put(data)`, and index it there; for new batches, pass only the batch and copy the next one while the step runs")
            .claims(waits.iter().map(|idle| (idle.at, 1.0))),
    )
}

/// The program that runs often with the largest arguments, their names, and their bytes.
fn largest_arguments<'a>(case: &Case<'a>) -> Option<(Program<'a>, Vec<String>, u64)> {
    let of_program = |program: Program<'a>| {
        let module = program.module;
        let all = module.computation(module.entry?).instruction_ids();
        let size = |id: &InstructionId| module.instruction(*id).shape.byte_size().unwrap_or(0);
        let is_large = |id: &InstructionId| module.instruction(*id).opcode == "parameter" && size(id) >= LARGE;
        let mut large: Vec<InstructionId> = all.filter(is_large).collect();
        large.sort_by_key(|id| std::cmp::Reverse(size(id)));
        let most = size(large.first()?);
        large.retain(|id| size(id) * 8 >= most);
        let bytes = large.iter().map(size).sum();
        let names = large.iter().map(|id| name_of(module, *id)).collect();
        Some((program, names, bytes))
    };
    let often = programs(case).into_iter().filter(|program| program.runs() >= FEWEST as u64);
    often.filter_map(of_program).max_by_key(|(_, _, bytes)| *bytes)
}

/// Conversions that the recorder timed, because they keep looks away.
fn timed(case: &Case<'_>) -> Option<Finding> {
    let all = case.watched().iter().flat_map(|watched| &watched.conversions);
    let longest = all.max_by(|a, b| a.part.total_cmp(&b.part)).filter(|longest| longest.part >= LEAST_TIMED)?;
    let claim = case.claim_of_all(longest.part);
    let message = format!(
        "{} of the time goes to {}, element by element; `np.stack` and `torch.from_numpy` would be faster",
        percent(longest.part),
        longest.of,
    );
    let finding = Finding::new(message)
        .at(longest.place.as_ref().map(|place| case.place_of_python(place)))
        .number("conversions, timed by the recorder", Quantity::new(longest.calls as f64, Unit::Count, Basis::Counted))
        .why("`torch.tensor` converts a list or tuple through Python's sequence protocol, number by number")
        .help("`np.stack` a list of arrays first and share its memory with `torch.from_numpy`; keep the data in arrays of the full size from the start (a ring buffer), and index them")
        .claims(claim);
    let finding = finding.priced(longest.part * 0.7, longest.part);
    // Numbers that Python has one by one must become an array somewhere.
    let is_of_numbers = longest.of.ends_with("ints") || longest.of.ends_with("floats") || longest.of.ends_with("bools");
    Some(if is_of_numbers { finding.information() } else { finding })
}
