//! Arrays are converted and moved to the device again and again.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::parts::HostPart;
use crate::places::Seen;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::{Need, PythonLooks};
use ridge_table::{Basis, Quantity, Unit};

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
    let found: Vec<Finding> = found.into_iter().collect();
    Ok(if found.is_empty() { timed(case).into_iter().collect() } else { found })
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
