//! A part of a library has a large share of the time, and its documents name a cheaper one for many uses.

use crate::case::{Case, Framework};
use crate::finding::{Finding, Place};
use crate::fitness::{CannotTell, Question};
use crate::libraries::{BY_PACKAGE, PARTS};
use crate::library::{Part, Pass, Sign};
use crate::operator_calls::OperatorCalls;
use crate::rule::{Find, Group, Rule};
use crate::words::{distinct, list, percent};
use ridge_analysis::{Lines, Looks, Need, PythonLooks};
use ridge_table::Subject;
use ridge_trace::{EventRow, OpRow};
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(crate) static RULE: Rule = Rule {
    id: "library-part",
    group: Group::Structure,
    summary: "Costly part of a library, with an alternative",
    document: include_str!("library_part.md"),
    asks: &[Question::Device],
    explains: &["host-bound-dispatch", "recompute-heavy", "small-operators", "small-programs-in-loop", "unexplained-work"],
    needs: &[Need::of::<Lines>(), Need::of::<OperatorCalls>(), Need::of::<PythonLooks>()],
    find: Find::Causes(find),
};

/// Below this part of the time another choice is not worth a word.
const LEAST: f64 = 0.30;

/// The same of calls, whose checks and conversions are many small operators.
const LEAST_OF_CALLS: f64 = 0.20;

/// The same of gradients, which grow with the square of what was taken apart.
const LEAST_OF_GRADIENTS: f64 = 0.12;
/// The same of the host's: what it calls there, as backward passes, isn't counted.
const LEAST_OF_HOST: f64 = 0.12;
/// With a busier device, the host's time hardly matters.
const MOST_BUSY: f64 = 0.7;
/// The part of the time above which it hardly ever waits for the host.
const ALWAYS_BUSY: f64 = 0.9;
/// Files of parts that compute in forward passes.
const FORWARD: [&str; 4] = ["torch/nn/utils/parametriz", "torch/nn/utils/weight_norm.py", "torch/nn/utils/spectral_norm.py", "torch/distributions/"];
/// Fewer looks say nothing.
const FEWEST: u64 = 8;
/// So often the program comes to what it does again and again.
const FEWEST_VISITS: usize = 4;

/// Work of one part: time, row of the breakdown, operation, name.
type Works<'a> = Vec<(i64, usize, u32, &'a str)>;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let mut parts: BTreeMap<usize, Works<'_>> = BTreeMap::new();
    for work in case.work() {
        if let Some(part) = part_of_operator(case, work.name).or_else(|| part_of(case, work.op)) {
            parts.entry(part).or_default().push((work.row.ns, work.at, work.op, work.name));
        }
    }
    let found = parts.into_iter().filter_map(|(part, works)| finding(case, PARTS.get(part)?, works));
    Ok(found.chain(of_calls(case)).chain(of_host(case)).collect())
}

/// Parts that are calls of operators, with what those call.
fn of_calls<'a>(case: &'a Case<'a>) -> impl Iterator<Item = Finding> + 'a {
    let is_of_processor = case.framework() == Framework::Torch && case.is_on_processors();
    let parts = PARTS.iter().filter(move |part| is_of_processor && part.signs.iter().any(|sign| matches!(sign, Sign::Call(_) | Sign::Gradient(_))));
    parts.filter_map(move |part| {
        let (trace, all) = (case.trace(), &case.operator_calls().calls);
        let is_sign = |name: &str| part.signs.iter().any(|sign| matches!(sign, Sign::Call(operator) if *operator == name));
        let is_gradient = |name: &str| part.signs.iter().any(|sign| matches!(sign, Sign::Gradient(node) if name.ends_with(node)));
        let is_it = |at: &usize| {
            let name = trace.strings.get(all[*at].name);
            if all[*at].is_backward { is_gradient(name) } else { is_sign(name.strip_prefix("aten::").unwrap_or(name)) }
        };
        let positions: Vec<usize> = (0..all.len()).filter(is_it).collect();
        let claim = case.claim_of_calls(positions.iter().copied(), 1.0);
        let share = case.share_of(claim.iter().copied());
        let is_of_gradients = part.signs.iter().any(|sign| matches!(sign, Sign::Gradient(_)));
        if share < if is_of_gradients { LEAST_OF_GRADIENTS } else { LEAST_OF_CALLS } {
            return None;
        }
        let rows: Vec<u32> = positions.iter().map(|at| all[*at].row).collect();
        let seen = case.seen_during(rows.iter().copied());
        let first = rows.first().copied()?;
        let finding = told(share, part)
            .at(case.line_of_row(first))
            .about(EventRow::known(first).map(Subject::Event))
            .seen(seen.as_ref())
            .number("calls", case.count_per_unit(rows.len() as u64))
            .claims(claim)
            .fact(format!("see {}", part.source));
        Some(leveled(finding, part, share))
    })
}

/// The part that the host was in most of its time.
pub(crate) fn most_of_host(case: &Case<'_>) -> Option<&'static Part> {
    let whole = case.analysis.get::<PythonLooks>().count;
    let most = |(part, looks): (usize, Looks)| Some((PARTS.get(part)?, looks.values().sum::<u64>()));
    let (part, held) = looks_at_host(case).into_iter().filter_map(most).max_by_key(|(_, held)| *held)?;
    (held >= FEWEST && held * 2 > whole).then_some(part)
}

/// Parts that the host was in, by looks at its Python.
fn of_host<'a>(case: &'a Case<'a>) -> impl Iterator<Item = Finding> + 'a {
    let all = case.analysis.get::<PythonLooks>().count;
    let backward = backward_looks(case);
    looks_at_host(case).into_iter().filter_map(move |(part, looks)| {
        let (part, held) = (PARTS.get(part)?, looks.values().sum::<u64>());
        // A backward pass has a part of each part of the forward pass.
        let is_forward = part.signs.iter().any(|sign| matches!(sign, Sign::Host(path) if FORWARD.iter().any(|file| path.starts_with(file))));
        let whole = if is_forward { all.saturating_sub(backward) } else { all };
        let share = held as f64 / whole.max(1) as f64;
        // What is said to recur must be seen to.
        if held < FEWEST || share < LEAST_OF_HOST || (part.does.contains("again and again") && visits(case, &looks) < FEWEST_VISITS) {
            return None;
        }
        let seen = case.seen(&looks);
        let claim = case.claim_of_all(share);
        let finding = told(share, part)
            .seen(seen.as_ref())
            .fact(format!("{held} of {whole} Python stack samples{} were in this code", if is_forward && backward > 0 { " outside of backward passes" } else { "" }))
            .claims(claim);
        let finding = finding.fact(format!("see {}", part.source));
        // Where the device is busy anyway, the host may take its time; on a CPU, PyTorch's host is the device.
        let is_device = case.framework() == Framework::Torch && case.is_on_processors();
        match case.busy_share() {
            Some(busy) if !is_device && busy >= ALWAYS_BUSY => None,
            Some(busy) if !is_device && busy >= MOST_BUSY => Some(finding.information()),
            _ => Some(leveled(finding, part, share)),
        }
    })
}

/// How often the program's thread came to one of these stacks from others.
fn visits(case: &Case<'_>, looks: &Looks) -> usize {
    let mut found = 0;
    for thread in &case.trace().python.threads {
        let mut was_there = false;
        for stack in &thread.stack {
            let is_there = looks.contains_key(stack);
            found += usize::from(is_there && !was_there);
            was_there = is_there;
        }
    }
    found
}

/// Looks that found the host in a backward pass.
fn backward_looks(case: &Case<'_>) -> u64 {
    case.looks_with(|stack| case.is_in_backward(stack)).values().sum()
}

/// The looks at each part that the host was in.
fn looks_at_host(case: &Case<'_>) -> BTreeMap<usize, Looks> {
    let (trace, all) = (case.trace(), case.analysis.get::<PythonLooks>().all());
    let mut parts: BTreeMap<usize, Looks> = BTreeMap::new();
    for (row, count) in all {
        let Some(stack) = trace.python.stacks.get(*row as usize) else { continue };
        let functions = [trace.strings.get(stack.calls), trace.strings.get(stack.innermost)];
        let is_in = |sign: &Sign| matches!(sign, Sign::Host(path) if functions.iter().any(|function| function.starts_with(path) || is_of_python(function, path)));
        if let Some(part) = PARTS.iter().position(|part| part.signs.iter().any(is_in)) {
            parts.entry(part).or_default().insert(*row, *count);
        }
    }
    parts
}

fn finding(case: &Case<'_>, part: &Part, mut works: Works<'_>) -> Option<Finding> {
    let ns = works.iter().fold(0_i64, |sum, (ns, ..)| sum.saturating_add(*ns));
    if case.share(ns) < LEAST {
        return None;
    }
    works.sort_by_key(|(ns, at, ..)| (Reverse(*ns), *at));
    let names = distinct(works.iter().map(|(.., name)| *name));
    let op = works.first()?.2;
    let finding = told(case.share(ns), part)
        .at(most_of(case, &works).or_else(|| of_looks(case, works.first()?.1)))
        .about(OpRow::known(op).map(Subject::Op))
        .number(format!("in {}", list(&names, 3)), case.per_unit(ns))
        .claims(works.iter().map(|(_, at, ..)| (*at, 1.0)))
        .made_by(case.library_line_of_op(op));
    let fits = "the capture doesn't show whether the alternative fits this program";
    let finding = if part.is_sure { finding } else { finding.fact(fits) };
    Some(leveled(finding.fact(format!("see {}", part.source)), part, case.share(ns)))
}

/// The line of an operator's row of the breakdown, by its call or by looks at the program meanwhile.
fn of_looks(case: &Case<'_>, at: usize) -> Option<Place> {
    case.work().filter(|work| work.at == at).find_map(|work| case.line_of(&work).or_else(|| case.line_by_looks(&work)))
}

/// Whether a function is in a file of Python's own library, whose folder is named before.
fn is_of_python(function: &str, path: &str) -> bool {
    function.split_once("lib/python").and_then(|(_, rest)| rest.split_once('/')).is_some_and(|(_, rest)| rest.starts_with(path))
}

/// The part that an operator of PyTorch on a CPU is.
fn part_of_operator(case: &Case<'_>, name: &str) -> Option<usize> {
    if case.framework() != Framework::Torch || !case.is_on_processors() {
        return None;
    }
    let plain = name.strip_prefix("aten::").unwrap_or(name);
    let is_sign = |sign: &Sign| matches!(sign, Sign::Operator(operator) if *operator == plain);
    PARTS.iter().position(|part| part.signs.iter().any(is_sign))
}

/// What is known of a part that has `share` of the time.
fn told(share: f64, part: &Part) -> Finding {
    Finding::new(format!("{} of the time {}; {}", percent(share), part.does, part.first_advice()))
        .why(part.why)
        .help(part.help)
        .unknown_amount()
}

/// What may be as it has to be only informs.
fn leveled(finding: Finding, part: &Part, share: f64) -> Finding {
    if part.is_sure && share >= LEAST { finding } else { finding.information() }
}

/// The line of the program that has most of the work.
fn most_of(case: &Case<'_>, works: &Works<'_>) -> Option<Place> {
    let mut lines: BTreeMap<Place, i64> = BTreeMap::new();
    for (ns, _, op, _) in works {
        let Some(place) = case.line_of_op(*op) else { continue };
        let sum = lines.entry(Place { is_inferred: false, ..place }).or_default();
        *sum = sum.saturating_add(*ns);
    }
    lines.into_iter().max_by_key(|(place, ns)| (*ns, Reverse(place.clone()))).map(|(place, _)| place)
}

/// The part that an operation is of: by what is around it, else by the innermost frame that is of one, else by the functions that JAX
/// compiles by themselves.
fn part_of(case: &Case<'_>, op: u32) -> Option<usize> {
    let name = case.analysis.instruction(op).map_or("", |(module, id)| module.op_name_in_fusion(id));
    let is_backward = name.contains("transpose(");
    let is_around = || name.split_once("while/body").map_or(is_backward, |(before, _)| before.contains("transpose("));
    let counts = |part: &Part| match part.pass {
        Pass::Any => true,
        Pass::Backward => is_backward,
        Pass::ThroughLoop => is_around(),
    };
    let stack = case.analysis.lines().of(op).map_or(&[][..], |lines| &lines.stack);
    let in_packages = || {
        stack.iter().filter_map(|line| {
            let (_, file) = line.file.rsplit_once("-packages/")?;
            Some((file, line.function.as_str(), BY_PACKAGE.get(file.split('/').next()?)?))
        })
    };
    let by_frame = |is_around: bool| {
        in_packages().find_map(|(file, called, parts)| {
            parts.iter().copied().find(|part| {
                let is_sign = |sign: &Sign| match sign {
                    Sign::Frame(path, function) => !is_around && file.starts_with(path) && called.starts_with(function),
                    Sign::Around(path, function) => is_around && file.starts_with(path) && called.starts_with(function),
                    Sign::Function(_) | Sign::Host(_) | Sign::Operator(_) | Sign::Call(_) | Sign::Gradient(_) => false,
                };
                PARTS.get(*part).is_some_and(|part| counts(part) && part.signs.iter().any(is_sign))
            })
        })
    };
    // Of compiled functions in each other the outermost tells what was called; one of the program's own may have the same name.
    let is_own = |name: &str| stack.iter().any(|line| !line.file.contains("-packages/") && line.function.rsplit('.').next() == Some(name));
    let by_function = || {
        compiled(name).filter(|called| !is_own(called)).find_map(|called| {
            let is_sign = |sign: &Sign| matches!(sign, Sign::Function(function) if *function == called);
            PARTS.iter().position(|part| counts(part) && part.signs.iter().any(is_sign))
        })
    };
    by_frame(true).or_else(|| by_frame(false)).or_else(by_function)
}

/// The compiled functions in `op_name`, the outermost first, under whatever transformations.
fn compiled(op_name: &str) -> impl Iterator<Item = &str> {
    op_name.split("jit(").skip(1).filter_map(|part| Some(part.split_once(')')?.0))
}

#[cfg(test)]
mod tests {
    use super::compiled;

    #[test]
    fn functions_are_told_by_their_whole_name() {
        let of = |name| compiled(name).collect::<Vec<_>>().join(" ");
        assert_eq!(of("jit(train_step)/jit(_shuffle)/sort"), "train_step _shuffle");
        assert_eq!(of("jit(f)/vmap(jit(expm))/while/body/dot_general"), "f expm");
        assert_eq!(of("jit(f)/jit(expm_frechet)/expm/dot_general"), "f expm_frechet");
    }
}
