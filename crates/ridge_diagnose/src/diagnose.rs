//! The engine: judges the capture, runs the rules, unites what they claim, joins symptoms to causes, ranks.

use crate::case::Case;
use crate::finding::{Evidence, Finding, Level};
use crate::fitness::{CannotTell, Doubt, Question};
use crate::log::{MonitorLog, OF_LOGS};
use crate::predict;
use crate::rule::{Find, Group, Rule};
use crate::rules::RULES;
use crate::saving::{Saving, SavingBasis};
use crate::words::count as counted;
use rayon::prelude::*;
use ridge_analysis::{AnalyzedTime, Breakdown, Life, Lines, Need};
use std::collections::BTreeSet;

/// Findings that hold less of the time are only shown on request.
const WORTH_MENDING: f64 = 0.03;
/// The same on processors, whose programs pay as much for what nobody would change: cores are shared, and small work is host work.
const WORTH_MENDING_ON_PROCESSORS: f64 = 0.10;
/// A finding is a symptom where a cause has at least this part of its claim.
const SYMPTOM: f64 = 0.5;
/// Causes that are replayed together: those that hold most.
const MOST_TOGETHER: usize = 12;

/// Which rules are asked.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// These alone, by id or group; all where none is named.
    pub only: Vec<String>,
    /// Not these.
    pub ignored: Vec<String>,
}

impl Selection {
    /// Whether `rule` is asked.
    pub fn has(&self, rule: &Rule) -> bool {
        let names = |list: &[String]| list.iter().any(|name| name == rule.id || name == rule.group.name());
        // Whether the capture is fit is always asked: a verdict without it would be a guess.
        rule.group == Group::Fitness || ((self.only.is_empty() || names(&self.only)) && !names(&self.ignored))
    }
}

/// Whether a capture can be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Everything that was asked can be answered.
    Fit,
    /// Some questions cannot be answered.
    Partly,
    /// Nothing can be said of the time.
    CannotJudge,
}

impl State {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            State::Fit => "fit",
            State::Partly => "partly",
            State::CannotJudge => "cannot judge",
        }
    }

    /// The quality of the capture, for people.
    pub fn quality(self) -> &'static str {
        match self {
            State::Fit => "ok",
            State::Partly => "partial",
            State::CannotJudge => "unusable",
        }
    }
}

/// Rules that judge code, launches and HLO where nothing ran, and not predicted times alone.
const STATIC: [&str; 7] =
    ["atomics", "fp64-used", "register-spills", "small-grid", "tail-wave", "tensor-cores-idle", "uncoalesced-access"];

/// What one rule came to.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The rule.
    pub rule: &'static Rule,
    /// How many findings, or why it cannot tell.
    pub found: Result<usize, CannotTell>,
}

/// What all rules came to.
#[derive(Debug, Clone)]
pub struct Diagnosis {
    /// Whether the capture can be judged.
    pub state: State,
    /// What speaks against answers, by the rule that says it.
    pub doubts: Vec<(&'static Rule, Doubt)>,
    /// Findings, what can be recovered most first; symptoms come right after their cause.
    pub findings: Vec<Finding>,
    /// Every rule that was asked.
    pub outcomes: Vec<Outcome>,
    /// The part of the devices' time that all causes worth mending hold together, 0 to 1.
    pub held_share: f64,
    /// The least part of the time that is worth mending, 0 to 1.
    pub worth_mending: f64,
    /// What mending all of them would save together, where a replay or their parts of the time can tell.
    pub together: Option<Saving>,
    /// The time that was judged.
    pub frame: AnalyzedTime,
    /// What else the program's recorded life was.
    pub life: Life,
    /// The part of it in which devices worked, 0 to 1; `None` where no device was recorded.
    pub busy_share: Option<f64>,
    /// What a monitor's log says, where the capture is nothing else.
    pub log: Option<MonitorLog>,
}

impl Diagnosis {
    /// Causes worth mending: warnings and errors that are no symptoms of others.
    pub fn causes(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.level > Level::Info && finding.because.is_none())
    }
}

/// Asks every rule that `selection` has.
pub fn diagnose(case: &Case<'_>, selection: &Selection) -> Diagnosis {
    let asked: Vec<&'static Rule> = RULES.iter().copied().filter(|rule| selection.has(rule)).collect();
    case.analysis.prepare(&[Need::of::<Breakdown>(), Need::of::<Lines>()]);
    asked.iter().for_each(|rule| case.analysis.prepare(rule.needs));
    let doubts = doubts(case, &asked);
    let blocked: BTreeSet<Question> = doubts.iter().flat_map(|(_, doubt)| doubt.blocks.iter().copied()).collect();
    let log = MonitorLog::of(case);
    let judged = |rule: &&'static Rule| judge(case, rule, &doubts, log).map(|found| (*rule, found));
    let results: Vec<(&'static Rule, Result<Vec<Finding>, CannotTell>)> = asked.par_iter().filter_map(judged).collect();
    let mut outcomes = Vec::with_capacity(results.len());
    let mut findings: Vec<Finding> = Vec::new();
    for (rule, result) in results {
        outcomes.push(Outcome { rule, found: result.as_ref().map(Vec::len).map_err(Clone::clone) });
        let is_of_host = rule.group == Group::Host;
        let placed = |finding: Finding| match is_of_host && finding.place.is_none() && !finding.claim.is_empty() {
            // What the host does has a line as soon as enough looks at its Python fell into the time it takes.
            true => {
                let seen = case.seen_in(&finding.claim);
                finding.seen(seen.as_ref())
            }
            false => finding,
        };
        let named = |finding| Finding { rule: rule.id, is_of_host, ..placed(finding) };
        findings.extend(result.into_iter().flatten().map(named));
    }
    unite(&mut findings);
    findings.iter_mut().for_each(|finding| mark(case, finding));
    findings.iter_mut().for_each(|finding| level(case, finding));
    for (rule, found) in rest(case, &asked, &doubts, &findings) {
        outcomes.push(Outcome { rule, found: found.as_ref().map(Vec::len).map_err(Clone::clone) });
        findings.extend(found.into_iter().flatten().map(|finding| Finding { rule: rule.id, ..finding }));
    }
    let rank = |finding: &Finding| rank(case, finding);
    findings.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    join(case, &mut findings);
    let worth: Vec<usize> = worth_mending(&findings).collect();
    let joint = predict::of_findings(case, &mut findings, &worth[..worth.len().min(MOST_TOGETHER)]);
    let held_share = case.share_of(worth.iter().flat_map(|at| findings[*at].claim.iter().copied()));
    let state = match () {
        () if blocked.contains(&Question::Device) => State::CannotJudge,
        () if !blocked.is_empty() => State::Partly,
        () => State::Fit,
    };
    Diagnosis {
        state,
        doubts,
        findings: in_order(case, findings),
        outcomes,
        held_share,
        worth_mending: least_worth(case),
        together: joint,
        frame: case.analyzed().clone(),
        life: *case.analysis.get::<Life>(),
        busy_share: case.busy_share(),
        log,
    }
}

/// Says once what a rule found of several programs in the same words at the same line: all that they hold is claimed by the first.
fn unite(findings: &mut Vec<Finding>) {
    let mut at = 0;
    while at < findings.len() {
        let is_same = |one: &Finding, other: &Finding| {
            (one.rule, &one.message, &one.place) == (other.rule, &other.message, &other.place)
                && (one.is_information, one.level) == (other.is_information, other.level)
                && one.priced.is_none()
                && one.place.is_some()
        };
        let mut others = Vec::new();
        for other in (at + 1..findings.len()).rev() {
            if is_same(&findings[at], &findings[other]) {
                others.push(findings.remove(other));
            }
        }
        let count = others.len();
        let first = &mut findings[at];
        for other in others.into_iter().rev() {
            first.claim.extend(other.claim);
            first.edits.extend(other.edits);
            first.subjects.extend(other.subjects);
            first.beside_ns = first.beside_ns.saturating_add(other.beside_ns);
        }
        if count > 0 {
            let others = counted(count as u64, "other program", "other programs");
            first.evidence.push(Evidence { says: format!("the same in {others}"), number: None, subject: None });
        }
        at += 1;
    }
}

/// Says of a finding of a compilation that code shows it, and no measurement.
fn mark(case: &Case<'_>, finding: &mut Finding) {
    finding.is_static = case.known.is_predicted && STATIC.contains(&finding.rule);
    if finding.is_static {
        finding.message.push_str(" (static)");
    }
}

/// The least part of the time that is worth mending.
fn least_worth(case: &Case<'_>) -> f64 {
    if case.is_on_processors() { WORTH_MENDING_ON_PROCESSORS } else { WORTH_MENDING }
}

/// What a finding holds of the time, and so how much it matters.
fn level(case: &Case<'_>, finding: &mut Finding) {
    let within = case.share_of(finding.claim.iter().copied());
    // What lies beside the judged time is set against both together.
    (finding.share, _) = case.share_with_beside(within, finding.beside_ns);
    let gives_back = finding.at_most.map_or(finding.share, |most| most.min(finding.share));
    // On a busy machine, hand-overs between threads wait for a CPU, and the device for them.
    let is_contended = finding.is_of_host && finding.beside_ns == 0 && case.is_on_processors();
    let gives_back = if is_contended { gives_back - case.known.cpu_waited } else { gives_back };
    let holds = !finding.is_information && gives_back >= least_worth(case);
    finding.level = finding.level.max(if holds { Level::Warning } else { Level::Info });
}

/// What rules say of the time that no cause worth mending claims.
fn rest(
    case: &Case<'_>,
    asked: &[&'static Rule],
    doubts: &[(&'static Rule, Doubt)],
    findings: &[Finding],
) -> Vec<(&'static Rule, Result<Vec<Finding>, CannotTell>)> {
    let causes = findings.iter().filter(|finding| finding.level > Level::Info && !finding.is_information);
    let claimed: Vec<(usize, f32)> = causes.flat_map(|finding| finding.claim.iter().copied()).collect();
    let of_rule = |rule: &&'static Rule| {
        let Find::Rest(find) = rule.find else { return None };
        Some((*rule, against(rule, doubts).map_or_else(|| Ok(find(case, &claimed)), Err)))
    };
    asked.iter().filter_map(of_rule).collect()
}

/// Why a rule cannot tell, where a doubt blocks what it asks.
fn against(rule: &Rule, doubts: &[(&'static Rule, Doubt)]) -> Option<CannotTell> {
    let against = doubts.iter().find(|(_, doubt)| doubt.blocks.iter().any(|question| rule.asks.contains(question)));
    against.map(|(_, doubt)| cannot_tell(doubt))
}

fn cannot_tell(doubt: &Doubt) -> CannotTell {
    CannotTell { why: doubt.message.clone(), command: doubt.command.clone() }
}

fn doubts(case: &Case<'_>, asked: &[&'static Rule]) -> Vec<(&'static Rule, Doubt)> {
    let of_rule = |rule: &&'static Rule| {
        let mut found = Vec::new();
        if let Find::Doubts(find) = rule.find {
            find(case, &mut found);
        }
        found.into_iter().map(|doubt| (*rule, doubt)).collect::<Vec<_>>()
    };
    let mut all: Vec<(&'static Rule, Doubt)> = asked.par_iter().map(of_rule).collect::<Vec<_>>().concat();
    // What makes most answers impossible is said first.
    all.sort_by_key(|(_, doubt)| match doubt.blocks.iter().min() {
        Some(Question::Device) => 0,
        Some(_) => 1,
        None => 2,
    });
    all
}

/// What a rule that finds causes comes to; `None` for those that judge the capture.
fn judge(
    case: &Case<'_>,
    rule: &'static Rule,
    doubts: &[(&'static Rule, Doubt)],
    log: Option<MonitorLog>,
) -> Option<Result<Vec<Finding>, CannotTell>> {
    let Find::Causes(find) = rule.find else { return None };
    // Of a log most rules would see nothing and take that for good.
    if log.is_some() && !OF_LOGS.contains(&rule.id) {
        let why = || doubts.first().map(|(_, doubt)| cannot_tell(doubt));
        return why().map(Err);
    }
    Some(against(rule, doubts).map_or_else(|| find(case), Err))
}

/// Rules that say where time goes, and no cause, or one that many programs have: they come last of what only informs, the last of
/// these first.
const WITHOUT_CAUSE: [&str; 5] =
    ["unexplained-work", "kernel-hotspot", "hot-line", "serial-while-small-body", "tiny-operations"];

/// Rules that inform of what the capture doesn't show to be avoidable.
const UNSURE: [&str; 4] = ["factorized-again", "lanes-wait", "both-branches", "stacked-results"];
/// What of their time counts against others.
const UNSURE_PART: f64 = 0.8;

/// What ranks a finding before it is replayed: errors, then what it holds, nanoseconds per step or capture. Some hold time beside the
/// judged time, so shares are of different wholes.
fn rank(case: &Case<'_>, finding: &Finding) -> f64 {
    let grave = if finding.level == Level::Error { f64::from(u32::MAX) * 1e9 } else { 0.0 };
    let without_cause = WITHOUT_CAUSE.iter().position(|rule| *rule == finding.rule).filter(|_| finding.is_information);
    grave
        + match without_cause {
            // A line whose structure is known holds what has it.
            Some(_) if finding.rule == "hot-line" && finding.share > 0.0 => 0.0,
            Some(place) => place as f64 - WITHOUT_CAUSE.len() as f64,
            // What may be as it has to be comes after a part with a known alternative that holds about as much.
            None if finding.is_information && UNSURE.contains(&finding.rule) => {
                UNSURE_PART * finding.share * whole_ns(case, finding)
            }
            None => finding.share * whole_ns(case, finding),
        }
}

/// What the share of a finding is of, nanoseconds.
fn whole_ns(case: &Case<'_>, finding: &Finding) -> f64 {
    case.analyzed().unit_ns().saturating_add(finding.beside_ns).max(1) as f64
}

/// Hangs symptoms under the finding that explains them, where both claim the same time.
fn join(case: &Case<'_>, findings: &mut [Finding]) {
    for symptom in 0..findings.len() {
        let is_explained = |cause: usize| {
            let (cause_of, rule) = (&findings[cause], crate::rules::rule(findings[cause].rule));
            cause != symptom
                && rule.is_some_and(|rule| rule.explains.contains(&findings[symptom].rule))
                && cause_of.level >= findings[symptom].level
                && case.common_part(&findings[symptom].claim, &cause_of.claim) >= SYMPTOM
        };
        let cause = (0..findings.len()).filter(|cause| is_explained(*cause));
        let cause = cause.max_by(|a, b| rank(case, &findings[*a]).total_cmp(&rank(case, &findings[*b])));
        findings[symptom].because = cause;
    }
    // A symptom of a symptom is one of the first cause; two that explain each other are both kept.
    for symptom in 0..findings.len() {
        let mut seen = vec![symptom];
        while let Some(cause) = findings[symptom].because {
            match findings[cause].because {
                Some(next) if !seen.contains(&next) => findings[symptom].because = Some(next),
                Some(_) => {
                    findings[symptom].because = None;
                    break;
                }
                None => break,
            }
            seen.push(cause);
        }
    }
}

/// The positions of causes worth mending, what holds most first.
fn worth_mending(findings: &[Finding]) -> impl Iterator<Item = usize> + '_ {
    let is_cause = |finding: &Finding| finding.level > Level::Info && finding.because.is_none();
    (0..findings.len()).filter(move |at| is_cause(&findings[*at]) && !findings[*at].is_information)
}

/// By what can be recovered, each symptom right after its cause.
fn in_order(case: &Case<'_>, findings: Vec<Finding>) -> Vec<Finding> {
    let recoverable = |finding: &Finding| match &finding.saving {
        Some(saving) if saving.basis == SavingBasis::Replay => saving.share_high * whole_ns(case, finding),
        Some(_) => finding.share * whole_ns(case, finding),
        None => rank(case, finding),
    };
    let mut order: Vec<usize> = (0..findings.len()).collect();
    let key = |at: usize| {
        let cause = findings[at].because.unwrap_or(at);
        let of_cause = &findings[cause];
        (of_cause.level, recoverable(of_cause), cause, findings[at].because.is_none(), recoverable(&findings[at]))
    };
    order.sort_by(|a, b| {
        let (a, b) = (key(*a), key(*b));
        b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)).then(b.3.cmp(&a.3)).then(b.4.total_cmp(&a.4))
    });
    let mut places = vec![0; findings.len()];
    order.iter().enumerate().for_each(|(place, at)| places[*at] = place);
    let mut all: Vec<Option<Finding>> = findings.into_iter().map(Some).collect();
    let mut sorted: Vec<Finding> = order.into_iter().filter_map(|at| all[at].take()).collect();
    for finding in &mut sorted {
        finding.because = finding.because.map(|cause| places[cause]);
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Place;

    #[test]
    fn what_is_said_of_several_programs_in_the_same_words_is_said_once() {
        let at = |line: u32| Some(Place { file: "a.py".to_owned(), line, is_inferred: false });
        let found = |message: &str, line: u32, row: usize| Finding {
            rule: "defensive-copies",
            ..Finding::new(message).at(at(line)).claims([(row, 1.0)])
        };
        let mut all = vec![found("copies", 3, 0), found("copies", 3, 1), found("copies", 4, 2), found("moves", 3, 3)];
        all.push(Finding::new("copies").at(None));
        all.push(Finding::new("copies").at(None));
        unite(&mut all);
        let rows = |finding: &Finding| finding.claim.iter().map(|(row, _)| *row).collect::<Vec<_>>();
        assert_eq!(all.iter().map(rows).collect::<Vec<_>>(), [vec![0, 1], vec![2], vec![3], vec![], vec![]]);
        assert_eq!(all[0].evidence[0].says, "the same in 1 other program");
    }
}
