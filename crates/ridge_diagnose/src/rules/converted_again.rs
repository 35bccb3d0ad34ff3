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
        false if is_torch => format!("the device waits {} of the time while the host converts NumPy arrays to tensors", percent(share)),
        false => format!("the device waits {} of the time while the host converts arrays and moves them to the device", percent(share)),
    };
    let found = case.finding_of_part(HostPart::Converting, message).map(|finding| match lists {
        true => finding
            .why("each number of a list is a Python object, with its own type check and copy")
            .help("keep the data in NumPy arrays from where it is read, and cut batches out of those; an array is copied in one piece"),
        false if is_torch => finding
            .why("`torch.tensor` copies each array that it is given, and takes a list of arrays number by number")
            .help("`np.stack` a list of arrays first and share its memory with `torch.from_numpy`; convert what does not change once, before the loop"),
        false => finding
            .why("an array of NumPy is copied to the device, and to its type, each time that it is passed; one that does not change has to be only once")
            .help("convert what does not change once, before the loop, to the type that the step uses, and pass the array of the device"),
    });
    Ok(found.into_iter().collect())
}
