//! The device waits while the host writes files, draws figures or copies objects.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::parts::HostPart;
use crate::places::Seen;
use crate::rule::{Find, Group, Rule};
use crate::words::{percent, short};
use ridge_analysis::{Need, PythonLooks};

pub(crate) static RULE: Rule = Rule {
    id: "writing-on-host",
    group: Group::Host,
    summary: "Device waits while the program writes files, draws figures or copies objects",
    document: include_str!("writing_on_host.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &["host-pause", "blocking-call", "host-bound-dispatch"],
    needs: &[Need::of::<PythonLooks>()],
    find: Find::Causes(find),
};

/// What is said of one part of the host's time.
struct Words {
    part: HostPart,
    does: &'static str,
    instead: &'static str,
    why: &'static str,
    help: &'static str,
}

const WORDS: [Words; 3] = [
    Words {
        part: HostPart::Writing,
        does: "writes files",
        instead: "checkpoints and logs every N steps, or in another thread,",
        why: "fetching, packing and writing the state takes longer than a step, and the host launches nothing in that time",
        help: "write checkpoints and logs only every N steps or minutes, and in another thread (`orbax.checkpoint.AsyncCheckpointer`, `torch.distributed.checkpoint.async_save`); collect numbers and write them once",
    },
    Words {
        part: HostPart::Drawing,
        does: "draws figures",
        instead: "a figure every N steps, or after the loop,",
        why: "a figure takes tens to hundreds of milliseconds of Python time, and the host launches nothing in that time",
        help: "draw from stored values after the loop or every N steps, or draw in another process",
    },
    Words {
        part: HostPart::Copying,
        does: "copies Python objects (`copy.deepcopy`)",
        instead: "a reference",
        why: "a deep copy visits every object and copies every array, and the host launches nothing in that time",
        help: "keep references: JAX arrays are immutable, so `best = params` is enough; in PyTorch, clone only the tensors you need, and only when they improve",
    },
];

/// Functions that write numbers as text.
const AS_TEXT: [&str; 4] = ["savetxt", "to_csv", "json/encoder", "csv.py"];
const TEXT_WHY: &str = "each number is formatted as text in Python, which takes many times as long as writing its bytes";
const TEXT_HELP: &str = "write arrays in binary form: `np.save`, one `np.memmap` or HDF5 file for all frames; write fewer of them, or in another thread";

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let of_part = |words: &Words| {
        let message = |share, seen: &Seen<'_>| {
            let is_said = seen.call.is_empty() || words.does.contains(seen.call);
            let call = if is_said { String::new() } else { format!(" (`{}`)", short(seen.call)) };
            format!("the device waits {} of the time while the host {}{call}; {} would suffice", percent(share), words.does, words.instead)
        };
        let is_text = case.is_often_in(words.part, &AS_TEXT);
        let (why, help) = if is_text { (TEXT_WHY, TEXT_HELP) } else { (words.why, words.help) };
        Some(case.finding_of_part(words.part, message)?.why(why).help(help))
    };
    Ok(WORDS.iter().filter_map(of_part).collect())
}
