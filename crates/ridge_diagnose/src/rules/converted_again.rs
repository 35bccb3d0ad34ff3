//! Arrays are converted and moved to the device again and again.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::parts::HostPart;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::{Need, PythonLooks};

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

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let (lists, is_torch) = (case.walks_lists(), case.framework() == Framework::Torch);
    let message = |share: f64| match lists {
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
    Ok(found.into_iter().collect())
}
