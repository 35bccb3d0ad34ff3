//! Whether the threads of a warp may part in a kernel's branches, from its PTX: what each condition is made of.
//!
//! A register is followed from what it is made of: the thread's own number, numbers that threads load from places of their own, or
//! neither. A condition of neither is the same for a whole warp. How often threads really part is not in the code.

use rustc_hash::FxHashMap;

/// The conditional branches of one kernel, by what decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Branches {
    /// The same for every thread of a warp.
    pub uniform: u32,
    /// The thread's own number, as at the edge of an array.
    pub by_thread: u32,
    /// Numbers that each thread loads for itself.
    pub by_data: u32,
    /// Branches of the latter that go back: loops that each thread leaves when its own numbers say so.
    pub loops_by_data: u32,
}

/// What a register depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Source {
    /// The thread's own number.
    thread: bool,
    /// What a thread loads from a place of its own.
    data: bool,
    /// It is the number itself, in the first dimension of the block.
    is_number: bool,
}

impl Source {
    fn with(self, other: Source) -> Source {
        Source { thread: self.thread || other.thread, data: self.data || other.data, is_number: false }
    }
}

/// Threads of a warp have the same number but for these bits.
const WITHIN_A_WARP: u64 = 31;

/// Rounds after which a register's sources are taken as they are; a chain through loops needs a round for each turn.
const MOST_ROUNDS: usize = 64;

/// Branches by the kernels' names, from the text of one PTX program.
pub fn branches(text: &str) -> FxHashMap<String, Branches> {
    let mut found = FxHashMap::default();
    let (mut kernel, mut depth, mut lines) = (None, 0_u32, Vec::new());
    for line in text.lines().map(str::trim) {
        if let Some((_, rest)) = line.split_once(".entry ") {
            (kernel, depth) = (rest.split(['(', ' ']).next().map(str::to_owned), 0);
            lines.clear();
        }
        if kernel.is_none() {
            continue;
        }
        match line {
            "{" => depth += 1,
            "}" if depth <= 1 => found.extend(kernel.take().map(|name| (name, of_kernel(&lines)))),
            "}" => depth -= 1,
            _ if depth > 0 => lines.push(line),
            _ => {}
        }
    }
    found
}

fn of_kernel(lines: &[&str]) -> Branches {
    let labels: FxHashMap<&str, usize> =
        lines.iter().enumerate().filter_map(|(at, line)| Some((line.strip_suffix(':')?, at))).collect();
    let steps: Vec<Step<'_>> = lines.iter().enumerate().filter_map(|(at, line)| Step::of(at, line)).collect();
    let mut sources: FxHashMap<&str, Source> = FxHashMap::default();
    for _ in 0..MOST_ROUNDS {
        let mut is_settled = true;
        for step in &steps {
            let source = step.source(&sources);
            for made in &step.made {
                let known = sources.entry(made).or_default();
                let is_first = *known == Source::default();
                let both = if is_first { source } else { known.with(source) };
                let both = if *known == source { source } else { both };
                is_settled &= both == *known;
                *known = both;
            }
        }
        if is_settled {
            break;
        }
    }
    let mut all = Branches::default();
    for step in &steps {
        let Some(predicate) = step.predicate.filter(|_| step.operation.split('.').next() == Some("bra")) else {
            continue;
        };
        let source = sources.get(predicate).copied().unwrap_or_default();
        let target = step.rest.trim().trim_end_matches(';').trim();
        let goes_back = labels.get(target).is_some_and(|label| *label < step.at);
        match source {
            Source { data: true, .. } => {
                all.by_data += 1;
                all.loops_by_data += u32::from(goes_back);
            }
            Source { thread: true, .. } => all.by_thread += 1,
            _ => all.uniform += 1,
        }
    }
    all
}

/// One instruction.
struct Step<'t> {
    /// Its line in the kernel.
    at: usize,
    predicate: Option<&'t str>,
    operation: &'t str,
    rest: &'t str,
    /// Registers that it writes, and those that it reads.
    made: Vec<&'t str>,
    read: Vec<&'t str>,
}

impl<'t> Step<'t> {
    fn of(at: usize, line: &'t str) -> Option<Step<'t>> {
        let (predicate, text) = match line.strip_prefix('@') {
            Some(rest) => {
                let (predicate, text) = rest.split_once(char::is_whitespace)?;
                (Some(predicate.trim_start_matches('!')), text.trim_start())
            }
            None => (None, line),
        };
        let (operation, rest) = text.split_once(char::is_whitespace).unwrap_or((text.trim_end_matches(';'), ""));
        if !operation.starts_with(|c: char| c.is_ascii_lowercase()) || operation.ends_with(':') {
            return None;
        }
        let kind = operation.split('.').next().unwrap_or_default();
        let makes_none =
            matches!(kind, "st" | "red" | "bra" | "bar" | "barrier" | "ret" | "membar" | "fence" | "prefetch");
        // What is written comes first, as one register, as several in braces, or as a pair of predicates.
        let rest = rest.trim_start();
        let end = if makes_none {
            0
        } else if rest.starts_with('{') {
            rest.find('}').unwrap_or(0)
        } else {
            rest.find(',').unwrap_or(rest.len())
        };
        let (made, read) = rest.split_at(end);
        let mut read: Vec<&str> = registers(read).collect();
        read.extend(predicate.filter(|_| kind != "bra"));
        Some(Step { at, predicate, operation, rest, made: registers(made).collect(), read })
    }

    fn source(&self, sources: &FxHashMap<&str, Source>) -> Source {
        let all = |registers: &[&str]| {
            registers.iter().map(|name| of_register(name, sources)).fold(Source::default(), Source::with)
        };
        let read = all(&self.read);
        let mut parts = self.operation.split('.');
        match parts.next().unwrap_or_default() {
            // A whole warp gets the same answer.
            "vote" | "match" | "redux" | "elect" => Source::default(),
            "atom" => Source { data: true, ..Source::default() },
            "ld" | "ldu" | "ldmatrix" if parts.next() != Some("param") => {
                Source { thread: false, data: read.thread || read.data, is_number: false }
            }
            "mov" | "cvt" if self.read.len() == 1 => of_register(self.read[0], sources),
            kind @ ("shr" | "and" | "div") => {
                let is_number = self.read.iter().any(|name| of_register(name, sources).is_number);
                if is_number && self.number().is_some_and(|number| is_same_in_a_warp(kind, number)) {
                    return Source::default();
                }
                read
            }
            _ => read,
        }
    }

    /// The number that is its last operand.
    fn number(&self) -> Option<u64> {
        let last = self.rest.rsplit(',').next()?.trim().trim_end_matches(';').trim();
        last.parse::<i64>().ok().map(i64::cast_unsigned)
    }
}

/// Whether an operation with `number` leaves nothing of a thread's number that differs in its warp.
fn is_same_in_a_warp(kind: &str, number: u64) -> bool {
    match kind {
        "shr" => number >= 5,
        "div" => number > 0 && number.is_multiple_of(WITHIN_A_WARP + 1),
        _ => number & WITHIN_A_WARP == 0,
    }
}

fn of_register(name: &str, sources: &FxHashMap<&str, Source>) -> Source {
    match name {
        "%tid.x" => Source { thread: true, data: false, is_number: true },
        "%tid.y" | "%tid.z" | "%laneid" | "%lanemask_lt" => Source { thread: true, ..Source::default() },
        _ => sources.get(name).copied().unwrap_or_default(),
    }
}

/// The registers that a text names.
fn registers(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '%' | '_' | '.');
    text.split(move |c| !is_part(c)).filter(|word| word.len() > 1 && word.starts_with('%'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(body: &str) -> Branches {
        let text = format!(".visible .entry k(\n)\n{{\n{body}\nret;\n}}\n");
        branches(&text)["k"]
    }

    #[test]
    fn a_condition_is_followed_to_what_it_is_made_of() {
        let edge = "mov.u32 %r1, %tid.x;\nsetp.gt.u32 %p1, %r1, 9;\n@%p1 bra $L;\n$L:";
        assert_eq!(one(edge), Branches { by_thread: 1, ..Branches::default() });
        // The number of the warp in its block is the same for its threads.
        let warp = "mov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;\nsetp.eq.s32 %p1, %r2, 0;\n@!%p1 bra $L;\n$L:";
        assert_eq!(one(warp), Branches { uniform: 1, ..Branches::default() });
        let block = "mov.u32 %r1, %ctaid.x;\nld.global.b32 %r2, [%r1];\nsetp.eq.s32 %p1, %r2, 0;\n@%p1 bra $L;\n$L:";
        assert_eq!(one(block), Branches { uniform: 1, ..Branches::default() });
        // A search: what is loaded decides what is loaded next, and when to end.
        let search = "mov.u32 %r1, %tid.x;\n$L:\nld.global.v2.b32 {%r2, %r3}, [%r1+4];\nadd.s32 %r1, %r3, 1;\nsetp.ne.s32 %p1, %r2, 0;\n@%p1 bra $L;";
        assert_eq!(one(search), Branches { by_data: 1, loops_by_data: 1, ..Branches::default() });
        // A warp votes, so that all go the same way.
        let vote =
            "mov.u32 %r1, %laneid;\nsetp.eq.s32 %p1, %r1, 0;\nvote.sync.any.pred %p2, %p1, -1;\n@%p2 bra $L;\n$L:";
        assert_eq!(one(vote), Branches { uniform: 1, ..Branches::default() });
    }

    #[test]
    fn kernels_that_xla_made_for_an_h100() {
        let told = |text: &str| {
            let found = branches(text);
            assert_eq!(found.len(), 1);
            found.into_values().next().unwrap_or_default()
        };
        expect_test::expect![[r#"
            [
                (
                    "sums at the edge of an array",
                    Branches {
                        uniform: 0,
                        by_thread: 1,
                        by_data: 0,
                        loops_by_data: 0,
                    },
                ),
                (
                    "a sort",
                    Branches {
                        uniform: 0,
                        by_thread: 0,
                        by_data: 42,
                        loops_by_data: 0,
                    },
                ),
                (
                    "a padded copy",
                    Branches {
                        uniform: 6,
                        by_thread: 20,
                        by_data: 0,
                        loops_by_data: 0,
                    },
                ),
                (
                    "a sum of an array",
                    Branches {
                        uniform: 0,
                        by_thread: 1,
                        by_data: 0,
                        loops_by_data: 0,
                    },
                ),
            ]
        "#]]
        .assert_debug_eq(&[
            ("sums at the edge of an array", told(include_str!("../tests/ptx/elementwise.ptx"))),
            ("a sort", told(include_str!("../tests/ptx/sort.ptx"))),
            ("a padded copy", told(include_str!("../tests/ptx/pad.ptx"))),
            ("a sum of an array", told(include_str!("../tests/ptx/reduction.ptx"))),
        ]);
    }

    #[test]
    fn what_is_no_ptx_has_no_branches() {
        for text in
            ["", "}\n}\n{ .entry \n", ".entry k(\n)\n{\n@%p1\n@ bra\n@%p1 bra\n}\n", ".entry k(\n)\n{\nld.global {%r1"]
        {
            assert!(branches(text).values().all(|found| found.by_data == 0), "{text}");
        }
    }
}
