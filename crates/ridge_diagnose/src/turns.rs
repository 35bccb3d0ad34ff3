//! Loops of the program's Python inside of its steps: one call could do the work of all turns, side by side where none needs the turns
//! before.

use crate::case::Case;
use crate::finding::Place;
use ridge_analysis::Looks;
use ridge_trace::{PythonPlace, PythonStack, StringId};
use rustc_hash::FxHashMap;

/// Fewer looks tell no part.
const FEWEST: u64 = 10;
/// With so many looks, those in the judged time suffice.
const ENOUGH: u64 = 40;
/// A loop inside of another is the one to change where it has at least this part of its looks.
const MOST_OF: f64 = 0.7;
/// What loops over whole batches, files or parameters go over: one call of all would be another program.
const WHOLE: [&str; 12] =
    ["loader", "batch", "epoch", "split(", "chunk", "param", "shard", "fold", "seed", "trial", "path", "file"];

/// A loop, as looks found it.
#[derive(Debug)]
pub(crate) struct LoopSeen<'a> {
    /// What it goes over.
    pub(crate) over: &'a str,
    /// Whether none of its turns needs the turns before.
    pub(crate) is_apart: bool,
    /// The line in it that most looks found.
    pub(crate) place: Place,
    /// The looks at it, and the part of all that were outside of backward passes.
    pub(crate) looks: Looks,
    pub(crate) share: f64,
}

impl<'a> Case<'a> {
    /// The loop inside of others with most of the time whose turns do not need each other.
    pub(crate) fn loop_apart(&self) -> Option<LoopSeen<'a>> {
        self.loop_where(|place| place.is_apart)
    }

    /// The same of all loops.
    pub(crate) fn inner_loop(&self) -> Option<LoopSeen<'a>> {
        self.loop_where(|place| place.over.0 != 0)
    }

    /// Whether looks found a line, and never in a loop of the program: set-up, which runs once.
    pub(crate) fn is_run_once(&self, at: &Place) -> bool {
        let python = &self.trace().python;
        let places = |stack: &PythonStack| -> Vec<&PythonPlace> {
            stack.places.iter().filter_map(|row| python.places.get(*row as usize)).collect()
        };
        let is_here = |place: &&&PythonPlace| {
            let found = self.place_of_python(place);
            (&found.file, found.line) == (&at.file, at.line)
        };
        let mut stacks =
            python.stacks.iter().map(places).filter(|places| places.iter().any(|place| is_here(&place))).peekable();
        stacks.peek().is_some() && stacks.all(|places| places.iter().all(|place| place.loops == 0))
    }

    fn loop_where(&self, is_wanted: impl Fn(&PythonPlace) -> bool) -> Option<LoopSeen<'a>> {
        let forward = self.forward_looks();
        let all: u64 = forward.values().sum();
        let stacks = &self.trace().python.stacks;
        let mut loops: FxHashMap<(StringId, StringId, StringId), (Looks, usize)> = FxHashMap::default();
        for (row, count) in &forward {
            let Some(stack) = stacks.get(*row as usize) else { continue };
            for (depth, place) in self.loops_of(stack, &is_wanted) {
                let (looks, outermost) = loops.entry((place.file, place.function, place.over)).or_default();
                *looks.entry(*row).or_default() = *count;
                *outermost = (*outermost).max(depth);
            }
        }
        let count = |looks: &Looks| looks.values().sum::<u64>();
        let most = loops.values().map(|(looks, _)| count(looks)).max()?;
        let is_most = |looks: &Looks| count(looks) as f64 >= MOST_OF * most as f64;
        // Of those with most looks the innermost.
        let candidates = loops.into_iter().filter(|(_, (looks, _))| is_most(looks));
        let ((file, function, over), (looks, _)) =
            candidates.min_by_key(|(key, (looks, depth))| (*depth, std::cmp::Reverse(count(looks)), *key))?;
        if count(&looks) < FEWEST {
            return None;
        }
        let is_here = |place: &&PythonPlace| (place.file, place.function, place.over) == (file, function, over);
        let mut lines: FxHashMap<u32, (u64, &PythonPlace)> = FxHashMap::default();
        for (row, count) in &looks {
            let places = stacks.get(*row as usize).into_iter().flat_map(|stack| &stack.places);
            let place = places.filter_map(|row| self.trace().python.places.get(*row as usize)).find(is_here);
            place.into_iter().for_each(|place| lines.entry(place.line).or_insert((0, place)).0 += count);
        }
        let (_, place) = lines.into_values().max_by_key(|(count, place)| (*count, std::cmp::Reverse(place.line)))?;
        let share = count(&looks) as f64 / all.max(1) as f64;
        Some(LoopSeen {
            over: self.trace().strings.get(over),
            is_apart: place.is_apart,
            place: self.place_of_python(place),
            looks,
            share,
        })
    }

    /// Looks outside of backward passes; where the judged time has too few, those of the whole run without its imports.
    fn forward_looks(&self) -> Looks {
        let trace = self.trace();
        let judged = self.looks_with(|stack| !self.is_in_backward(stack));
        if judged.values().sum::<u64>() >= ENOUGH {
            return judged;
        }
        let is_import = |stack: &PythonStack| trace.strings.get(stack.calls).starts_with("<frozen importlib");
        let is_wanted = |stack: &PythonStack| !is_import(stack) && !self.is_in_backward(stack);
        let main = trace.python.threads.iter().filter(|thread| thread.is_main);
        let mut found = Looks::default();
        for row in main.flat_map(|thread| &thread.stack) {
            if trace.python.stacks.get(*row as usize).is_some_and(is_wanted) {
                *found.entry(*row).or_default() += 1;
            }
        }
        found
    }

    /// The places of a stack in loops, each with its depth from the innermost; the outermost loop is the program's own steps.
    fn loops_of(&self, stack: &PythonStack, is_wanted: impl Fn(&PythonPlace) -> bool) -> Vec<(usize, &'a PythonPlace)> {
        let (python, strings) = (&self.trace().python, &self.trace().strings);
        let places: Vec<&PythonPlace> =
            stack.places.iter().filter_map(|row| python.places.get(*row as usize)).collect();
        let is_whole = |over: &str| WHOLE.iter().any(|word| over.contains(word));
        let is_inner = |at: usize| places[at].loops > 1 || places[at + 1..].iter().any(|place| place.loops > 0);
        let found = places.iter().enumerate().filter(|(at, place)| is_wanted(place) && is_inner(*at));
        found.filter(|(_, place)| !is_whole(strings.get(place.over))).map(|(at, place)| (at, *place)).collect()
    }
}
