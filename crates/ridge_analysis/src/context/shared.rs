//! What analyses of one trace share: each part is named by its type, made once, and kept.
//!
//! A part is [`Shared`]: it says which others it needs and how it is made. Whoever is about to ask in parallel calls
//! [`Analysis::prepare`] first, so that no part is made twice. A part is made without holding a lock, so a task that
//! makes one and is given other work meanwhile can never wait for itself; the first to finish is the one that is kept.

use super::durations::Durations;
use crate::{Analysis, Executions, Owners, WorkGroups};
use std::fmt;

/// A part that several analyses ask for.
pub trait Shared: fmt::Debug + Sized + Send + Sync + 'static {
    /// The parts that it asks for while it is made.
    const NEEDS: &'static [Need] = &[];

    /// Makes it.
    fn make(analysis: &Analysis<'_>) -> Self;
}

/// A part that must be there before work goes on in parallel.
#[derive(Debug, Clone, Copy)]
pub struct Need {
    prepare: fn(&Analysis<'_>),
}

impl Need {
    /// The need for `T`, and for all that `T` needs.
    pub const fn of<T: Shared>() -> Need {
        Need { prepare: prepare::<T> }
    }
}

fn prepare<T: Shared>(analysis: &Analysis<'_>) {
    analysis.prepare(T::NEEDS);
    analysis.get::<T>();
}

impl<'a> Analysis<'a> {
    /// Makes what `needs` name, one after the other, each with tasks of its own.
    pub fn prepare(&self, needs: &[Need]) {
        needs.iter().for_each(|need| (need.prepare)(self));
    }

    /// The part `T`, made now if nobody asked before.
    pub fn get<T: Shared>(&self) -> &'a T {
        match self.store.find::<T>() {
            Some(found) => found,
            None => self.store.keep(T::make(self)),
        }
    }
}

macro_rules! made_of_the_trace {
    ($($part:ty),*) => {
        $(impl Shared for $part {
            fn make(analysis: &Analysis<'_>) -> $part {
                <$part>::new(analysis.trace)
            }
        })*
    };
}

made_of_the_trace!(WorkGroups, Durations, Owners);

impl Shared for Executions {
    fn make(analysis: &Analysis<'_>) -> Executions {
        Executions::new(analysis.trace, analysis.hlo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;
    use rayon::prelude::*;

    #[derive(Debug)]
    struct Doubled(usize);

    impl Shared for Doubled {
        const NEEDS: &'static [Need] = &[Need::of::<WorkGroups>()];

        fn make(analysis: &Analysis<'_>) -> Doubled {
            Doubled(analysis.groups().groups.len() * 2)
        }
    }

    #[test]
    fn a_need_brings_what_it_needs_itself() {
        let trace = ridge_test::trace("stream 1 on gpu\n  0 +5 a\n  9 +5 b");
        let store = Store::default();
        let analysis = Analysis { trace: &trace, hlo: &[], ceilings: &[], compilations: &[], store: &store };
        assert_eq!(format!("{store:?}"), "[]");
        analysis.prepare(&[Need::of::<Doubled>(), Need::of::<Executions>()]);
        let made: Vec<&str> = store.names().map(|name| name.rsplit("::").next().expect("a name")).collect();
        assert_eq!(made, ["WorkGroups", "Doubled", "Executions"]);
        assert_eq!(analysis.get::<Doubled>().0, 4);
    }

    #[test]
    fn all_who_ask_at_once_get_the_same_part() {
        let trace = ridge_test::trace("stream 1 on gpu\n  0 +5 a");
        let store = Store::default();
        let analysis = Analysis { trace: &trace, hlo: &[], ceilings: &[], compilations: &[], store: &store };
        let asked: Vec<usize> =
            (0..64).into_par_iter().map(|_| std::ptr::from_ref(analysis.get::<Doubled>()) as usize).collect();
        assert!(asked.iter().all(|at| *at == asked[0]), "{asked:?}");
    }
}
