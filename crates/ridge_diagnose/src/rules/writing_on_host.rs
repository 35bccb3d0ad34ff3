//! The device waits while the host writes files, draws figures or copies objects.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::parts::HostPart;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
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
    why: &'static str,
    help: &'static str,
}

const WORDS: [Words; 3] = [
    Words {
        part: HostPart::Writing,
        does: "writes files",
        why: "fetching, packing and writing the state takes longer than a step, and the host launches nothing in that time",
        help: "write checkpoints and logs only every N steps or minutes, and in another thread (`orbax.checkpoint.AsyncCheckpointer`, `torch.distributed.checkpoint.async_save`); collect numbers and write them once",
    },
    Words {
        part: HostPart::Drawing,
        does: "draws figures",
        why: "a figure takes tens to hundreds of milliseconds of Python time, and the host launches nothing in that time",
        help: "draw from stored values after the loop or every N steps, or draw in another process",
    },
    Words {
        part: HostPart::Copying,
        does: "copies Python objects (`copy.deepcopy`)",
        why: "a deep copy visits every object and copies every array, and the host launches nothing in that time",
        help: "keep references: JAX arrays are immutable, so `best = params` is enough; in PyTorch, clone only the tensors you need, and only when they improve",
    },
];

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let of_part = |words: &Words| {
        let message = |share| format!("the device waits {} of the time while the host {}", percent(share), words.does);
        Some(case.finding_of_part(words.part, message)?.why(words.why).help(words.help))
    };
    Ok(WORDS.iter().filter_map(of_part).collect())
}
