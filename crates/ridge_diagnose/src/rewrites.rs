//! Forms of the same result that cost less: patterns over the data flow of a compiled program, each priced on both sides.
//!
//! A pattern says what stands there and what would do; whether that is worth a word is decided by price alone.

use crate::case::Case;
use crate::finding::Place;
use crate::pricing::{Left, Rates, work_of};
use crate::programs::Program;
use ridge_hlo::{Flow, InstructionId};
pub(crate) use site::own_line;
use site::{Rewrite, Site, Slack};
use std::collections::BTreeMap;

mod axis;
mod backward;
mod banded;
mod batch;
mod branches;
mod chain;
mod cone;
mod constant;
mod convolved;
mod derivatives;
mod diagonal;
mod discarded;
mod drawn;
mod dropped;
mod extreme;
mod factored;
mod gathered;
mod gram;
mod hoist;
mod lengths;
mod log_sum;
mod lookup;
mod low_rank;
mod masked;
mod only;
mod pairwise;
mod positions;
mod power;
mod repeated;
mod round_trip;
pub(crate) mod sequence;
mod shifted;
mod singular;
mod site;
mod spectrum;
mod structured;
mod window;

/// A rewrite with its price.
pub(crate) struct Priced {
    pub(crate) rewrite: Rewrite,
    /// What it takes now, nanoseconds of the devices' time.
    pub(crate) ns: i64,
    /// The part of that which would be left.
    pub(crate) left: Left,
}

/// The user's line of the instruction `id` of a program.
pub(crate) fn place_of<'a>(case: &Case<'a>, program: &Program<'a>, id: InstructionId) -> Option<Place> {
    Site { case, program, module: program.module, flow: Flow::new(program.module) }.place(id)
}

/// The side of a choice in a program that takes longest, though it may not be kept.
pub(crate) fn longest_side<'a>(case: &Case<'a>, program: &Program<'a>) -> Option<branches::Side> {
    branches::longest(&Site { case, program, module: program.module, flow: Flow::new(program.module) })
}

/// The outermost loop around the instruction `id` whose iterations have nothing to do with one another.
pub(crate) fn independent_loop<'a>(case: &Case<'a>, program: &Program<'a>, id: InstructionId) -> Option<InstructionId> {
    batch::outermost(&Site { case, program, module: program.module, flow: Flow::new(program.module) }, id)
}

/// What each loop of a program does step by step, though it depends only on the sequence that the loop goes over.
pub(crate) fn sequence_layers<'a>(case: &Case<'a>, program: &Program<'a>) -> Vec<sequence::Layers> {
    sequence::layers(&Site { case, program, module: program.module, flow: Flow::new(program.module) })
}

/// The better forms of a program that save at least `least` of the judged time, what saves most first.
pub(crate) fn better_forms<'a>(case: &Case<'a>, program: &Program<'a>, least: f64) -> Vec<Priced> {
    let all: Vec<InstructionId> = program.ran.keys().copied().collect();
    if case.share(program.ns_of(&all)) < least {
        return Vec::new();
    }
    let site = Site { case, program, module: program.module, flow: Flow::new(program.module) };
    let found = [
        structured::find(&site),
        chain::find(&site),
        pairwise::find(&site),
        power::find(&site),
        spectrum::find(&site),
        hoist::find(&site),
        constant::find(&site).into_iter().collect(),
        window::find(&site),
        batch::find(&site),
        round_trip::find(&site),
        repeated::find(&site),
        banded::find(&site),
        convolved::find(&site),
        derivatives::find(&site),
        diagonal::find(&site),
        discarded::find(&site),
        drawn::find(&site),
        positions::find(&site),
        log_sum::find(&site),
        lengths::find(&site),
        lookup::find(&site),
        singular::find(&site),
        factored::find(&site),
        gathered::find(&site),
        shifted::find(&site),
        extreme::find(&site),
        dropped::find(&site),
        low_rank::find(&site),
        masked::find(&site),
        gram::find(&site),
    ];
    let mut merged: BTreeMap<&str, Rewrite> = BTreeMap::new();
    // One that costs more must not speak against others of its kind.
    for rewrite in found.into_iter().flatten().filter(|rewrite| price(&site, rewrite.clone()).is_some()) {
        match merged.get_mut(rewrite.does) {
            // One cause at several places is one finding, at the place that takes most.
            Some(known) => {
                known.better = known.better.plus(rewrite.better);
                if program.ns_of(&rewrite.old) > program.ns_of(&known.old) {
                    known.at = rewrite.at;
                }
                let more: Vec<InstructionId> = rewrite.old.into_iter().filter(|id| !known.old.contains(id)).collect();
                known.old.extend(more);
            }
            None => {
                merged.insert(rewrite.does, rewrite);
            }
        }
    }
    let priced = merged.into_values().filter_map(|rewrite| price(&site, rewrite));
    let worth = |priced: &Priced| {
        let part = 1.0 - (priced.left.least + priced.left.most) / 2.0;
        case.share(priced.ns) * part >= least && saved_each_ns(&site, priced, part) >= least_each_ns(&site, priced)
    };
    let mut found: Vec<Priced> = priced.filter(worth).collect();
    found.sort_by(|a, b| {
        let saved = |one: &Priced| one.ns as f64 * (2.0 - one.left.least - one.left.most);
        saved(b).total_cmp(&saved(a))
    });
    // What two patterns see in the same work is said once.
    let mut taken: Vec<InstructionId> = Vec::new();
    found.retain(|one| {
        let is_new = !one.rewrite.old.iter().any(|id| taken.contains(id));
        taken.extend(one.rewrite.old.iter().copied().filter(|_| is_new));
        is_new
    });
    found
}

/// What is usually saved each time, nanoseconds: of the instruction that runs least often, because a loop is one thing to mend.
fn saved_each_ns(site: &Site<'_, '_>, priced: &Priced, part: f64) -> f64 {
    let (program, old) = (site.program, &priced.rewrite.old);
    let runs = old.iter().map(|id| program.events(*id)).filter(|events| *events > 0).min();
    let usual: f64 = old.iter().map(|id| usual_ns(site, *id) * program.events(*id) as f64).sum();
    usual.min(priced.ns as f64) * part / runs.unwrap_or(1) as f64
}

/// The median length of an instruction's events, nanoseconds: on a processor that others use, a few are a thousand times as long.
fn usual_ns(site: &Site<'_, '_>, id: InstructionId) -> f64 {
    let trace = site.case.trace();
    let rows = site.case.rows_of(site.program.work(id).iter().map(|work| work.at));
    let mut lengths: Vec<i64> = rows.map(|row| trace.events.dur_ns[row as usize]).collect();
    lengths.sort_unstable();
    lengths.get(lengths.len() / 2).copied().unwrap_or(0) as f64
}

/// Less than this for each execution is no more than what measuring it adds, nanoseconds: on a processor the event of an operation
/// that is recorded has some hundred of its own, and its threads begin within microseconds.
fn least_each_ns(site: &Site<'_, '_>, priced: &Priced) -> f64 {
    let device = priced.rewrite.old.first().and_then(|id| site.program.work(*id).first()).map(|work| work.row.device);
    let least = if device.is_some_and(|device| site.case.is_processor(device)) { 5_000.0 } else { 1_000.0 };
    // As recorded: where steps are known to be faster without that, so is what is saved of them.
    least * site.case.known.step_times.map_or(1.0, |times| times.slowdown().max(1.0))
}

/// Below this part of what it takes now, a saving is within what the prices are wrong by.
const SURE: f64 = 0.15;

fn price(site: &Site<'_, '_>, rewrite: Rewrite) -> Option<Priced> {
    let ns = site.program.ns_of(&rewrite.old);
    let device = site.program.work(*rewrite.old.first()?).first()?.row.device;
    // A loop or a choice at which it stands has numbers of its own: what takes most says which ones are computed with.
    let arrays =
        rewrite.old.iter().copied().filter(|id| site.elements(*id) > 1.0 && site.instruction(*id).opcode != "while");
    let longest = arrays.max_by_key(|id| site.program.ns(*id)).unwrap_or(rewrite.at);
    let rates = Rates::of(site.case, device, site.number(longest))?;
    // What the cost model cannot count took at least no time.
    let known: Vec<InstructionId> =
        rewrite.old.iter().copied().filter(|id| work_of(site.case, site.program, &[*id]).is_some()).collect();
    let before: f64 =
        known.iter().filter_map(|id| work_of(site.case, site.program, &[*id])).map(|work| rates.ns(work)).sum();
    let better = rates.ns(rewrite.better);
    let left = match rewrite.slack {
        Slack::Alike => Left::of(ns as f64, before, better)?,
        Slack::Little => Left::near(ns as f64, better)?,
    };
    (1.0 - left.most >= SURE).then_some(Priced { rewrite, ns, left })
}
