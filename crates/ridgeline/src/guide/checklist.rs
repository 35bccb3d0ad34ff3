//! The checklist of a profiling session: fifteen questions, each answered by what the rules found, or by the command that would
//! answer it.
//!
//! No question has a judgment of its own. It is answered by rules of `check`: what they found is what to mend, and where they
//! could judge and found nothing, that is the answer.

use super::commands::Commands;
use crate::check::Check;
use crate::note::Note;
use crate::session::Session;
use ridge_analysis::Limit;
use ridge_diagnose::{CannotTell, Finding, Level, Selection, State};
use ridge_trace::{Device, EventKind};
use ridge_units::Share;

/// From this part of the time on a device counts as busy.
const BUSY: f64 = 0.8;

/// What a capture must have for a question to be about anything in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// Any program.
    Program,
    /// Copies between memories.
    Copies,
    /// A device that is no processor.
    Gpu,
    /// The limits of a device.
    Roof,
    /// What an allocator did.
    Memory,
    /// Collective operations.
    Collectives,
}

impl About {
    /// Why the capture of `session` has nothing of it; `None` where it has.
    fn lacking(self, session: &Session) -> Option<&'static str> {
        let trace = session.trace();
        let (lacks, why) = match self {
            About::Program => (false, ""),
            About::Copies => {
                let has_copy = trace.events.kind.iter().any(|kind| EventKind::from_byte(*kind).is_copy());
                (!has_copy, "the capture has no copies between host and device")
            }
            About::Gpu => {
                (trace.devices.iter().all(Device::is_processor), "the capture has no device other than the CPU")
            }
            About::Roof => {
                let is_known = session
                    .with_analysis(|analysis| analysis.ceilings.iter().any(|known| known.get(Limit::Memory).is_some()));
                (!is_known, "the limits of the device are unknown")
            }
            About::Memory => {
                let is_empty = trace.allocations.time_ns.is_empty() && trace.memory.blocks.is_empty();
                (is_empty, "the capture has no allocations")
            }
            About::Collectives => (trace.collectives.is_empty(), "the capture has no collective operations"),
        };
        lacks.then_some(why)
    }
}

/// A question, and what answers it.
struct Asked {
    about: About,
    section: &'static str,
    question: &'static str,
    /// Rules whose findings are the answer *no*; nothing found by those that could judge is *yes*.
    rules: &'static [&'static str],
    /// The command that shows more, and how it goes on behind the path.
    show: (&'static str, &'static str),
    /// Options of `record` with which it can be answered.
    record: &'static str,
}

/// The questions, in the order in which a session asks them.
const QUESTIONS: [Asked; 15] = [
    Asked {
        about: About::Program,
        section: "data and host",
        question: "does the device never wait for input data",
        rules: &["data-loading"],
        show: ("idle", ""),
        record: "",
    },
    Asked {
        about: About::Program,
        section: "data and host",
        question: "is preprocessing on the CPU out of the way of the device",
        rules: &[
            "host-between-steps",
            "host-pause",
            "host-callback",
            "converted-again",
            "grown-on-host",
            "writing-on-host",
        ],
        show: ("idle", ""),
        record: "",
    },
    Asked {
        about: About::Copies,
        section: "data and host",
        question: "are copies from the host pinned",
        rules: &["pageable-copy", "slow-copy"],
        show: ("transfers", ""),
        record: "--with nsys",
    },
    Asked {
        about: About::Copies,
        section: "data and host",
        question: "is data copied only if necessary, in few large copies, overlapping work",
        rules: &[
            "copies-dwarf-work",
            "copies-in-loop",
            "many-small-copies",
            "sync-copy",
            "results-on-host",
            "reading-on-host",
        ],
        show: ("transfers", ""),
        record: "",
    },
    Asked {
        about: About::Program,
        section: "device",
        question: "is the device busy",
        rules: &["host-bound-dispatch", "blocking-call", "unexplained-wait", "setup-not-work"],
        show: ("idle", ""),
        record: "",
    },
    Asked {
        about: About::Program,
        section: "device",
        question: "is the program compiled, and not launched operation by operation",
        rules: &[
            "python-loop-of-eager-ops",
            "small-programs-in-loop",
            "many-small-kernels",
            "dataparallel-used",
            "decode-without-graphs",
        ],
        show: ("stats", "--by launch"),
        record: "",
    },
    Asked {
        about: About::Program,
        section: "device",
        question: "is nothing compiled again in the steady state",
        rules: &["recompilation", "compile-in-window", "module-load-late", "late-warmup"],
        show: ("stats", "--by compilation"),
        record: "",
    },
    Asked {
        about: About::Gpu,
        section: "device",
        question: "do kernels fill the device: batch and shapes are large enough",
        rules: &["small-grid", "low-occupancy", "small-decode-batch", "serial-while-small-body", "padding-waste"],
        show: ("stats", "--by kernel"),
        record: "",
    },
    Asked {
        about: About::Gpu,
        section: "device",
        question: "is the precision as low as it may be, and tensor cores are used",
        rules: &["fp64-used", "tf32-off", "tensor-cores-idle", "dtype-round-trips"],
        show: ("roofline", ""),
        record: "",
    },
    Asked {
        about: About::Roof,
        section: "device",
        question: "are the longest operations near their roof",
        rules: &[
            "below-roof",
            "kernel-hotspot",
            "gather-scatter-bound",
            "narrow-reduction",
            "unfused-attention",
            "cheaper-form",
        ],
        show: ("roofline", ""),
        record: "",
    },
    Asked {
        about: About::Memory,
        section: "memory",
        question: "is there room in device memory",
        rules: &["near-memory-limit", "out-of-memory", "held-unused", "fragmentation"],
        show: ("memory", ""),
        record: "",
    },
    Asked {
        about: About::Program,
        section: "memory",
        question: "does memory stay the same from step to step, with buffers reused",
        rules: &["memory-growth", "missed-donation", "defensive-copies", "alloc-storm"],
        show: ("memory", ""),
        record: "",
    },
    Asked {
        about: About::Program,
        section: "memory",
        question: "is memory read along its layout, without copies between layouts",
        rules: &["layout-copies", "uncoalesced-access", "bank-conflicts", "loop-state-copies"],
        show: ("stats", "--by category"),
        record: "",
    },
    Asked {
        about: About::Program,
        section: "synchronization",
        question: "does the host wait for the device only when it needs a result",
        rules: &["blocking-call", "sync-copy", "no-sync-timing"],
        show: ("idle", ""),
        record: "",
    },
    Asked {
        about: About::Collectives,
        section: "synchronization",
        question: "is communication hidden behind work, and evenly shared",
        rules: &[
            "exposed-collectives",
            "collective-in-loop",
            "collective-outlier",
            "straggler",
            "imbalance-of-work",
            "small-messages",
            "same-stream-comm",
        ],
        show: ("stats", "--by collective"),
        record: "",
    },
];

/// One question, answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChecklistItem {
    /// What the question is about.
    pub section: &'static str,
    /// The question, such that *yes* is good.
    pub question: &'static str,
    /// The answer.
    pub verdict: ChecklistVerdict,
    /// What was found, a sentence each without a period.
    pub evidence: Vec<String>,
    /// The command that shows it.
    pub shown_by: Option<String>,
    /// Commands that would answer it.
    pub next: Vec<String>,
}

/// How a question is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChecklistVerdict {
    /// Rules could judge and found nothing.
    Yes,
    /// Something was found.
    No,
    /// The capture does not say.
    CannotTell,
}

impl ChecklistVerdict {
    /// The word in text and JSON.
    pub fn name(self) -> &'static str {
        match self {
            ChecklistVerdict::Yes => "yes",
            ChecklistVerdict::No => "no",
            ChecklistVerdict::CannotTell => "cannot tell",
        }
    }
}

/// All questions, answered.
#[derive(Debug, Clone)]
pub struct Checklist {
    /// What a reader must know of the capture, gravest first.
    pub notes: Vec<Note>,
    /// The questions in their order.
    pub items: Vec<ChecklistItem>,
}

impl Checklist {
    /// Questions that are answered so.
    pub fn count(&self, verdict: ChecklistVerdict) -> usize {
        self.items.iter().filter(|item| item.verdict == verdict).count()
    }
}

impl Session {
    /// Answers the checklist of a profiling session by what the rules found.
    pub fn checklist(&self) -> Checklist {
        let check = self.check(&Selection::default());
        let commands = Commands::of(self, None);
        let lacking = |asked: &Asked| asked.about.lacking(self);
        let items = QUESTIONS.iter().map(|asked| answered(asked, lacking(asked), &check, &commands)).collect();
        Checklist { notes: self.notes().to_vec(), items }
    }
}

fn answered(asked: &Asked, lacking: Option<&'static str>, check: &Check, commands: &Commands) -> ChecklistItem {
    let diagnosis = &check.diagnosis;
    let is_asked = |rule: &str| asked.rules.contains(&rule);
    let found: Vec<&Finding> =
        diagnosis.findings.iter().filter(|finding| is_asked(finding.rule) && finding.level > Level::Info).collect();
    let outcomes = || diagnosis.outcomes.iter().filter(|outcome| is_asked(outcome.rule.id));
    let silent: Vec<&str> = outcomes().filter(|outcome| outcome.found.is_ok()).map(|outcome| outcome.rule.id).collect();
    let why: Vec<&CannotTell> = outcomes().filter_map(|outcome| outcome.found.as_ref().err()).collect();
    let busy = (asked.question == "is the device busy").then_some(diagnosis.busy_share).flatten();
    let mut item = ChecklistItem {
        section: asked.section,
        question: asked.question,
        verdict: ChecklistVerdict::CannotTell,
        evidence: Vec::new(),
        shown_by: Some(match asked.show.1 {
            "" => commands.show(asked.show.0),
            more => commands.show_with(asked.show.0, more),
        }),
        next: Vec::new(),
    };
    if let Some(share) = busy {
        item.evidence.push(format!("devices worked {} of the analyzed time", Share(share)));
    }
    item.evidence.extend(found.iter().map(|finding| format!("{} [{}]", finding.message, finding.rule)));
    if !found.is_empty() || busy.is_some_and(|share| share < BUSY) {
        item.verdict = ChecklistVerdict::No;
    } else if let Some(why) = lacking {
        item.evidence.push(why.to_owned());
        item.next.push(match asked.about {
            About::Roof => "ridgeline calibrate".to_owned(),
            _ => commands.record(asked.record),
        });
        item.shown_by = None;
    } else if diagnosis.state != State::CannotJudge && (!silent.is_empty() || busy.is_some()) {
        item.verdict = ChecklistVerdict::Yes;
        if !silent.is_empty() {
            item.evidence.push(format!("nothing to fix found by {}", silent.join(", ")));
        }
    } else {
        let doubts = diagnosis.doubts.iter().map(|(_, doubt)| (&doubt.message, doubt.command.as_ref()));
        let reasons: Vec<_> = why.iter().map(|one| (&one.why, one.command.as_ref())).chain(doubts).collect();
        let said = reasons.first().map_or("no rule about it could evaluate this capture", |(why, _)| why.as_str());
        item.evidence.push(said.to_owned());
        item.next = reasons.iter().find_map(|(_, command)| command.cloned()).into_iter().collect();
        if item.next.is_empty() {
            item.next.push(commands.record(asked.record));
        }
        item.shown_by = None;
    }
    item
}

#[cfg(test)]
mod tests {
    use super::*;
    use ridge_diagnose::RULES;

    #[test]
    fn every_rule_that_answers_is_one() {
        for asked in QUESTIONS {
            for rule in asked.rules {
                assert!(RULES.iter().any(|known| known.id == *rule), "{rule}");
            }
        }
    }
}
