//! The parts that analyses of one trace share, each named by its type and kept where it is.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::OnceLock;

/// The parts that were made so far; it keeps what it found, so it serves one trace with one set of ceilings.
///
/// A list that only grows: a part stays where it is, so references to it live as long as the store.
#[derive(Default)]
pub struct Store {
    first: OnceLock<Box<Part>>,
}

struct Part {
    of: TypeId,
    name: &'static str,
    value: Box<dyn Any + Send + Sync>,
    next: OnceLock<Box<Part>>,
}

impl Store {
    /// The types of the parts, the oldest first.
    #[cfg(test)]
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.parts().map(|part| part.name)
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        std::iter::successors(self.first.get(), |part| part.next.get()).map(AsRef::as_ref)
    }

    /// The part `T`, where it was made.
    pub(super) fn find<T: Any>(&self) -> Option<&T> {
        let part = self.parts().find(|part| part.of == TypeId::of::<T>())?;
        part.value.downcast_ref()
    }

    /// Keeps `value`, unless another thread was first; returns the one that is kept.
    pub(super) fn keep<T: Any + Send + Sync>(&self, value: T) -> &T {
        let name = std::any::type_name::<T>();
        let mut new = Box::new(Part { of: TypeId::of::<T>(), name, value: Box::new(value), next: OnceLock::new() });
        let mut end = &self.first;
        loop {
            match end.set(new) {
                Ok(()) => return self.find().expect("it was kept just now"),
                Err(back) => new = back,
            }
            if let Some(first) = self.find() {
                return first;
            }
            end = &self.parts().last().expect("there is one, or it would have been kept").next;
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.parts().map(|part| part.name)).finish()
    }
}
