//! Which line of the program the host was at: from looks at its Python, where no event says it.

use crate::case::{Case, Work};
use crate::finding::{Finding, Place};
use crate::words::short;
use ridge_analysis::{Looks, PythonLooks};
use ridge_trace::{PythonPlace, PythonStack};
use rustc_hash::FxHashMap;

/// Fewer looks than this say nothing.
const FEWEST: u64 = 3;
/// Pieces of work that are looked at for their line.
const MOST_ROWS: usize = 20_000;
/// A line inside of another stands for it where it has at least this part of its looks.
const MOST_OF: f64 = 0.4;
/// Where Python stands during a backward pass, and the part of looks that must be elsewhere to tell the place.
const BACKWARD: &str = "torch/autograd/graph.py:_engine_run_backward";
const LEAST_FORWARD: f64 = 0.2;

/// What looks agree on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen<'a> {
    /// The innermost line of the program's own that has most of the looks.
    pub(crate) place: Place,
    /// What is called there most often; empty where that is not known.
    pub(crate) call: &'a str,
    /// The function of a package that was found innermost most often; empty for the program's own.
    pub(crate) inside: &'a str,
    /// The looks that were at that line.
    pub(crate) looks: u64,
    /// All that were asked.
    pub(crate) of: u64,
}

impl<'a> Case<'a> {
    /// Looks while devices were idle for the reasons in `claim`, weighed by the part of each that is claimed, where `wanted` takes
    /// the stack.
    pub(crate) fn looks_in(&self, claim: &[(usize, f32)], wanted: impl Fn(&PythonStack) -> bool) -> Looks {
        let (looks, stacks) = (self.analysis.get::<PythonLooks>(), &self.trace().python.stacks);
        let mut found = Looks::default();
        for (at, part) in claim.iter().filter(|(_, part)| *part > 0.0) {
            for (stack, count) in looks.idle_in(*at).into_iter().flatten() {
                if stacks.get(*stack as usize).is_some_and(&wanted) {
                    *found.entry(*stack).or_default() += (*count as f64 * f64::from(*part)).ceil() as u64;
                }
            }
        }
        found
    }

    /// The line at which the host was while devices were idle for the reasons in `claim`; where too few looks fell into that, the one
    /// at which it was in the judged time.
    pub(crate) fn seen_in(&self, claim: &[(usize, f32)]) -> Option<Seen<'a>> {
        self.seen(&self.looks_in(claim, |_| true)).or_else(|| self.seen(self.analysis.get::<PythonLooks>().all()))
    }

    /// The line at which the host was during these events of one process.
    pub(crate) fn seen_during(&self, rows: impl IntoIterator<Item = u32>) -> Option<Seen<'a>> {
        let (trace, events) = (self.trace(), &self.trace().events);
        if trace.python.threads.is_empty() {
            return None;
        }
        let mut looks = Looks::default();
        for row in rows {
            let Some(track) = trace.track_of(row) else { continue };
            let (start, end) = (events.start_ns[row as usize], events.end_ns(row as usize));
            for stack in self.analysis.looks_between(track.process, start, end) {
                *looks.entry(stack).or_default() += 1;
            }
        }
        self.seen(&looks)
    }

    /// The same; where too few looks fell into these events, the line at which the process was from its first window on. For what a
    /// program does most of the time.
    pub(crate) fn seen_about(&self, rows: impl IntoIterator<Item = u32> + Clone) -> Option<Seen<'a>> {
        self.seen_during(rows.clone()).or_else(|| {
            let process = self.trace().track_of(rows.into_iter().next()?)?.process;
            let mut looks = Looks::default();
            for stack in self.analysis.looks_from_main(process) {
                *looks.entry(stack).or_default() += 1;
            }
            self.seen(&looks)
        })
    }

    /// The line at which the host was while the work ran, on a processor, where it waits for what it calls.
    pub(crate) fn line_by_looks(&self, work: &Work<'_>) -> Option<Place> {
        if !self.is_on_processors() {
            return None;
        }
        let seen = self.seen_during(self.rows_of([work.at]).take(MOST_ROWS))?;
        Some(Place { is_inferred: true, ..seen.place })
    }

    /// Whether a look found the program in a backward pass.
    pub(crate) fn is_in_backward(&self, stack: &PythonStack) -> bool {
        self.trace().strings.get(stack.innermost).starts_with(BACKWARD)
    }

    /// Whether a line is in a loop over a model's parameters, by what the loop around it goes over.
    pub(crate) fn is_over_parameters(&self, place: &Place) -> bool {
        let (strings, python) = (&self.trace().strings, &self.trace().python);
        let Some(file) = strings.find(&place.file) else { return false };
        let here = python.places.iter().filter(|found| found.file == file && found.line == place.line);
        let over: Vec<&str> = here.map(|found| strings.get(found.over)).filter(|over| !over.is_empty()).collect();
        over.iter().any(|over| ["param", "state_dict", "grads", "weights"].iter().any(|word| over.contains(word)))
    }

    /// The line that most of `looks` agree on: from the outermost frame inward, as long as one line has most of them.
    pub(crate) fn seen(&self, looks: &Looks) -> Option<Seen<'a>> {
        let python = &self.trace().python;
        let stack = |row: &u32| python.stacks.get(*row as usize);
        let mut at: Vec<(&'a PythonStack, u64)> =
            looks.iter().filter_map(|(row, count)| Some((stack(row)?, *count))).collect();
        let whole: u64 = at.iter().map(|(_, count)| *count).sum();
        // A backward pass follows what the program calls: where that was seen as well, it is the place.
        let is_forward = |stack: &PythonStack| !self.is_in_backward(stack);
        let forward: u64 = at.iter().filter(|(stack, _)| is_forward(stack)).map(|(_, count)| *count).sum();
        if forward >= FEWEST && forward as f64 >= LEAST_FORWARD * whole as f64 {
            at.retain(|(stack, _)| is_forward(stack));
        }
        let of = at.iter().map(|(_, count)| *count).sum();
        if of < FEWEST {
            return None;
        }
        let mut best: Option<&'a PythonPlace> = None;
        for depth in 0.. {
            let whole: u64 = at.iter().map(|(_, count)| *count).sum();
            let mut lines: FxHashMap<(u32, u32), (u64, &'a PythonPlace)> = FxHashMap::default();
            for (stack, count) in &at {
                if let Some(place) = frame(stack, depth).and_then(|place| python.places.get(place as usize)) {
                    lines.entry((place.file.0, place.line)).or_insert((0, place)).0 += count;
                }
            }
            let most = lines.into_iter().max_by_key(|(line, (count, _))| (*count, std::cmp::Reverse(*line)));
            let Some((line, (count, place))) = most else { break };
            // That a module calls its main function tells nothing.
            let is_known = best.is_some_and(|best| self.trace().strings.get(best.function) != "<module>");
            if is_known && (count as f64) < MOST_OF * whole as f64 {
                break;
            }
            best = Some(place);
            at.retain(|(stack, _)| {
                let place = frame(stack, depth).and_then(|place| python.places.get(place as usize));
                place.is_some_and(|place| (place.file.0, place.line) == line)
            });
        }
        let place = best?;
        let text = |id| self.trace().strings.get(id);
        let innermost_is_here = |stack: &PythonStack| {
            let first = stack.places.first().and_then(|row| python.places.get(*row as usize));
            first.filter(|first| (first.file, first.line) == (place.file, place.line))
        };
        let calls = at.iter().filter_map(|(stack, count)| Some((text(innermost_is_here(stack)?.call), *count)));
        let inside = at.iter().map(|(stack, count)| (text(stack.innermost), *count));
        Some(Seen {
            place: self.place_of_python(place),
            call: most_often(calls),
            inside: most_often(inside),
            looks: at.iter().map(|(_, count)| *count).sum(),
            of,
        })
    }
}

impl Finding {
    /// It is at the line that was seen, where no event named one; what is called there speaks for it.
    #[must_use]
    pub(crate) fn seen(self, seen: Option<&Seen<'_>>) -> Finding {
        let Some(seen) = seen.filter(|_| self.place.is_none()) else { return self };
        let finding = self.at(Some(seen.place.clone()));
        match (seen.call, seen.inside) {
            ("", "") => finding,
            (call, "") => finding.fact(format!("the line calls `{}`", short(call))),
            ("", inside) => finding.fact(format!("the line was mostly in `{}`", short(inside))),
            (call, inside) => finding.fact(format!("the line calls `{}`, mostly in `{}`", short(call), short(inside))),
        }
    }
}

/// The row of the place at `depth` of `stack`, counted from the outermost.
fn frame(stack: &PythonStack, depth: usize) -> Option<u32> {
    stack.places.len().checked_sub(depth + 1).map(|at| stack.places[at])
}

/// The text that comes most often.
fn most_often<'t>(all: impl Iterator<Item = (&'t str, u64)>) -> &'t str {
    let mut sums: FxHashMap<&str, u64> = FxHashMap::default();
    all.for_each(|(text, count)| *sums.entry(text).or_default() += count);
    sums.into_iter().max_by_key(|(text, count)| (*count, std::cmp::Reverse(*text))).map_or("", |(text, _)| text)
}
