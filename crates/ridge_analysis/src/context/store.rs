//! The parts that analyses of one trace share, each named by its type and kept where it is.

use rustc_hash::FxBuildHasher;
use std::any::{Any, TypeId};
use std::fmt;
use std::hash::BuildHasher;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// More than there are types of parts, so that most lists have one: rules ask for a part once an event.
const LISTS: usize = 128;

/// The parts that were made so far; it keeps what it found, so it serves one trace with one set of ceilings.
///
/// Lists that only grow: a part stays where it is, so references to it live as long as the store.
pub struct Store {
    lists: [OnceLock<Box<Part>>; LISTS],
    made: AtomicUsize,
}

struct Part {
    of: TypeId,
    name: &'static str,
    /// How many were made before it.
    order: usize,
    value: Box<dyn Any + Send + Sync>,
    next: OnceLock<Box<Part>>,
}

impl Default for Store {
    fn default() -> Store {
        Store { lists: [const { OnceLock::new() }; LISTS], made: AtomicUsize::new(0) }
    }
}

impl Store {
    /// The types of the parts, the oldest first.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        let mut parts: Vec<&Part> = self.lists.iter().flat_map(parts).collect();
        parts.sort_by_key(|part| part.order);
        parts.into_iter().map(|part| part.name)
    }

    /// The list in which a part of that type is.
    fn list(&self, of: TypeId) -> &OnceLock<Box<Part>> {
        &self.lists[FxBuildHasher.hash_one(of) as usize % LISTS]
    }

    /// The part `T`, where it was made.
    pub(super) fn find<T: Any>(&self) -> Option<&T> {
        let of = TypeId::of::<T>();
        let part = parts(self.list(of)).find(|part| part.of == of)?;
        part.value.downcast_ref()
    }

    /// Keeps `value`, unless another thread was first; returns the one that is kept.
    pub(super) fn keep<T: Any + Send + Sync>(&self, value: T) -> &T {
        let of = TypeId::of::<T>();
        let order = self.made.fetch_add(1, Ordering::Relaxed);
        let name = std::any::type_name::<T>();
        let mut new = Box::new(Part { of, name, order, value: Box::new(value), next: OnceLock::new() });
        let list = self.list(of);
        let mut end = list;
        loop {
            match end.set(new) {
                Ok(()) => return self.find().expect("it was kept just now"),
                Err(back) => new = back,
            }
            if let Some(first) = self.find() {
                return first;
            }
            end = &parts(list).last().expect("there is one, or it would have been kept").next;
        }
    }
}

fn parts(list: &OnceLock<Box<Part>>) -> impl Iterator<Item = &Part> {
    std::iter::successors(list.get(), |part| part.next.get()).map(AsRef::as_ref)
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
