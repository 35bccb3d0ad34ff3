//! What a cost rests on besides the program: models, bounds and choices, and work that HLO does not tell.

use std::fmt;

use crate::{HloModule, InstructionId};

macro_rules! assumptions {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $text:literal;)*) => {
        /// Something a number rests on that the program does not say.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Assumption {
            $($(#[$doc])* $variant,)*
        }

        impl Assumption {
            /// All of them.
            pub const ALL: &[Assumption] = &[$(Assumption::$variant,)*];

            /// Its name in tables and JSON.
            pub fn name(self) -> &'static str {
                match self {
                    $(Assumption::$variant => $name,)*
                }
            }

            /// It as a sentence's part, `the trip count of a loop is unknown: one iteration is counted`.
            pub fn text(self) -> &'static str {
                match self {
                    $(Assumption::$variant => $text,)*
                }
            }
        }
    };
}

assumptions! {
    /// A loop whose trip count nobody knew counts one iteration.
    TripCountUnknown = "trip_count_unknown", "the trip count of a loop is unknown: one iteration is counted";
    /// A loop's trip count was observed rather than known to the compiler.
    TripCountObserved = "trip_count_observed", "the trip count of a loop was observed";
    /// A loop's trip count was found by following its counter.
    TripCountDerived = "trip_count_derived", "the trip count of a loop was derived from its counter";
    /// How often each branch of a conditional was taken was observed.
    BranchesObserved = "branches_observed", "how often each branch of a conditional was taken was observed";
    /// Of a conditional, the branch with the most work counts.
    LargestBranch = "largest_branch", "of a conditional, the branch with the most work is counted";
    /// Sorting takes n log₂ n comparisons.
    SortModel = "sort_model", "sorting n elements takes n log2 n comparisons";
    /// A Fourier transform takes 5 n log₂ n operations, half of it on real input.
    FftModel = "fft_model", "a transform of n points takes 5 n log2 n operations, half of it on real numbers";
    /// An iterative decomposition takes its textbook's operation count.
    IterativeModel = "iterative_model", "an iterative decomposition takes its textbook's operation count";
    /// Generating random bits takes its algorithm's operation count.
    RandomModel = "random_model", "random bits take the integer operations of their algorithm";
    /// Dynamic and ragged extents count as their upper bound.
    UpperBound = "upper_bound", "dynamic or ragged extents count as their upper bound";
    /// The work of a custom call was derived from its shapes alone.
    FromShapes = "from_shapes", "the work of a custom call was derived from its shapes";
    /// The work of a custom call is what its author stated.
    StatedEstimate = "stated_estimate", "the work of a custom call is its author's estimate";
    /// An attention kernel works on the unmasked part of the score matrix.
    CausalMask = "causal_mask", "attention under a causal mask works on half of the scores";
    /// What a library call does after its main work was left out.
    EpilogueLeftOut = "epilogue_left_out", "the epilogue of a library call is not counted";
    /// The size of a collective's group is not known.
    GroupSizeUnknown = "group_size_unknown", "the devices of a collective are unknown: its whole payload is counted";
    /// A size did not fit or a computation calls itself.
    Bounded = "bounded", "a size or nesting beyond reason was cut off";
}

/// A set of [`Assumption`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Assumptions(u32);

impl Assumptions {
    /// Whether nothing is assumed.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `assumption` is made.
    pub fn contains(self, assumption: Assumption) -> bool {
        self.0 & bit(assumption) != 0
    }

    /// Those made, in a fixed order.
    pub fn iter(self) -> impl Iterator<Item = Assumption> {
        Assumption::ALL.iter().copied().filter(move |assumption| self.contains(*assumption))
    }

    pub(super) fn add(&mut self, assumption: Assumption) {
        self.0 |= bit(assumption);
    }

    pub(super) fn add_all(&mut self, other: Assumptions) {
        self.0 |= other.0;
    }
}

fn bit(assumption: Assumption) -> u32 {
    1 << assumption as u32
}

impl fmt::Display for Assumptions {
    /// Their sentences, separated by semicolons.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, assumption) in self.iter().enumerate() {
            f.write_str(if position == 0 { "" } else { "; " })?;
            f.write_str(assumption.text())?;
        }
        Ok(())
    }
}

/// Why the work of an instruction cannot be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnknownWhy {
    /// It calls something outside HLO that this crate has no formula for.
    CustomCall,
    /// This crate does not know the opcode.
    Opcode,
    /// What a formula needs is missing or makes no sense.
    Attributes,
    /// A computation calls itself.
    Recursion,
}

/// Work that is done but not counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnknownWork {
    /// The first instruction it comes from.
    pub at: InstructionId,
    /// Why it is not known.
    pub why: UnknownWhy,
    /// How often instructions of unknown work run.
    pub calls: f64,
}

impl UnknownWork {
    /// The reason as a sentence's part: ``custom call `foo` ``.
    pub fn reason(&self, module: &HloModule) -> String {
        let instruction = module.instruction(self.at);
        match self.why {
            UnknownWhy::CustomCall => {
                format!("custom call `{}`", instruction.custom_call_target.as_deref().unwrap_or_default())
            }
            UnknownWhy::Opcode => format!("opcode `{}`", instruction.opcode),
            UnknownWhy::Attributes => format!("`{}` without what its work depends on", instruction.opcode),
            UnknownWhy::Recursion => "a computation that calls itself".to_owned(),
        }
    }
}
