//! The device waits while the program reads files or sleeps.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::parts::{HostPart, UNPACKING_IN};
use crate::places::Seen;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::{Need, PythonLooks};

pub(crate) static RULE: Rule = Rule {
    id: "reading-on-host",
    group: Group::Host,
    summary: "Device waits while the program reads or sleeps",
    document: include_str!("reading_on_host.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &["host-pause", "blocking-call"],
    needs: &[Need::of::<PythonLooks>()],
    find: Find::Causes(find),
};

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let unpacks = case.is_often_in(HostPart::Reading, &UNPACKING_IN);
    let does = if unpacks { "reads and decompresses files" } else { "reads or sleeps" };
    Ok(case
        .finding_of_part(
            HostPart::Reading,
            |share, _| format!("the device waits {} of the time while the program {does}", percent(share)),
        )
        .map(|finding| {
            finding
                .why("the thread that launches device work also waits for input data, so host and device take turns")
                .help(if unpacks {
                    "read each array once and keep it in memory: an `.npz` archive of `numpy.load` reads and decompresses an array again each time it is indexed, so take `data = dict(numpy.load(path))` before the loop; store what is too large uncompressed (`numpy.save`, `mmap_mode=\"r\"`)"
                } else {
                    "prefetch: read the next piece in a thread or a prefetching loader while the device works on the current one"
                })
        })
        .into_iter()
        .chain(waits_for_thread(case))
        .collect())
}

/// What the other thread does is not looked at: it may be all that can be done.
fn waits_for_thread(case: &Case<'_>) -> Option<Finding> {
    let message = |share: f64, _: &Seen<'_>| format!("the device waits {} of the time while the program waits for another of its threads", percent(share));
    let finding = case.finding_of_part(HostPart::Waiting, message)?;
    Some(
        finding
            .why("a thread that prepares the next input is slower than the device")
            .help("find out what that thread waits for: if it computes in Python, use processes, because threads of Python take turns; if it reads, read larger pieces, or several at once")
            .unknown_amount()
            .information(),
    )
}
