//! Operators of few numbers, called one by one from Python, whose time is that of calling them.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::operator_calls::{OperatorCall, OperatorCalls};
use crate::rule::{Find, Group, Rule};
use crate::turns::LoopSeen;
use crate::words::{list, percent, short};
use ridge_analysis::{Looks, Need, PythonLooks};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::{EventRow, PythonStack, StringId};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "small-operators",
    group: Group::Host,
    summary: "Small PyTorch operators called one by one",
    document: include_str!("small_operators.md"),
    asks: &[Question::Device],
    explains: &["kernel-hotspot"],
    needs: &[Need::of::<OperatorCalls>(), Need::of::<PythonLooks>()],
    find: Find::Causes(find),
};

/// Below this part of the time, calls with the Python between them, it is not worth a word.
const LEAST: f64 = 0.30;
/// What is no longer than this is the call and not its work, nanoseconds.
const SMALL_NS: i64 = 40_000;
/// What of a call's time its work may be by its price.
const MOST_PRICED: f64 = 0.25;
/// Fewer calls are what a program does once.
const FEWEST: usize = 100;
/// More views than this are those of elements.
const MANY_ELEMENTS: u32 = 100;
/// Of the time, a part for these from which on they are what to say.
const APART: f64 = 0.3;
/// Looks at the program's Python that tell where its time goes, and the part of them in one function, where little was recorded.
const FEWEST_LOOKS: usize = 50;
const LEAST_LOOKS: f64 = 0.40;
/// Looks that found an array being taken apart.
const FEWEST_APART: u64 = 3;
/// Longer operators gain little from a batch.
const LONGEST_IN_TURNS_NS: i64 = 500_000;
/// Layers that are given batches of one, and the part of all layers, from which on those are what to say.
const FEWEST_SINGLE: usize = 50;
const NEARLY_ALL: f64 = 0.9;
/// Frames of one function in a stack that make a recursion, and the part of looks that found one.
const DEEP: usize = 3;
const LEAST_DEEP: f64 = 0.2;
/// Calls that read one number back, from which on those are what to say.
const MOST_ITEMS: f64 = 0.10;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    if case.framework() != Framework::Torch || !case.is_on_processors() {
        return Ok(Vec::new());
    }
    let all = &case.operator_calls().calls;
    let mut prices: FxHashMap<(ridge_trace::StringId, u32), f64> = FxHashMap::default();
    let mut is_small = |call: &OperatorCall| {
        let ns = call.span.1.saturating_sub(call.span.0);
        ns <= SMALL_NS && *prices.entry(call.key()).or_insert_with(|| case.price_of_call(call)) <= MOST_PRICED * ns as f64
    };
    let small: Vec<usize> = all.iter().enumerate().filter(|(_, call)| is_small(call)).map(|(at, _)| at).collect();
    // From the beginning of a small call to that of the next call: Python's part is of the call before.
    let until_next = |at: &usize| {
        let (call, next) = (&all[*at], all.get(at + 1));
        let next = next.filter(|next| next.process == call.process).map_or(call.span.1, |next| next.span.0);
        next.saturating_sub(call.span.0).clamp(0, 2 * SMALL_NS)
    };
    // A loop over an array makes a view of each element first.
    let elements: Vec<usize> = all.iter().enumerate().filter(|(_, call)| is_taken_apart(case, call)).map(|(at, _)| at).collect();
    let apart_ns: i64 = elements.iter().map(|at| all[*at].span.1.saturating_sub(all[*at].span.0)).sum();
    let ns = small.iter().map(until_next).sum::<i64>().saturating_add(apart_ns);
    let share = case.share(ns);
    let views: usize = elements.iter().map(|at| all[*at].inside as usize).sum();
    if small.len() + views < FEWEST || share < LEAST {
        return Ok(single_examples(case).or_else(|| turns_apart(case)).or_else(|| unrecorded(case)).into_iter().collect());
    }
    let name = |at: &usize| case.trace().strings.get(all[*at].name);
    let is_item = |at: &&usize| matches!(name(at), "aten::item" | "aten::_local_scalar_dense" | "aten::is_nonzero");
    let items = small.iter().filter(is_item).count();
    let mut sums: FxHashMap<&str, i64> = FxHashMap::default();
    for at in &small {
        *sums.entry(name(at)).or_default() += until_next(at);
    }
    let mut names: Vec<(&str, i64)> = sums.into_iter().collect();
    names.sort_by_key(|(name, ns)| (std::cmp::Reverse(*ns), *name));
    let most: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
    let rows = elements.iter().chain(&small).map(|at| all[*at].row);
    let seen = case.seen_about(rows.clone());
    let first = rows.clone().next();
    let is_apart = apart_ns as f64 >= APART * ns as f64;
    let reads = is_apart || items as f64 >= MOST_ITEMS * small.len() as f64;
    let over_parameters = seen.as_ref().is_some_and(|seen| case.is_over_parameters(&seen.place));
    let apart = case.loop_apart().filter(|apart| apart.share >= LEAST);
    let message = if over_parameters {
        format!("{} of the time goes to small operators called one by one, mostly in a Python loop over parameters; one `torch._foreach_…` call for all would suffice", percent(share))
    } else if recurs(case) {
        format!("{} of the time goes to small operators called one by one in a recursion, node by node; a batch of the nodes of each level would suffice", percent(share))
    } else if is_apart {
        format!("{} of the time goes to a Python loop over the elements of arrays, one by one; a vectorized form would suffice", percent(share))
    } else if reads {
        format!("{} of the time goes to small operators called one by one, many of them `.item()`; a vectorized form would suffice", percent(share))
    } else if has_single_examples(case, all) {
        format!(
            "{} of the time goes to the overhead of small operators on one example at a time; a batch of many examples would suffice",
            percent(share)
        )
    } else if let Some(apart) = &apart {
        format!("{} of the time goes to small operators called one by one, mostly in {}", percent(share), in_turns(apart))
    } else {
        format!("{} of the time goes to the overhead of calling small operators one by one", percent(share))
    };
    let mut finding = Finding::new(message)
        .at(apart.map(|apart| apart.place).or_else(|| first.and_then(|row| case.line_of_row(row))))
        .about(first.and_then(EventRow::known).map(Subject::Event))
        .seen(seen.as_ref());
    if !small.is_empty() {
        finding = finding.number("small calls", case.count_per_unit(small.len() as u64)).fact(format!("most of it in {}", list(&most, 4)));
    }
    if views > 0 {
        finding = finding.number("elements read from arrays", case.count_per_unit(views as u64));
    }
    if items > 0 {
        let part = Quantity::new(items as f64 / small.len() as f64, Unit::Share, Basis::Counted);
        finding = finding.number("of the calls read back a single number", part);
    }
    Ok(vec![
        finding
            .why("every call costs a few microseconds regardless of its size, and Python makes the calls one at a time")
            .help(if over_parameters { PARAMETERS } else if reads { ITEMS } else { SMALL })
            .information(),
    ])
}

/// Whether a function of the program calls itself, in most looks at it.
fn recurs(case: &Case<'_>) -> bool {
    let python = &case.trace().python;
    let is_deep = |stack: &PythonStack| {
        let places = stack.places.iter().filter_map(|place| python.places.get(*place as usize));
        let functions = places.map(|place| (place.file, place.function));
        let first = functions.clone().next();
        first.is_some_and(|first| functions.filter(|function| *function == first).count() >= DEEP)
    };
    let forward = |is_it: &dyn Fn(&PythonStack) -> bool| -> u64 {
        case.looks_with(|stack| !case.is_in_backward(stack) && is_it(stack)).values().sum()
    };
    let (deep, whole) = (forward(&is_deep), forward(&|_| true));
    deep >= FEWEST_APART && deep as f64 >= LEAST_DEEP * whole as f64
}

/// Layers that read all of their weights for one example at a time, each call too long to be small.
fn single_examples(case: &Case<'_>) -> Option<Finding> {
    let all = &case.operator_calls().calls;
    let linear = all.iter().enumerate().filter(|(_, call)| case.trace().strings.get(call.name) == "aten::linear");
    let linear: Vec<usize> = linear.map(|(at, _)| at).collect();
    // Of its input all but the features: a large image is no single row.
    let is_row = |at: &usize| case.extents_at(all[*at].detail).first().is_some_and(|input| input.iter().rev().skip(1).product::<i64>() == 1);
    let layers: Vec<usize> = linear.iter().copied().filter(is_row).collect();
    if layers.len() < FEWEST_SINGLE || (layers.len() as f64) < NEARLY_ALL * linear.len() as f64 {
        return None;
    }
    let claim = case.claim_of_calls(layers.iter().copied(), 1.0);
    let share = case.share_of(claim.iter().copied());
    if share < LEAST {
        return None;
    }
    let rows: Vec<u32> = layers.iter().map(|at| all[*at].row).collect();
    let seen = case.seen_about(rows.clone());
    let first = rows.first().copied();
    Some(
        Finding::new(format!(
            "{} of the time goes to layers that are called with one example at a time; a batch of many examples would suffice",
            percent(share)
        ))
        .at(first.and_then(|row| case.line_of_row(row)))
        .about(first.and_then(EventRow::known).map(Subject::Event))
        .seen(seen.as_ref())
        .number("calls with a batch of one", case.count_per_unit(rows.len() as u64))
        .why("each call reads all weights of its layer from memory for a single example, where a batch reads them once for all")
        .help("collect what is there (requests, beams, candidates) into one batch with `torch.stack` or padding, and call the model once; where each input depends on the result before, run several sequences side by side")
        .claims(claim)
        .unknown_amount()
        .information(),
    )
}

/// A loop whose turns don't need each other, with calls that are too long to be small.
fn turns_apart(case: &Case<'_>) -> Option<Finding> {
    let apart = case.loop_apart().filter(|apart| apart.share >= LEAST)?;
    let all = &case.operator_calls().calls;
    let usual = usual_length(all);
    if usual > LONGEST_IN_TURNS_NS || all.len() < FEWEST {
        return None;
    }
    let claim = case.claim_of_all(apart.share);
    Some(
        Finding::new(format!("{} of the time goes to {}", percent(apart.share), in_turns(&apart)))
            .at(Some(apart.place))
            .number("Python stack samples in the loop", Quantity::new(apart.looks.values().sum::<u64>() as f64, Unit::Count, Basis::Counted))
            .number("median length of operators, weighted by time", Quantity::nanos(usual, Basis::Measured))
            .why("Python calls the operators of each iteration one by one, each on a small part of the data")
            .help(TURNS)
            .claims(claim)
            .unknown_amount()
            .information(),
    )
}

/// How long calls are: half of the time is in shorter ones. A call that was interrupted is as long as others like it.
fn usual_length(all: &[OperatorCall]) -> i64 {
    let mut kinds: FxHashMap<(StringId, u32), Vec<i64>> = FxHashMap::default();
    for call in all.iter().filter(|call| !call.is_backward) {
        kinds.entry(call.key()).or_default().push(call.span.1.saturating_sub(call.span.0));
    }
    let of_kind = |mut lengths: Vec<i64>| {
        lengths.sort_unstable();
        (lengths[lengths.len() / 2], lengths.len() as i64)
    };
    let mut kinds: Vec<(i64, i64)> = kinds.into_values().map(of_kind).collect();
    kinds.sort_unstable();
    let mut left = kinds.iter().map(|(ns, count)| ns.saturating_mul(*count)).sum::<i64>() / 2;
    let half = kinds.iter().find(|(ns, count)| {
        left = left.saturating_sub(ns.saturating_mul(*count));
        left <= 0
    });
    half.map_or(0, |(ns, _)| *ns)
}

/// What is said of a loop whose turns don't need each other.
fn in_turns(apart: &LoopSeen<'_>) -> String {
    format!("a Python loop over `{}` with iterations that don't depend on each other; one batched (vectorized) call for all would suffice", short(apart.over))
}

fn is_layer(name: &str) -> bool {
    matches!(name, "aten::linear" | "aten::conv1d" | "aten::conv2d" | "aten::conv3d" | "aten::batch_norm" | "aten::layer_norm")
}

/// Whether nearly all layers are given batches of one.
fn has_single_examples(case: &Case<'_>, all: &[OperatorCall]) -> bool {
    let layers = all.iter().filter(|call| is_layer(case.trace().strings.get(call.name)));
    let (mut count, mut single) = (0_usize, 0_usize);
    for call in layers {
        let sizes = case.extents_at(call.detail);
        let Some(input) = sizes.first().filter(|input| input.len() > 1) else { continue };
        count += 1;
        single += usize::from(input.first() == Some(&1));
    }
    single >= FEWEST_SINGLE && single as f64 >= NEARLY_ALL * count as f64
}

/// A loop that makes so many calls that little of it could be recorded: looks at the program's Python go on in between.
fn unrecorded(case: &Case<'_>) -> Option<Finding> {
    let cut = case.known.notes.iter().find(|note| note.message.contains("makes so many events"))?;
    let python = &case.trace().python;
    let main = python.threads.iter().filter(|thread| thread.is_main);
    let stacks = main.flat_map(|thread| &thread.stack).filter_map(|row| Some((*row, python.stacks.get(*row as usize)?)));
    let text = |id| case.trace().strings.get(id);
    let is_import = |stack: &PythonStack| text(stack.innermost).starts_with("<frozen importlib");
    let is_own = |stack: &PythonStack| text(stack.calls).is_empty() || text(stack.calls).starts_with("torch/_tensor.py:");
    let (mut all, mut own, mut lines) = (0_usize, Looks::default(), FxHashMap::<(StringId, StringId), usize>::default());
    for (row, stack) in stacks.filter(|(_, stack)| !is_import(stack)) {
        all += 1;
        let place = stack.places.first().and_then(|place| python.places.get(*place as usize)).filter(|_| is_own(stack));
        if let Some(place) = place {
            *lines.entry((place.file, place.function)).or_default() += 1;
            *own.entry(row).or_default() += 1;
        }
    }
    let ((file, function), looks) = lines.into_iter().max_by_key(|(place, looks)| (*looks, std::cmp::Reverse(*place)))?;
    let share = looks as f64 / all.max(1) as f64;
    own.retain(|row, _| {
        let place = python.stacks.get(*row as usize).and_then(|stack| stack.places.first());
        let place = place.and_then(|place| python.places.get(*place as usize));
        place.is_some_and(|place| (place.file, place.function) == (file, function))
    });
    // One long operator is called from the program's own line, too: a loop asks an array for its elements.
    let takes_apart = |row: &u32| python.stacks.get(*row as usize).is_some_and(|stack| text(stack.calls).ends_with(":Tensor.__iter__"));
    let apart: u64 = own.iter().filter(|(row, _)| takes_apart(row)).map(|(_, looks)| looks).sum();
    if all < FEWEST_LOOKS || share < LEAST_LOOKS || apart < FEWEST_APART {
        return None;
    }
    let seen = case.seen(&own);
    let message = format!(
        "{} of the program's time goes to a Python loop in `{}` over the elements of arrays, one by one; a vectorized form would suffice",
        percent(share),
        text(function),
    );
    Some(
        Finding::new(message)
            .at(seen.map(|seen| seen.place))
            .number("samples of the program's Python, imports left out", Quantity::new(all as f64, Unit::Count, Basis::Counted))
            .fact(cut.message.clone())
            .why("every call costs a few microseconds regardless of its size, and Python makes the calls one at a time")
            .help(ITEMS)
            .information(),
    )
}

/// Whether a call makes a view of each of very many elements, as iterating over an array does.
fn is_taken_apart(case: &Case<'_>, call: &OperatorCall) -> bool {
    matches!(case.trace().strings.get(call.name), "aten::unbind" | "aten::split") && call.inside >= MANY_ELEMENTS
}

/// What helps where a loop reads numbers one by one.
const ITEMS: &str = "replace the Python loop over elements with operators on whole arrays (`torch.bincount`, `scatter_add_`, indexing with arrays, `where`), or convert the array once with `.tolist()` or `.numpy()` and loop over that";
/// What helps where the loop goes over the parameters of a model.
const PARAMETERS: &str = "update all parameters in a few calls: `torch._foreach_lerp_`, `torch._foreach_mul_` and their like, `torch.optim.swa_utils.AveragedModel` with `get_ema_multi_avg_fn` for averages of weights, `torch.nn.utils.clip_grad_norm_` for gradients (without `.item()` per parameter), and `fused=True` for the optimizer";
/// What helps elsewhere.
const SMALL: &str = "do more per call: use larger batches, or `torch.stack` and `torch.func.vmap` over similar models, examples or steps (`torch.func.stack_module_state` for an ensemble); fuse the rest with `torch.compile`";
/// What helps where the turns of a loop don't need each other.
const TURNS: &str = "put the data of all iterations into one array with a new axis, and call each operator once: broadcasting, `torch.bmm` or `einsum` over stacked weights, `scatter_add_` or `index_add_` for groups, slices for neighbors, or `torch.func.vmap` of the body (`torch.func.stack_module_state` for similar modules)";
