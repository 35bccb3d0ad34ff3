//! The checklist of a profiling session: fifteen questions, each answered by what the rules found, or by the command that would
//! answer it.
//!
//! No question has a judgment of its own. It is answered by rules of `check`: what they found is what to mend, and where they
//! could judge and found nothing, that is the answer.

use super::commands::Commands;
use crate::check::Check;
use crate::note::Note;
use crate::session::Session;
use ridge_diagnose::{CannotTell, Finding, Level, Selection, State};
use ridge_units::Share;

/// From this part of the time on a device counts as busy.
const BUSY: f64 = 0.8;

/// A question, and what answers it.
struct Asked {
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
        section: "data and host",
        question: "does the device never wait for input data",
        rules: &["data-loading"],
        show: ("idle", ""),
        record: "",
    },
    Asked {
        section: "data and host",
        question: "is preprocessing on the CPU out of the way of the device",
        rules: &["host-between-steps", "host-pause", "host-callback", "converted-again", "grown-on-host"],
        show: ("idle", ""),
        record: "",
    },
    Asked {
        section: "data and host",
        question: "are copies from the host pinned",
        rules: &["pageable-copy", "slow-copy"],
        show: ("transfers", ""),
        record: "--with nsys",
    },
    Asked {
        section: "data and host",
        question: "is data copied only where it has to be, in few large copies, beside work",
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
        section: "device",
        question: "is the device busy",
        rules: &["host-bound-dispatch", "blocking-call", "unexplained-wait", "setup-not-work"],
        show: ("idle", ""),
        record: "",
    },
    Asked {
        section: "device",
        question: "is the program compiled, and not launched operation by operation",
        rules: &["python-loop-of-eager-ops", "many-small-kernels", "dataparallel-used", "decode-without-graphs"],
        show: ("stats", "--by launch"),
        record: "",
    },
    Asked {
        section: "device",
        question: "is nothing compiled again in the steady state",
        rules: &["recompilation", "compile-in-window", "module-load-late", "late-warmup"],
        show: ("stats", "--by compilation"),
        record: "",
    },
    Asked {
        section: "device",
        question: "do kernels fill the device: batch and shapes are large enough",
        rules: &["small-grid", "low-occupancy", "small-decode-batch", "serial-while-small-body", "padding-waste"],
        show: ("stats", "--by kernel"),
        record: "",
    },
    Asked {
        section: "device",
        question: "is the precision as low as it may be, and tensor cores are used",
        rules: &["fp64-used", "tf32-off", "tensor-cores-idle", "dtype-round-trips"],
        show: ("roofline", ""),
        record: "",
    },
    Asked {
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
        section: "memory",
        question: "is there room in device memory",
        rules: &["near-memory-limit", "out-of-memory", "held-unused", "fragmentation"],
        show: ("memory", ""),
        record: "",
    },
    Asked {
        section: "memory",
        question: "does memory stay the same from step to step, with buffers given back for reuse",
        rules: &["memory-growth", "missed-donation", "defensive-copies", "alloc-storm"],
        show: ("memory", ""),
        record: "",
    },
    Asked {
        section: "memory",
        question: "is memory read along its layout, without copies between layouts",
        rules: &["layout-copies", "uncoalesced-access", "bank-conflicts", "loop-state-copies"],
        show: ("stats", "--by category"),
        record: "",
    },
    Asked {
        section: "synchronization",
        question: "does the host wait for the device only where it needs a result",
        rules: &["blocking-call", "sync-copy", "no-sync-timing"],
        show: ("idle", ""),
        record: "",
    },
    Asked {
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
        let items = QUESTIONS.iter().map(|asked| answered(asked, &check, &commands)).collect();
        Checklist { notes: self.notes().to_vec(), items }
    }
}

fn answered(asked: &Asked, check: &Check, commands: &Commands) -> ChecklistItem {
    let diagnosis = &check.diagnosis;
    let is_asked = |rule: &str| asked.rules.contains(&rule);
    let found: Vec<&Finding> =
        diagnosis.findings.iter().filter(|finding| is_asked(finding.rule) && finding.level > Level::Info).collect();
    let outcomes = || diagnosis.outcomes.iter().filter(|outcome| is_asked(outcome.rule.id));
    let silent: Vec<&str> =
        outcomes().filter(|outcome| matches!(outcome.found, Ok(_))).map(|outcome| outcome.rule.id).collect();
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
        item.evidence.push(format!("devices worked {} of the judged time", Share(share)));
    }
    item.evidence.extend(found.iter().map(|finding| format!("{} [{}]", finding.message, finding.rule)));
    if !found.is_empty() || busy.is_some_and(|share| share < BUSY) {
        item.verdict = ChecklistVerdict::No;
    } else if diagnosis.state != State::CannotJudge && (!silent.is_empty() || busy.is_some()) {
        item.verdict = ChecklistVerdict::Yes;
        if !silent.is_empty() {
            item.evidence.push(format!("nothing worth mending found by {}", silent.join(", ")));
        }
    } else {
        let doubts = diagnosis.doubts.iter().map(|(_, doubt)| (&doubt.message, doubt.command.as_ref()));
        let reasons: Vec<_> = why.iter().map(|one| (&one.why, one.command.as_ref())).chain(doubts).collect();
        let said = reasons.first().map_or("no rule about it could judge this capture", |(why, _)| why.as_str());
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
