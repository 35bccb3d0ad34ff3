//! What is the same on both sides, whatever it is called.
//!
//! Items have keys, the most telling first: what has the same first key is one thing. What is left over on both sides is
//! then matched by the second key, and so on, each less telling than the one before. Nothing is matched twice, and nothing is
//! lost: what has no partner on the other side appeared or vanished.

use crate::summary::Item;
use rustc_hash::FxHashMap;

/// What keys that name a kernel's template begin with.
pub(crate) const TEMPLATE: &str = "template|";

/// Items of one side that are one thing, each with the run that it is of.
pub(crate) type Side<'s> = Vec<(usize, &'s Item)>;

/// What is one thing on both sides; a side that is empty does not have it.
#[derive(Debug, Default)]
pub(crate) struct Pair<'s> {
    pub(crate) before: Side<'s>,
    pub(crate) after: Side<'s>,
}

/// Items that have the most telling key in common.
#[derive(Debug)]
struct Pool<'s> {
    items: Side<'s>,
    /// The keys of the item that has most of the time.
    keys: Vec<String>,
}

/// Pools of both sides that have a key in common.
#[derive(Debug, Default)]
struct Slot<'s> {
    before: Vec<Pool<'s>>,
    after: Vec<Pool<'s>>,
}

/// Matches the items of both sides by what `keys` says of each; an empty key matches nothing.
pub(crate) fn pair<'s>(before: Side<'s>, after: Side<'s>, keys: &dyn Fn(&Item) -> Vec<String>) -> Vec<Pair<'s>> {
    let (mut before, mut after) = (pools(before, keys), pools(after, keys));
    let depth = before.iter().chain(&after).map(|pool| pool.keys.len()).max().unwrap_or(0);
    let mut pairs = Vec::new();
    for by in 0..depth {
        let mut slots = Slots::default();
        before = before.into_iter().filter_map(|pool| slots.put(pool, by, |slot| &mut slot.before)).collect();
        after = after.into_iter().filter_map(|pool| slots.put(pool, by, |slot| &mut slot.after)).collect();
        for slot in slots.all {
            if slot.before.is_empty() || slot.after.is_empty() {
                before.extend(slot.before);
                after.extend(slot.after);
            } else {
                pairs.push(Pair { before: items(slot.before), after: items(slot.after) });
            }
        }
    }
    pairs.extend(by_template(before).into_iter().map(|before| Pair { before, ..Pair::default() }));
    pairs.extend(by_template(after).into_iter().map(|after| Pair { after, ..Pair::default() }));
    pairs
}

/// Slots by key, in the order in which the keys came.
#[derive(Debug, Default)]
struct Slots<'s> {
    places: FxHashMap<String, usize>,
    all: Vec<Slot<'s>>,
}

impl<'s> Slots<'s> {
    /// Puts the pool where its key `by` says; gives it back where it has none.
    fn put(
        &mut self,
        pool: Pool<'s>,
        by: usize,
        side: impl for<'a> Fn(&'a mut Slot<'s>) -> &'a mut Vec<Pool<'s>>,
    ) -> Option<Pool<'s>> {
        let Some(key) = pool.keys.get(by).filter(|key| !key.is_empty()) else { return Some(pool) };
        let at = *self.places.entry(key.clone()).or_insert(self.all.len());
        if at == self.all.len() {
            self.all.push(Slot::default());
        }
        side(&mut self.all[at]).push(pool);
        None
    }
}

/// What is left over on a side: kernels of one template together, because all of them came or went.
fn by_template(pools: Vec<Pool<'_>>) -> Vec<Side<'_>> {
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    let mut found: Vec<Side<'_>> = Vec::new();
    for Pool { items, mut keys } in pools {
        let template = keys.pop().filter(|key| key.starts_with(TEMPLATE));
        let at = template.map_or(found.len(), |key| *places.entry(key).or_insert(found.len()));
        match found.get_mut(at) {
            Some(side) => side.extend(items),
            None => found.push(items),
        }
    }
    found
}

fn items<'s>(pools: Vec<Pool<'s>>) -> Side<'s> {
    pools.into_iter().flat_map(|pool| pool.items).collect()
}

/// Items with the same first key together, most time first.
fn pools<'s>(mut side: Side<'s>, keys: &dyn Fn(&Item) -> Vec<String>) -> Vec<Pool<'s>> {
    side.sort_by(|(_, a), (_, b)| b.ns.cmp(&a.ns).then_with(|| a.name.cmp(&b.name)));
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    let mut pools: Vec<Pool<'s>> = Vec::new();
    for item in side {
        let keys = keys(item.1);
        let first = keys.first().cloned().unwrap_or_default();
        let at = *places.entry(first).or_insert(pools.len());
        match pools.get_mut(at) {
            Some(pool) => pool.items.push(item),
            None => pools.push(Pool { items: vec![item], keys }),
        }
    }
    pools
}
