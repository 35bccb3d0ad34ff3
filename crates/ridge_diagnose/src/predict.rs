//! What mending a finding would save: from a replay where that is allowed; on processors the finding's part of the time, as
//! its record widens it; else no more than what it holds.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::record::{Record, standing};
use crate::saving::{Saving, SavingBasis};
use ridge_analysis::Per;
use ridge_replay::{Action, Basis, Edit, Options, Prediction, Replay, Retimed};
use std::collections::BTreeMap;

/// Captures with more events are not replayed: it would take longer than reading them.
const MOST_REPLAYED: usize = 2 << 20;

/// Why nothing is replayed on a processor. Held against pairs of programs, such predictions were a fifth of what was saved.
const ON_PROCESSORS: &str = "CPU captures don't record what dispatches and threads wait for";

/// Why nothing is predicted on a processor where only waiting would go. Of four pairs of programs two were slower without it.
const SHARED: &str = "host and device share the CPU, so overlappable work may still run sequentially";

/// Gives each of `findings` its saving, and says what mending those at `together` would save at once.
pub(crate) fn of_findings(case: &Case<'_>, findings: &mut [Finding], together: &[usize]) -> Option<Saving> {
    let on_processors = case.is_on_processors();
    let wants_replay = !on_processors && findings.iter().any(|finding| !finding.edits.is_empty());
    let is_small = case.analysis.trace.events.len() <= MOST_REPLAYED;
    let options = Options { window: window(case), ..Options::default() };
    let replay = (wants_replay && is_small).then(|| Replay::new(case.analysis.trace, &options));
    let has_amount =
        |finding: &&mut Finding| !finding.is_information && !finding.is_amount_unknown && finding.share > 0.0;
    for finding in findings.iter_mut().filter(has_amount) {
        if let Some((least, most)) = finding.priced {
            let saving = priced(case, least, most);
            finding.saving = Some(if on_processors { calibrated(case, finding, saving) } else { saving });
            continue;
        }
        let found = match &replay {
            Some(replay) if !finding.edits.is_empty() => replayed(case, replay, &finding.edits, finding.share),
            None if !finding.edits.is_empty() && on_processors => Err(Some(ON_PROCESSORS.to_owned())),
            None if !finding.edits.is_empty() => Err(Some("the capture is too large to replay here".to_owned())),
            _ => Err(None),
        };
        finding.saving = Some(match found {
            Ok(saving) => with_record(saving, standing(finding.rule, SavingBasis::Replay).of_rule()),
            Err(_) if on_processors && is_of_overlap(finding) => bound(case, finding, Some(SHARED.to_owned())),
            Err(refused) if on_processors => calibrated(case, finding, wall(case, finding, refused)),
            Err(refused) => bound(case, finding, refused),
        });
    }
    if on_processors {
        let predicted = together
            .iter()
            .map(|at| &findings[*at])
            .filter(|finding| !is_of_overlap(finding) && !finding.is_amount_unknown);
        return (predicted.clone().count() > 1).then(|| wall_of_all(case, predicted));
    }
    let share = case.share_of(together.iter().flat_map(|at| findings[*at].claim.iter().copied()));
    let edits: Vec<Edit> = together.iter().flat_map(|at| findings[*at].edits.iter().cloned()).collect();
    let all_replayed = together
        .iter()
        .all(|at| findings[*at].saving.as_ref().is_some_and(|saving| saving.basis == SavingBasis::Replay));
    let replay = replay.filter(|_| all_replayed && together.len() > 1)?;
    replayed(case, &replay, &edits, share).ok()
}

/// When every event would have run with the change of `finding` made.
///
/// # Errors
/// Why nothing may be shown: its saving does not come from a replay.
pub fn retimed(case: &Case<'_>, finding: &Finding) -> Result<Retimed, String> {
    let saving = finding.saving.as_ref();
    match saving.map(|saving| (saving.basis, &saving.refused)) {
        _ if finding.edits.is_empty() => Err("the finding has no change that can be replayed".to_owned()),
        None => Err("a capture doesn't tell how much the change would save".to_owned()),
        Some((SavingBasis::Replay, _)) => {
            let replay = Replay::new(case.analysis.trace, &Options { window: window(case), ..Options::default() });
            replay.retimed(&finding.edits).map_err(|reason| reason.to_string())
        }
        Some((_, refused)) => {
            Err(refused.clone().unwrap_or_else(|| "its saving doesn't come from a replay".to_owned()))
        }
    }
}

/// The longest stretch of the time that is judged, in the process where that is longest.
fn window(case: &Case<'_>) -> Option<(i64, i64)> {
    let stretches = case.analyzed().spans.iter().flat_map(|spans| spans.as_slice());
    let longest = stretches.clone().max_by_key(|(start, end)| end.saturating_sub(*start)).copied()?;
    // Ranks are judged together: what overlaps the longest stretch belongs to it.
    let around = stretches.filter(|(start, end)| *start < longest.1 && *end > longest.0);
    let (first, last) = around.copied().reduce(|(first, last), (start, end)| (first.min(start), last.max(end)))?;
    // The device may still work for the step before while the host begins the first that is judged; a replay needs all of it.
    Some((begun(case).map_or(first, |begun| begun.min(first)), last))
}

/// When the host begins the first step that is judged, in the process where that is earliest.
fn begun(case: &Case<'_>) -> Option<i64> {
    let trace = case.analysis.trace;
    let mut starts: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
    for step in case.analysis.steps().rows.iter().filter(|_| case.analyzed().per == Per::Step) {
        if let Some(track) = trace.track_of(step.event.0) {
            starts.entry(track.process).or_default().push(trace.events.start_ns[step.event.index()]);
        }
    }
    let judged = starts.into_values().filter_map(|mut starts| {
        starts.sort_unstable();
        starts.get(1).or(starts.first()).copied()
    });
    judged.min()
}

/// What a replay says of `edits`; else why it says nothing.
fn replayed(case: &Case<'_>, replay: &Replay<'_>, edits: &[Edit], share: f64) -> Result<Saving, Option<String>> {
    let found: Prediction = replay.apply(edits);
    if let Some(reason) = found.refused {
        return Err(Some(reason.to_string()));
    }
    if found.basis == Basis::Direction {
        return Err(Some("the replay shows the direction but not the amount".to_owned()));
    }
    let frame = case.analyzed();
    let (low, high, whole) = match found.per_step.filter(|_| frame.per == Per::Step) {
        Some(step) => (step.low_ns, step.high_ns, step.captured_ns),
        None => {
            // The window may be a part of the frame, whose other parts are taken to be alike.
            let of_frame = |ns: i64| (ns as f64 / found.wall_ns.max(1) as f64 * frame.unit_ns() as f64) as i64;
            (of_frame(found.low_ns), of_frame(found.high_ns), frame.unit_ns())
        }
    };
    // Removing work can also remove waits around it, but never more than there is.
    let (low, high) = (low.max(0), high.clamp(0, whole.max(0)));
    let held = (share * whole as f64) as i64;
    if held > 0 && low > held.saturating_mul(2) {
        return Err(Some(
            "the replay saves more than the finding accounts for, so it does not explain this part".to_owned(),
        ));
    }
    let high = if held > 0 { high.min(held.saturating_mul(3) / 2) } else { high };
    if share > 0.0 && high == 0 {
        return Err(Some("other work replaces it on the critical path".to_owned()));
    }
    let part = |ns: i64| if whole > 0 { ns as f64 / whole as f64 } else { 0.0 };
    Ok(Saving {
        low_ns: low.min(high),
        high_ns: high,
        share_low: part(low.min(high)),
        share_high: part(high),
        per: frame.per,
        basis: SavingBasis::Replay,
        refused: None,
    })
}

/// Whether mending takes no work away, and only lets host and device work at the same time.
fn is_of_overlap(finding: &Finding) -> bool {
    finding.edits.iter().any(|edit| matches!(edit.action, Action::Unsync))
}

/// What a finding holds of the time, which is what mending it gives back where one thing runs after the other.
fn wall(case: &Case<'_>, finding: &Finding, refused: Option<String>) -> Saving {
    let saving = Saving { basis: SavingBasis::ShareOfTime, ..bound(case, finding, refused) };
    let saving = Saving { low_ns: saving.high_ns, share_low: saving.share_high, ..saving };
    let saving = with_record(saving, widest(finding.rule).as_ref());
    if finding.is_of_host && finding.at_most.is_none() && saving.share_low >= MUCH {
        with_work_around(saving)
    } else {
        saving
    }
}

/// The record of the rule called `id` together with that of all rules: a few pairs of programs, which the rule was tuned with,
/// don't show how far it can be wrong elsewhere. Of ten programs that were written without knowledge of the rules, five saved more
/// than the upper end that such a record gave.
fn widest(id: &str) -> Option<Record> {
    let all = standing("", SavingBasis::ShareOfTime).record().copied();
    let own = standing(id, SavingBasis::ShareOfTime).record().copied();
    let both = |all: Record, own: Record| Record {
        lowest_ratio: own.lowest_ratio.min(all.lowest_ratio),
        highest_ratio: own.highest_ratio.max(all.highest_ratio),
        ..own
    };
    all.zip(own).map(|(all, own)| both(all, own)).or(own)
}

/// A device that waits for its host this part of the time may be rid of more than the waiting: the host's calls are on the same
/// cores, and what is launched at once is compiled as one.
const MUCH: f64 = 0.3;

/// The range up to where all of the rest goes, too: of programs of which a finding of the host held that much, several were left with
/// less than a thirtieth of the rest.
fn with_work_around(saving: Saving) -> Saving {
    let whole = saving.high_ns as f64 / saving.share_high.max(f64::MIN_POSITIVE);
    Saving { high_ns: whole as i64, share_high: 1.0, ..saving }
}

/// How much of what a prediction leaves is really left, at least: PyTorch programs also spend Python's time, allocations and
/// gradients on what a finding counts.
const LEFT_BY_TORCH: f64 = 0.3;
const LEFT_BY_OTHERS: f64 = 0.6;
/// The part of that which may be left where a prediction takes at least half of the time.
const LEFT_OF_HALF: f64 = 0.5;

/// The range widened by how far it was wrong on 58 amounts of four sets of programs that were unknown to the rules' authors: where it
/// was wrong at last, the fix saved a few hundredths more than its upper end. Those sets are in `suites/seen/`; the programs of
/// `docs/accuracy.md` had no part in it.
fn calibrated(case: &Case<'_>, finding: &Finding, saving: Saving) -> Saving {
    let left = match case.framework() {
        _ if finding.at_most.is_some() => 1.0,
        Framework::Torch => LEFT_BY_TORCH,
        _ => LEFT_BY_OTHERS,
    };
    let left = if saving.share_high >= 0.5 && finding.at_most.is_none() { left * LEFT_OF_HALF } else { left };
    let low = saving.share_low * (1.0 + saving.share_low) / 2.0;
    let high = 1.0 - left * (1.0 - saving.share_high);
    let whole = if saving.share_high > 0.0 { saving.high_ns as f64 / saving.share_high } else { 0.0 };
    let ns = |share: f64| (share * whole) as i64;
    Saving { low_ns: ns(low), high_ns: ns(high), share_low: low, share_high: high, ..saving }
}

/// What is left where another form takes the place of what the finding holds.
fn priced(case: &Case<'_>, least: f64, most: f64) -> Saving {
    let (frame, low, high) = (case.analyzed(), least.clamp(0.0, 1.0), most.clamp(0.0, 1.0));
    let ns = |share: f64| (share * frame.unit_ns() as f64) as i64;
    Saving {
        low_ns: ns(low),
        high_ns: ns(high),
        share_low: low,
        share_high: high,
        per: frame.per,
        basis: SavingBasis::Price,
        refused: None,
    }
}

/// What several findings hold together, each moment once.
fn wall_of_all<'f>(case: &Case<'_>, findings: impl Iterator<Item = &'f Finding> + Clone) -> Saving {
    let within = case.share_of(findings.clone().flat_map(|finding| finding.claim.iter().copied()));
    let beside_ns = findings.fold(0_i64, |sum, finding| sum.saturating_add(finding.beside_ns));
    let (share, whole) = case.share_with_beside(within, beside_ns);
    let ns = (share * whole as f64) as i64;
    let (per, basis) = (case.analyzed().per, SavingBasis::ShareOfTime);
    let saving = Saving { low_ns: ns, high_ns: ns, share_low: share, share_high: share, per, basis, refused: None };
    with_record(saving, standing("", basis).record())
}

/// No more than what the finding holds.
fn bound(case: &Case<'_>, finding: &Finding, refused: Option<String>) -> Saving {
    let share = finding.at_most.map_or(finding.share, |most| most.min(finding.share));
    let whole = case.analyzed().unit_ns().saturating_add(finding.beside_ns);
    let high_ns = (share * whole as f64) as i64;
    let per = case.analyzed().per;
    Saving { low_ns: 0, high_ns, share_low: 0.0, share_high: share, per, basis: SavingBasis::Bound, refused }
}

/// The range widened by how far predictions were from what was measured.
fn with_record(saving: Saving, record: Option<&Record>) -> Saving {
    let Some(record) = record else { return saving };
    let (least, most) = ((1.0 / record.highest_ratio).min(1.0), (1.0 / record.lowest_ratio).max(1.0));
    let whole = if saving.share_high > 0.0 { saving.high_ns as f64 / saving.share_high } else { 0.0 };
    let (low, high) = (saving.low_ns as f64 * least, (saving.high_ns as f64 * most).min(whole));
    let part = |ns: f64| if whole > 0.0 { ns / whole } else { 0.0 };
    Saving { low_ns: low as i64, high_ns: high as i64, share_low: part(low), share_high: part(high), ..saving }
}
