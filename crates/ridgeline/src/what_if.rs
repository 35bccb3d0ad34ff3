//! What changes of a capture would save: names to rows, and the replay's answer as facts.

mod device;

pub use device::OtherDevice;

use crate::error::OpenError;
use crate::session::Session;
use ridge_replay::{Action, Baseline, Basis, Edit, Options, PerStep, Prediction, Replay, Retimed};
use ridge_table::{Basis as Source, Columns, Fact, FactValue, Note, Section, Table, Unit};
use ridge_trace::{EventKind, NONE, Trace, TrackKind};
use ridge_units::Nanos;

/// A change of the capture: what it concerns, by name, and what happens to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// A name in which `*` stands for any letters and `?` for one.
    pub pattern: String,
    /// What happens to all that the pattern names.
    pub effect: Effect,
}

/// What a [`Change`] does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Effect {
    /// Kernels, copies or operations are gone; host calls where no device work has the name.
    Remove,
    /// They are this many times as fast.
    Faster(f32),
    /// The host's own time within ranges of that name passes this many times as fast.
    HostFaster(f32),
    /// Calls return without waiting for the device.
    NoWait,
    /// No call waits for the copies of that name.
    Overlap,
}

impl Change {
    /// Reads `NAME=TIMES` of work that is so many times as fast: `gemm*=2x`, `gemm*=2`.
    ///
    /// # Errors
    /// What was expected and found, as a sentence without a period.
    pub fn speed(text: &str) -> Result<(String, f32), String> {
        let (name, times) = text.rsplit_once('=').ok_or("expected NAME=TIMES, as in `gemm*=2x`")?;
        let times: f32 =
            times.trim_end_matches('x').parse().map_err(|_| format!("expected a number, found `{times}`"))?;
        if !(times.is_finite() && (1e-3..=1e6).contains(&times)) {
            return Err(format!("expected 0.001 to 1000000 times, found {times}"));
        }
        Ok((name.to_owned(), times))
    }

    /// Reads an option of `ridgeline what-if` without its dashes: `remove copy*`, `scale gemm*=2x`, `scale-host load*=4x`,
    /// `no-wait cudaStreamSynchronize`, `overlap transfers`.
    ///
    /// # Errors
    /// As for [`Change::speed`].
    pub fn read(text: &str) -> Result<Change, String> {
        let (word, rest) = text.trim().split_once(' ').ok_or_else(|| format!("expected {EFFECTS}, found `{text}`"))?;
        let rest = rest.trim();
        let faster = |effect: fn(f32) -> Effect| Change::speed(rest).map(|(name, times)| (name, effect(times)));
        let (pattern, effect) = match word {
            "remove" => (rest.to_owned(), Effect::Remove),
            "scale" => faster(Effect::Faster)?,
            "scale-host" => faster(Effect::HostFaster)?,
            "no-wait" => (rest.to_owned(), Effect::NoWait),
            "overlap" if rest == "transfers" => ("*".to_owned(), Effect::Overlap),
            _ => return Err(format!("expected {EFFECTS}, found `{text}`")),
        };
        Ok(Change { pattern, effect })
    }
}

/// What [`Change::read`] reads.
const EFFECTS: &str =
    "`remove NAME`, `scale NAME=TIMES`, `scale-host NAME=TIMES`, `no-wait NAME` or `overlap transfers`";

impl Effect {
    fn action(self) -> Action {
        match self {
            Effect::Remove => Action::Drop,
            Effect::Faster(times) => Action::Scale(1.0 / times),
            Effect::HostFaster(times) => Action::HostScale(1.0 / times),
            Effect::NoWait => Action::Unsync,
            Effect::Overlap => Action::Asynchronous,
        }
    }

    fn words(self) -> String {
        match self {
            Effect::Remove => "removed".to_owned(),
            Effect::Faster(times) => format!("{times} times as fast"),
            Effect::HostFaster(times) => format!("host {times} times as fast"),
            Effect::NoWait => "without waiting".to_owned(),
            Effect::Overlap => "not waited for".to_owned(),
        }
    }
}

/// What changes would save together.
#[derive(Debug, Clone)]
pub struct WhatIf {
    /// The prediction, and how well the replay explains the unchanged capture.
    pub sections: Vec<Section>,
    /// Each change with what it concerned.
    pub changes: Table,
    /// The work on the other device, where one was asked for.
    pub on_target: Option<Table>,
    /// What to know beside it.
    pub notes: Vec<Note>,
}

/// Changes, what they would save, and when everything would have run with them.
#[derive(Debug, Clone)]
pub struct Changed {
    /// What they would save.
    pub answer: WhatIf,
    /// When everything would have run; else why nothing may be shown, a sentence without a period.
    pub retimed: Result<Retimed, String>,
}

impl Session {
    /// What `changes` would save together, and when everything would have run with them.
    pub fn changed(&self, changes: &[Change]) -> Changed {
        let trace = self.trace();
        let replay = Replay::new(trace, &Options::default());
        let edits: Vec<Edit> = changes.iter().map(|change| edit(trace, change)).collect();
        let sections = vec![prediction(&replay.apply(&edits)), baseline(replay.baseline())];
        let answer = WhatIf { sections, changes: table(trace, changes, &edits), on_target: None, notes: Vec::new() };
        Changed { answer, retimed: replay.retimed(&edits).map_err(|reason| reason.to_string()) }
    }

    /// What `changes` would save together, on `device` where one is given.
    ///
    /// # Errors
    /// [`OpenError`] where no data sheet has the name of a device, or none is of a device of the capture.
    pub fn what_if(&self, changes: &[Change], device: Option<&OtherDevice>) -> Result<WhatIf, OpenError> {
        let trace = self.trace();
        let on_target = device.map(|device| device::on_target(self, device)).transpose()?;
        let replay = Replay::new(trace, &Options::default());
        let edits: Vec<Edit> = changes.iter().map(|change| edit(trace, change)).collect();
        let (mut sections, mut notes) = (Vec::new(), Vec::new());
        let table = table(trace, changes, &edits);
        let mut work = None;
        if let Some((found, others)) = on_target {
            let (fast, slow) =
                (device::edits(&found, &edits, device::End::Low), device::edits(&found, &edits, device::End::High));
            let (fast, slow) = rayon::join(|| replay.apply(&fast), || replay.apply(&slow));
            sections.push(prediction(&device::between(fast, slow)));
            notes = device::notes(&found, &others);
            work = Some(device::table(&found));
        } else if !changes.is_empty() {
            sections.push(prediction(&replay.apply(&edits)));
        }
        sections.push(baseline(replay.baseline()));
        Ok(WhatIf { sections, changes: table, on_target: work, notes })
    }
}

fn edit(trace: &Trace, change: &Change) -> Edit {
    let names = Names::of(trace, &change.pattern);
    let on_device = |row: u32| EventKind::from_byte_is_work(trace.events.kind[row as usize]);
    let is_copy = |row: u32| trace.events.kind(row as usize).is_copy();
    let work = |wanted: &dyn Fn(u32) -> bool| rows(trace, &names, |kind| kind != TrackKind::HostThread, wanted);
    let host = || rows(trace, &names, |kind| kind == TrackKind::HostThread, &|_| true);
    let rows = match change.effect {
        Effect::Remove | Effect::Faster(_) => {
            Some(work(&on_device)).filter(|rows| !rows.is_empty()).unwrap_or_else(host)
        }
        Effect::Overlap => work(&is_copy),
        Effect::HostFaster(_) | Effect::NoWait => host(),
    };
    Edit { rows, action: change.effect.action() }
}

/// What a pattern names.
struct Names {
    /// Texts of the capture, by id.
    texts: Vec<bool>,
    /// Kinds of copies, by their byte: each tool calls them otherwise, and `copy*` means them all.
    kinds: Vec<bool>,
}

impl Names {
    fn of(trace: &Trace, pattern: &str) -> Names {
        let kind = |byte: u8| {
            let kind = EventKind::from_byte(byte);
            kind.is_copy() && matches(pattern, kind.name())
        };
        Names {
            texts: trace.strings.iter().map(|name| matches(pattern, name)).collect(),
            kinds: (0..=u8::MAX).map(kind).collect(),
        }
    }
}

/// Rows on tracks of a kind whose name, that of their operation or of their kind of copy is among `names`.
fn rows(trace: &Trace, names: &Names, on: impl Fn(TrackKind) -> bool, wanted: &dyn Fn(u32) -> bool) -> Vec<u32> {
    let events = &trace.events;
    let Names { texts: names, kinds } = names;
    let is_named = |row: u32| {
        let op = events.op[row as usize];
        let of_op = || trace.operations.get(op as usize).is_some_and(|op| names[op.name.0 as usize]);
        names[events.name[row as usize] as usize]
            || kinds[events.kind[row as usize] as usize]
            || (op != NONE && of_op())
    };
    let tracks = trace.tracks.iter().filter(|track| track.kind != TrackKind::Derived && on(track.kind));
    tracks.flat_map(|track| track.rows.clone()).filter(|row| is_named(*row) && wanted(*row)).collect()
}

/// Whether `name` has the form of `pattern`.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut from) = (0, 0);
    // Where the last star was, and how far it reaches.
    let mut star: Option<(usize, usize)> = None;
    while from < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(letter) if *letter == b'?' || *letter == name[from] => (at, from) = (at + 1, from + 1),
            _ => {
                let Some((before, reach)) = star else { return false };
                star = Some((before, reach + 1));
                (at, from) = (before + 1, reach + 1);
            }
        }
    }
    pattern[at..].iter().all(|letter| *letter == b'*')
}

fn table(trace: &Trace, changes: &[Change], edits: &[Edit]) -> Table {
    let rows: Vec<(&Change, &Edit)> = changes.iter().zip(edits).collect();
    let time =
        |edit: &Edit| edit.rows.iter().fold(0_i64, |sum, row| sum.saturating_add(trace.events.dur_ns[*row as usize]));
    Columns::over(&rows)
        .text("pattern", "Pattern", "the names that are changed", |row| row.0.pattern.clone())
        .key()
        .text("effect", "Change", "the effect", |row| row.0.effect.words())
        .count("events", "Events", "events with a matching name or operation name", Source::Measured, |row| {
            row.1.rows.len() as u64
        })
        .nanos("total_ns", "Total", "sum of their durations", Source::Measured, |row| time(row.1))
        .table("changes", "Changes")
}

fn fact(key: &str, title: &str, value: FactValue, definition: &str) -> Fact {
    let is_words = matches!(value, FactValue::Text(_));
    let fact = Fact::new(key, title, value, definition);
    if is_words { fact } else { fact.basis(Source::Modelled) }
}

fn prediction(found: &Prediction) -> Section {
    let mut facts = vec![fact(
        "saves",
        "Saves",
        FactValue::Text(found.refused.map_or_else(|| sentence(found), |why| format!("cannot tell: {why}"))),
        "saving of all changes together; overlapping changes count once",
    )];
    let basis = found.refused.map_or(found.basis.name(), |why| why.name());
    facts.push(fact(
        "basis",
        "Confidence",
        FactValue::Text(basis.to_owned()),
        "quantitative: the numbers are valid; qualitative: only the direction is; otherwise the reason for no prediction",
    ));
    if found.refused.is_none() && found.basis == Basis::Amount {
        facts.extend(amounts(found));
    }
    Section { title: "Prediction".to_owned(), facts }
}

fn amounts(found: &Prediction) -> Vec<Fact> {
    let of_wall = |key: &str, title: &str, ns: i64| {
        let definition = "of the time from the first call to the last event; below 0 it costs time";
        let share = (found.wall_ns > 0).then(|| ns as f64 / found.wall_ns as f64);
        fact(key, title, FactValue::Nanos(ns), definition).share(share)
    };
    let mut facts = vec![
        of_wall("saving_low_ns", "At least", found.low_ns),
        of_wall("saving_high_ns", "At most", found.high_ns),
        Fact::observed(
            "wall_ns",
            "Wall time",
            FactValue::Nanos(found.wall_ns),
            "from the first call or work to the last",
        ),
    ];
    if let Some(PerStep { captured_ns, low_ns, high_ns }) = found.per_step {
        let of_step = "median over the marked steps but the first";
        facts.extend([
            fact("step_saving_low_ns", "At least per step", FactValue::Nanos(low_ns), of_step),
            fact("step_saving_high_ns", "At most per step", FactValue::Nanos(high_ns), of_step),
            Fact::observed("step_ns", "Median step", FactValue::Nanos(captured_ns), of_step),
        ]);
    }
    facts
}

/// The range in words, with no more digits than it deserves.
fn sentence(found: &Prediction) -> String {
    let (low, high, whole) = match found.per_step {
        Some(step) => (step.low_ns, step.high_ns, step.captured_ns),
        None => (found.low_ns, found.high_ns, found.wall_ns),
    };
    let unit = if found.per_step.is_some() { " per step" } else { "" };
    match () {
        () if high <= 0 && low >= 0 => "nothing".to_owned(),
        () if found.basis == Basis::Direction && low >= 0 => "time; the amount is unknown".to_owned(),
        () if found.basis == Basis::Direction => "nothing for sure".to_owned(),
        () if high < 0 && coarse(low) == coarse(high) => {
            format!("nothing; it costs about {} of {}{unit}", coarse(-low), Nanos(whole))
        }
        () if high < 0 => format!("nothing; it costs {} to {} of {}{unit}", coarse(-high), coarse(-low), Nanos(whole)),
        () if coarse(low) == coarse(high) => format!("about {} of {}{unit}", coarse(high), Nanos(whole)),
        () => format!("{} to {} of {}{unit}", coarse(low), coarse(high), Nanos(whole)),
    }
}

/// A time with two digits that matter.
fn coarse(ns: i64) -> Nanos {
    let unit = 10_i64.pow(ns.unsigned_abs().max(1).ilog10().saturating_sub(1));
    Nanos(ns.saturating_add(unit / 2).div_euclid(unit) * unit)
}

fn share(key: &str, title: &str, share: f64, definition: &str) -> Fact {
    fact(key, title, FactValue::Real(share, Unit::Share), definition)
}

/// How far the replay misses the capture, and what its longest path consists of.
fn replayed(found: &Baseline) -> [Fact; 6] {
    [
        share(
            "class_error",
            "Replay error (median latencies)",
            found.class_error,
            "the unchanged capture replayed with the median latency of each kind, compared with its wall time; below 0 the replay is shorter",
        ),
        fact(
            "own_error_ns",
            "Replay error (recorded latencies)",
            FactValue::Nanos(found.own_error_ns),
            "the largest difference of any event; 0 unless the replay is broken",
        ),
        share(
            "path_host",
            "Critical path: host",
            found.path.host,
            "share of the critical path that is the host between calls",
        ),
        share("path_calls", "Critical path: calls", found.path.calls, "share of the critical path that is calls"),
        share(
            "path_device",
            "Critical path: device",
            found.path.device,
            "share of the critical path that is device work",
        ),
        share(
            "path_waits",
            "Critical path: waits",
            found.path.waits,
            "share of the critical path that is latencies and waits",
        ),
    ]
}

fn baseline(found: &Baseline) -> Section {
    let mut facts = Vec::new();
    // Where nothing can be reached, a small error and a path of waits would look like answers.
    if !found.refused.iter().any(|why| why.is_out_of_reach()) {
        facts.extend(replayed(found));
    }
    facts.extend([
        share(
            "rigid_share",
            "Out of reach",
            found.rigid_share,
            "share of the wall time that no change reaches: it depends on waits that the capture doesn't explain",
        ),
        Fact::observed(
            "unlinked_share",
            "Work without a launch",
            FactValue::Real(found.unlinked_share, Unit::Share),
            "share of device time without a launch call in the capture",
        ),
        Fact::observed("steps", "Steps", FactValue::Count(found.steps as u64), "marked steps on a thread with calls"),
    ]);
    let refused: Vec<String> = found.refused.iter().map(ToString::to_string).collect();
    if !refused.is_empty() {
        facts.push(fact(
            "refused",
            "No prediction",
            FactValue::Text(refused.join("; ")),
            "the reason why nothing can be predicted",
        ));
    }
    Section { title: "Replay of the unchanged capture".to_owned(), facts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, expected) in [
            ("copy*", "copy.1", true),
            ("copy*", "a copy", false),
            ("*gemm*", "void gemm<float>", true),
            ("k?", "k1", true),
            ("k?", "k", false),
            ("*a*b", "xaxbxab", true),
            ("*", "", true),
            ("", "x", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn changes_are_read_as_options_are() {
        let read = |text: &str| match Change::read(text) {
            Ok(change) => format!("{}: {}", change.pattern, change.effect.words()),
            Err(why) => why,
        };
        for (text, expected) in [
            ("remove copy *", "copy *: removed"),
            ("scale a=b=2x", "a=b: 2 times as fast"),
            ("scale-host load*=0.5", "load*: host 0.5 times as fast"),
            ("no-wait *Sync*", "*Sync*: without waiting"),
            ("overlap transfers", "*: not waited for"),
            ("scale a", "expected NAME=TIMES, as in `gemm*=2x`"),
            ("scale a=0", "expected 0.001 to 1000000 times, found 0"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        assert!(["remove", "drop x", "overlap x"].iter().all(|text| Change::read(text).is_err()));
    }

    #[test]
    fn times_have_two_digits() {
        for (ns, expected) in [(1_234_567, "1.2 ms"), (176_400_000, "180 ms"), (0, "0 ns"), (-5_670, "-5.7 µs")] {
            assert_eq!(coarse(ns).to_string(), expected);
        }
    }
}
