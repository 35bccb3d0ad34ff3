//! What explains a change, as far as both sides tell: how often it runs, how long each takes, other kernels, other bytes.

use crate::matching::Pair;
use crate::names::{template, unnumbered};
use crate::summary::{Item, Kind, Unit};
use ridge_units::{Bytes, Nanos, three_digits};
use std::collections::BTreeSet;

/// Differences below this part are none that is worth a word.
const WORTH_SAYING: f64 = 0.01;
/// Letters of a name in a sentence.
const MOST_LETTERS: usize = 56;

/// Units of both sides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Units {
    pub(crate) unit: Unit,
    pub(crate) before: u64,
    pub(crate) after: u64,
}

/// What explains that `pair` changed, a few words each.
pub(crate) fn why(pair: &Pair<'_>, units: Units) -> Vec<String> {
    let mut said = Vec::new();
    let (Some(before), Some(after)) = (most(&pair.before), most(&pair.after)) else { return said };
    let (count_before, count_after) = (events(&pair.before), events(&pair.after));
    let per = |count: u64, units: u64| count as f64 / units.max(1) as f64;
    let (often_before, often_after) = (per(count_before, units.before), per(count_after, units.after));
    let is_idle = after.kind == Kind::Idle;
    if differ(often_before, often_after) && !is_idle {
        let unit = match units.unit {
            Unit::Step => "a step",
            Unit::Capture => "in the capture",
            Unit::Suite => "a run",
        };
        said.push(format!("{} {unit} instead of {}", times(often_after), times(often_before)));
    }
    let each = |ns: i64, count: u64| if count == 0 { 0.0 } else { ns as f64 / count as f64 };
    let (each_before, each_after) = (each(ns(&pair.before), count_before), each(ns(&pair.after), count_after));
    if differ(each_before, each_after) && !is_idle && each_before > 0.0 && each_after > 0.0 {
        let shown = |ns: f64| Nanos(ns.round() as i64);
        said.push(format!("{} each instead of {}", shown(each_after), shown(each_before)));
    }
    said.extend(kernels(pair));
    said.extend(instruction(before, after));
    let (bytes_before, bytes_after) = (bytes(&pair.before, units.before), bytes(&pair.after, units.after));
    if differ(bytes_before, bytes_after) {
        let shown = |bytes: f64| Bytes(bytes.round() as u64);
        said.push(format!("{} instead of {}", shown(bytes_after), shown(bytes_before)));
    }
    if let (true, Some(before), Some(after)) = (before.kernel == after.kernel, &before.launch, &after.launch)
        && before != after
    {
        said.push(format!("launched as {after} threads instead of {before}"));
    }
    said
}

fn most<'s>(side: &[(usize, &'s Item)]) -> Option<&'s Item> {
    side.iter().max_by_key(|(_, item)| item.ns).map(|(_, item)| *item)
}

pub(crate) fn events(side: &[(usize, &Item)]) -> u64 {
    side.iter().fold(0, |sum, (_, item)| sum.saturating_add(item.events))
}

fn ns(side: &[(usize, &Item)]) -> i64 {
    side.iter().fold(0, |sum, (_, item)| sum.saturating_add(item.ns))
}

fn bytes(side: &[(usize, &Item)], units: u64) -> f64 {
    side.iter().fold(0_u64, |sum, (_, item)| sum.saturating_add(item.bytes)) as f64 / units.max(1) as f64
}

fn differ(before: f64, after: f64) -> bool {
    (after - before).abs() > WORTH_SAYING * before.abs().max(after.abs())
}

/// `once`, `3 times`, `0.5 times`.
fn times(count: f64) -> String {
    if (count - 1.0).abs() < WORTH_SAYING { "once".to_owned() } else { format!("{} times", three_digits(count)) }
}

/// Kernels that one side alone has.
fn kernels(pair: &Pair<'_>) -> Option<String> {
    let names = |side: &[(usize, &Item)]| -> BTreeSet<String> {
        side.iter().filter_map(|(_, item)| item.kernel.as_deref()).map(|name| unnumbered(name).to_owned()).collect()
    };
    let (before, after) = (names(&pair.before), names(&pair.after));
    let (gone, new): (Vec<&String>, Vec<&String>) =
        (before.difference(&after).collect(), after.difference(&before).collect());
    let (gone, new) = (gone.first()?, new.first()?);
    // Where only template arguments changed, they are what there is to see.
    let alike = template(gone) == template(new);
    let shown = |name: &str| if alike { short(name) } else { short(&template(name)) };
    Some(format!("kernel `{}` instead of `{}`", shown(new), shown(gone)))
}

/// Another kind of instruction for the same thing.
fn instruction(before: &Item, after: &Item) -> Option<String> {
    let is_other = before.structure.is_some() && before.structure != after.structure && after.structure.is_some();
    let said = |item: &Item| format!("{} `{}`", item.category, short(&item.name));
    (is_other && before.category != after.category).then(|| format!("{} instead of {}", said(after), said(before)))
}

/// A name that fits a sentence: the middle of a long one is left out.
pub(crate) fn short(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= MOST_LETTERS {
        return name.to_owned();
    }
    let (head, tail) = (&letters[..MOST_LETTERS / 2], &letters[letters.len() - MOST_LETTERS / 2 + 1..]);
    format!("{}…{}", head.iter().collect::<String>(), tail.iter().collect::<String>())
}
