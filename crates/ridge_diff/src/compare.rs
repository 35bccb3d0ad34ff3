//! The comparison: both sides matched, measured, and judged.

use crate::causes::{CauseChange, FoundCause, cause_changes};
use crate::change::{Change, per_unit};
use crate::comparable::{Doubt, doubts};
use crate::matching::{Pair, Side, pair};
use crate::options::Options;
use crate::partition::{By, REST, What, is_rest};
use crate::statistics::{
    BETWEEN_RUNS, Interval, SampleOf, Samples, difference, pooled, rank_test, ratio, runs_for, spread,
};
use crate::suite::in_both;
use crate::summary::{Item, Kind, Measure, Summary, Unit};
use crate::verdict::{Evidence, Verdict, verdict};
use crate::why::{Units, events, why};
use ridge_units::Share;
use rustc_hash::FxHashMap;

/// One side as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct SideFacts {
    /// What its runs were opened as.
    pub names: Vec<String>,
    /// Steps, captures or runs, summed over devices and runs.
    pub units: u64,
    /// Devices that worked, of the run that has most.
    pub devices: u64,
    /// Its time over all units, nanoseconds.
    pub total_ns: i64,
    /// Its time per unit and device, nanoseconds.
    pub unit_ns: i64,
    /// The part of it in which devices worked; `None` where none did.
    pub busy_share: Option<f64>,
    /// Its single steps.
    pub steps: Option<Steps>,
}

/// Times of single steps of all runs of a side, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    /// How many.
    pub count: u64,
    /// The shortest.
    pub least_ns: i64,
    /// A quarter is at most this.
    pub quartile_ns: i64,
    /// Half is at most this.
    pub median_ns: i64,
    /// Three quarters are at most this.
    pub third_quartile_ns: i64,
    /// The longest.
    pub most_ns: i64,
}

/// Another number of both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureChange {
    /// Its name in JSON.
    pub key: String,
    /// Its name for people.
    pub title: String,
    /// `ns`, `bytes` or `count`.
    pub unit: String,
    /// What it belongs to.
    pub about: String,
    /// Before, the mean over runs; `None` where it is not known.
    pub before: Option<f64>,
    /// After.
    pub after: Option<f64>,
}

/// Two sides beside each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// How they were compared.
    pub options: Options,
    /// What times are given per.
    pub unit: Option<Unit>,
    /// The side before.
    pub before: SideFacts,
    /// The side after.
    pub after: SideFacts,
    /// What speaks against comparing them, what refuses a verdict first.
    pub doubts: Vec<Doubt>,
    /// What it comes to.
    pub verdict: Verdict,
    /// Where the difference of the whole is, nanoseconds per unit.
    pub interval: Option<Interval>,
    /// The chance that single steps of like runs are ranked as these.
    pub rank_p_value: Option<f64>,
    /// What the interval takes for granted, a sentence without a period.
    pub assumption: Option<String>,
    /// The part of the devices' work that has a like on the other side, 0 to 1.
    pub in_common: f64,
    /// Rows of each division, what changed most first; each division adds up to the whole.
    pub changes: Vec<(By, Vec<Change>)>,
    /// Other numbers.
    pub measures: Vec<MeasureChange>,
    /// What `check` finds on each side; `None` where it was not asked.
    pub causes: Option<Vec<CauseChange>>,
}

impl Comparison {
    /// The rows of one division, what changed most first.
    pub fn changes_by(&self, by: By) -> &[Change] {
        self.changes.iter().find(|(known, _)| *known == by).map_or(&[], |(_, rows)| rows)
    }

    /// The whole difference per unit, nanoseconds.
    pub fn difference_ns(&self) -> i64 {
        self.after.unit_ns.saturating_sub(self.before.unit_ns)
    }

    /// As parts of the time before: the difference and the ends of its interval.
    pub fn parts(&self) -> Option<(f64, Option<(f64, f64)>)> {
        let before = self.before.unit_ns as f64;
        let part = |ns: f64| ns / before;
        let ends = self.interval.map(|interval| (part(interval.low), part(interval.high)));
        (before > 0.0).then(|| (part(self.difference_ns() as f64), ends))
    }
}

/// Compares the runs of two sides; each side has at least one.
pub fn compare(before: &[Summary], after: &[Summary], options: &Options) -> Comparison {
    match in_both(before, after) {
        Some((before, after, doubt)) => compare_alike(&before, &after, doubt, options),
        None => compare_alike(before, after, None, options),
    }
}

fn compare_alike(before: &[Summary], after: &[Summary], beside: Option<Doubt>, options: &Options) -> Comparison {
    let sides = Sides { before, after, options };
    let changes: Vec<(By, Vec<Change>)> = By::ALL.into_iter().map(|by| (by, sides.changes(by))).collect();
    let in_common = sides.in_common();
    let mut doubts = doubts(before, after, in_common);
    doubts.extend(beside);
    let (whole_before, whole_after) = (facts(before), facts(after));
    let whole = sides.whole();
    let interval = sides.of_whole(&whole);
    let rank_p_value = sides.rank_p_value();
    let difference_ns = whole_after.unit_ns.saturating_sub(whole_before.unit_ns) as f64;
    let evidence = Evidence {
        doubts: &doubts,
        before_ns: whole_before.unit_ns as f64,
        difference_ns,
        interval,
        shown: sides.shown(&whole),
        rank_p_value,
        runs: before.len().min(after.len()),
        runs_needed: sides.runs_needed(&whole, whole_before.unit_ns as f64, difference_ns),
        options,
    };
    let verdict = verdict(&evidence);
    Comparison {
        options: *options,
        unit: before.iter().chain(after).find_map(|summary| summary.unit),
        assumption: interval.map(|_| sides.assumption()),
        before: whole_before,
        after: whole_after,
        doubts,
        verdict,
        interval,
        rank_p_value,
        in_common,
        changes,
        measures: measures(before, after),
        causes: found_causes(before, after),
    }
}

/// What is compared.
#[derive(Debug, Clone, Copy)]
struct Sides<'s> {
    before: &'s [Summary],
    after: &'s [Summary],
    options: &'s Options,
}

/// Runs of each side that are asked for at most: who needs more has a machine that is not fit to measure on.
const MOST_RUNS_NEEDED: u32 = 40;

impl<'s> Sides<'s> {
    fn changes(&self, by: By) -> Vec<Change> {
        let keys = |item: &Item| by.keys(item);
        let mut pairs = pair(all_items(self.before), all_items(self.after), &keys);
        pairs.retain(|pair| pair.before.iter().chain(&pair.after).any(|(_, item)| item.ns > 0 || item.events > 0));
        let units = Units {
            unit: self.before.iter().chain(self.after).find_map(|run| run.unit).unwrap_or(Unit::Capture),
            before: units_of(self.before),
            after: units_of(self.after),
        };
        let mut rows: Vec<Change> = pairs.iter().map(|pair| self.change(by, pair, units)).collect();
        name_apart(&mut rows, &pairs);
        self.close(&mut rows);
        let shares = |of: fn(&Change) -> i64, units: u64| per_unit(&rows.iter().map(of).collect::<Vec<_>>(), units);
        let before = shares(|row| row.before_total_ns, units.before);
        let after = shares(|row| row.after_total_ns, units.after);
        for (row, (before, after)) in rows.iter_mut().zip(before.into_iter().zip(after)) {
            (row.before_ns, row.after_ns) = (before, after);
        }
        rows.retain(|row| row.before_total_ns != 0 || row.after_total_ns != 0);
        rows.sort_by(|a, b| {
            let moved = |row: &Change| row.difference_ns().unsigned_abs();
            moved(b).cmp(&moved(a)).then_with(|| a.subject.cmp(&b.subject))
        });
        rows
    }

    fn change(&self, by: By, pair: &Pair<'_>, units: Units) -> Change {
        let shown: &Side<'_> = if pair.after.is_empty() { &pair.before } else { &pair.after };
        let most = shown.iter().max_by_key(|(_, item)| item.ns).map(|(_, item)| *item);
        let subject = by.subject(shown);
        let subject_before = Some(by.subject(&pair.before)).filter(|name| !pair.before.is_empty() && *name != subject);
        let total = |side: &Side<'_>| side.iter().fold(0_i64, |sum, (_, item)| sum.saturating_add(item.ns));
        let interval = self.interval_of(pair);
        let per = |side: &Side<'_>, units: u64| events(side) as f64 / units.max(1) as f64;
        Change {
            what: most.map_or(What::Rest, |item| by.what(item)),
            subject,
            subject_before,
            place: most.and_then(|item| item.place.clone()).filter(|_| !matches!(by, By::Category | By::Idle)),
            before_total_ns: total(&pair.before),
            after_total_ns: total(&pair.after),
            before_ns: 0,
            after_ns: 0,
            interval,
            counts: (per(&pair.before, units.before), per(&pair.after, units.after)),
            is_in: (!pair.before.is_empty(), !pair.after.is_empty()),
            why: if self.is_of_one_unit() { why(pair, units) } else { Vec::new() },
        }
    }

    /// Whether times and counts of both sides are per the same thing.
    fn is_of_one_unit(&self) -> bool {
        let mut units = self.before.iter().chain(self.after).filter_map(|run| run.unit);
        units.next().is_none_or(|first| units.all(|unit| unit == first))
    }

    /// Adds what no item has to the rest, so that the rows add up to the whole.
    fn close(&self, rows: &mut Vec<Change>) {
        let left = |runs: &[Summary], of: fn(&Change) -> i64| {
            let whole = runs.iter().fold(0_i64, |sum, run| sum.saturating_add(run.whole_ns));
            rows.iter().fold(whole, |left, row| left.saturating_sub(of(row)))
        };
        let (before, after) =
            (left(self.before, |row| row.before_total_ns), left(self.after, |row| row.after_total_ns));
        if before == 0 && after == 0 {
            return;
        }
        if let Some(rest) = rows.iter_mut().find(|row| row.what == What::Rest) {
            rest.before_total_ns = rest.before_total_ns.saturating_add(before);
            rest.after_total_ns = rest.after_total_ns.saturating_add(after);
            return;
        }
        rows.push(Change {
            what: What::Rest,
            subject: REST.to_owned(),
            subject_before: None,
            place: None,
            before_total_ns: before,
            after_total_ns: after,
            before_ns: 0,
            after_ns: 0,
            interval: None,
            counts: (0.0, 0.0),
            is_in: (before != 0, after != 0),
            why: Vec::new(),
        });
    }

    fn interval_of(&self, pair: &Pair<'_>) -> Option<Interval> {
        let samples = |side: &Side<'_>, runs: &[Summary]| {
            let assumed = side.iter().map(|(_, item)| between_runs(runs, item.kind, item.ns)).sum();
            sampled(runs, assumed, |run, at| {
                let items = side.iter().filter(|(of, _)| *of == run).map(|(_, item)| item);
                items.fold(0_i64, |sum, item| {
                    sum.saturating_add(at.map_or(item.ns, |at| item.stretches.get(at).copied().unwrap_or(0)))
                })
            })
        };
        self.between(&samples(&pair.before, self.before), &samples(&pair.after, self.after))
    }

    /// The times of both sides as a whole.
    fn whole(&self) -> (Sampled, Sampled) {
        let samples = |runs: &[Summary]| {
            let idle_ns = |run: &Summary| run.whole_ns.saturating_sub(run.busy_ns);
            let of = |run: &Summary| {
                between_runs(runs, Kind::Work, run.busy_ns) + between_runs(runs, Kind::Idle, idle_ns(run))
            };
            sampled(runs, runs.iter().map(of).sum(), |run, at| match at {
                Some(at) => runs[run].stretches.get(at).map_or(0, |part| part.ns),
                None => runs[run].whole_ns,
            })
        };
        (samples(self.before), samples(self.after))
    }

    fn between(&self, before: &Sampled, after: &Sampled) -> Option<Interval> {
        difference(&before.samples(), &after.samples(), self.options.confidence)
    }

    /// The interval of the whole.
    fn of_whole(&self, (before, after): &(Sampled, Sampled)) -> Option<Interval> {
        let is_one = self.before.len().min(self.after.len()) == 1;
        let by_ratio = is_one.then(|| ratio(&before.samples(), &after.samples(), self.options.confidence)).flatten();
        by_ratio.or_else(|| self.between(before, after))
    }

    /// What several runs of each side would have shown.
    fn shown(&self, (before, after): &(Sampled, Sampled)) -> Option<Interval> {
        let is_several = self.before.len().min(self.after.len()) > 1;
        is_several.then(|| pooled(&before.samples(), &after.samples(), self.options.confidence)).flatten()
    }

    /// Runs of each side that would tell this difference from none, or from one that counts.
    fn runs_needed(&self, whole: &(Sampled, Sampled), before_ns: f64, difference_ns: f64) -> Option<u32> {
        let min_change = self.options.min_change() * before_ns;
        let to_tolerance = self.options.tolerance() * before_ns - difference_ns.abs();
        let half = if difference_ns.abs() >= min_change { difference_ns.abs() } else { to_tolerance };
        let spreads = (spread(&whole.0.samples())?, spread(&whole.1.samples())?);
        runs_for(half, spreads, self.options.confidence, MOST_RUNS_NEEDED)
    }

    /// Asked of single steps only where each side has one run: several runs tell more.
    fn rank_p_value(&self) -> Option<f64> {
        let ([before], [after]) = (self.before, self.after) else { return None };
        rank_test(&before.periods_ns, &after.periods_ns)
    }

    fn assumption(&self) -> String {
        if self.before.len() > 1 && self.after.len() > 1 {
            return "runs of each side are independent of one another".to_owned();
        }
        let is_alone = |run: &Summary| run.unit == Some(Unit::Capture);
        if self.before.iter().chain(self.after).any(is_alone) {
            return format!(
                "one run per side doesn't show run-to-run variation: assumed from the variation of its operations, plus {} as measured elsewhere; several runs per side measure it",
                Share(BETWEEN_RUNS.host).rounded()
            );
        }
        format!(
            "one run per side doesn't show run-to-run variation: assumed from the variation within a run, plus {} of host time and {} of accelerator time as measured elsewhere; several runs per side measure it",
            Share(BETWEEN_RUNS.host).rounded(),
            Share(BETWEEN_RUNS.device)
        )
    }

    /// The part of the time of work that is in both, 0 to 1; 1 where there is no work.
    fn in_common(&self) -> f64 {
        let keys = |item: &Item| By::Op.keys(item);
        let work = |runs: &'s [Summary]| -> Side<'s> {
            all_items(runs).into_iter().filter(|(_, item)| item.kind == Kind::Work && !is_rest(item)).collect()
        };
        let (mut all, mut common) = (0.0, 0.0);
        for pair in pair(work(self.before), work(self.after), &keys) {
            let part = |side: &Side<'_>, units: u64| {
                side.iter().map(|(_, item)| item.ns as f64).sum::<f64>() / units.max(1) as f64
            };
            let ns = part(&pair.before, units_of(self.before)) + part(&pair.after, units_of(self.after));
            all += ns;
            common += if pair.before.is_empty() || pair.after.is_empty() { 0.0 } else { ns };
        }
        if all > 0.0 { common / all } else { 1.0 }
    }
}

/// Kernels of one template that are several rows get their whole names.
fn name_apart(rows: &mut [Change], pairs: &[Pair<'_>]) {
    let mut count: FxHashMap<String, usize> = FxHashMap::default();
    for row in rows.iter().filter(|row| row.what == What::Kernel) {
        *count.entry(row.subject.clone()).or_default() += 1;
    }
    for (row, pair) in rows.iter_mut().zip(pairs) {
        if row.what == What::Kernel && count.get(&row.subject).is_some_and(|count| *count > 1) {
            let side = if pair.after.is_empty() { &pair.before } else { &pair.after };
            let most = side.iter().max_by_key(|(_, item)| item.ns).and_then(|(_, item)| item.kernel.clone());
            row.subject = most.unwrap_or_default();
        }
    }
}

fn all_items(runs: &[Summary]) -> Side<'_> {
    runs.iter().enumerate().flat_map(|(run, summary)| summary.items.iter().map(move |item| (run, item))).collect()
}

fn units_of(runs: &[Summary]) -> u64 {
    runs.iter().fold(0, |sum, run| sum.saturating_add(run.units))
}

/// How much `ns` of the only run of a side would differ in another run, as a standard deviation, nanoseconds.
fn between_runs(runs: &[Summary], kind: Kind, ns: i64) -> f64 {
    // Suites are timed by the host, and of whole programs nothing shows how much they waver.
    let is_timed = |run: &Summary| matches!(run.unit, Some(Unit::Suite | Unit::Capture));
    let is_hosts = |run: &Summary| kind == Kind::Idle || is_timed(run) || run.is_on_processors();
    let part = if runs.iter().any(is_hosts) { BETWEEN_RUNS.host } else { BETWEEN_RUNS.device };
    part * ns.max(0) as f64
}

/// Times per unit of each run, or of each stretch of the only one, and of the side as a whole; `assumed_ns` is by how much
/// another run would differ from the only one.
fn sampled(runs: &[Summary], assumed_ns: f64, time: impl Fn(usize, Option<usize>) -> i64) -> Sampled {
    let per = |ns: i64, units: u64| ns as f64 / units.max(1) as f64;
    let units = units_of(runs);
    let between_runs = assumed_ns / units.max(1) as f64;
    let (values, of) = match runs {
        [only] if only.unit == Some(Unit::Capture) && only.origin.is_whole_program => {
            let value = per(time(0, None), only.units);
            // Where nothing runs often enough to show it, as much as runs differ by.
            let seen = value * only.wavering.filter(|part| part.is_finite()).unwrap_or(BETWEEN_RUNS.host);
            (vec![value], SampleOf::Alone { between_runs, seen })
        }
        [only] => (
            only.stretches.iter().enumerate().map(|(at, part)| per(time(0, Some(at)), part.units)).collect(),
            SampleOf::Stretches { between_runs },
        ),
        _ => (runs.iter().enumerate().map(|(at, run)| per(time(at, None), run.units)).collect(), SampleOf::Runs),
    };
    let sum = (0..runs.len()).fold(0_i64, |sum, run| sum.saturating_add(time(run, None)));
    Sampled { values, mean: per(sum, units), of }
}

/// Times per unit of one thing on one side.
#[derive(Debug)]
struct Sampled {
    values: Vec<f64>,
    mean: f64,
    of: SampleOf,
}

impl Sampled {
    fn samples(&self) -> Samples<'_> {
        Samples { values: &self.values, mean: self.mean, of: self.of }
    }
}

fn facts(runs: &[Summary]) -> SideFacts {
    let total_ns = runs.iter().fold(0_i64, |sum, run| sum.saturating_add(run.whole_ns));
    let busy_ns = runs.iter().fold(0_i64, |sum, run| sum.saturating_add(run.busy_ns));
    let units = units_of(runs);
    let devices = runs.iter().map(|run| run.devices).max().unwrap_or(0);
    SideFacts {
        names: runs.iter().map(|run| run.name.clone()).collect(),
        units,
        devices,
        total_ns,
        unit_ns: total_ns.div_euclid(i64::try_from(units.max(1)).unwrap_or(i64::MAX)),
        busy_share: (devices > 0 && total_ns > 0).then(|| busy_ns as f64 / total_ns as f64),
        steps: steps(runs),
    }
}

fn steps(runs: &[Summary]) -> Option<Steps> {
    let mut all: Vec<i64> = runs.iter().flat_map(|run| run.periods_ns.iter().copied()).collect();
    all.sort_unstable();
    // The smallest value that so many quarters of all are at most.
    let quarter = |quarters: usize| all[(all.len() * quarters).div_ceil(4).max(1) - 1];
    (!all.is_empty()).then(|| Steps {
        count: all.len() as u64,
        least_ns: all[0],
        quartile_ns: quarter(1),
        median_ns: quarter(2),
        third_quartile_ns: quarter(3),
        most_ns: all[all.len() - 1],
    })
}

fn measures(before: &[Summary], after: &[Summary]) -> Vec<MeasureChange> {
    let all = || before.iter().chain(after).flat_map(|run| &run.measures);
    let mut known: Vec<&Measure> = Vec::new();
    for measure in all() {
        if !known.iter().any(|other| other.key == measure.key) {
            known.push(measure);
        }
    }
    let mean = |runs: &[Summary], key: &str| {
        let values: Vec<f64> = runs
            .iter()
            .flat_map(|run| &run.measures)
            .filter(|found| found.key == key)
            .map(|found| found.value)
            .collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let change = |measure: &Measure| MeasureChange {
        key: measure.key.clone(),
        title: measure.title.clone(),
        unit: measure.unit.clone(),
        about: measure.about.clone(),
        before: mean(before, &measure.key),
        after: mean(after, &measure.key),
    };
    known.into_iter().map(change).collect()
}

/// Causes of the first run of each side.
fn found_causes(before: &[Summary], after: &[Summary]) -> Option<Vec<CauseChange>> {
    let of = |runs: &[Summary]| -> Option<Vec<FoundCause>> { runs.first()?.findings.clone() };
    Some(cause_changes(&of(before)?, &of(after)?))
}
