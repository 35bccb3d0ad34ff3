//! What holds a program back, where, why, and what mending it would save.
//!
//! A [`Rule`] is one file and one document in `rules/`: it asks typed answers of `ridge_analysis` and gives
//! [`Finding`]s, each with what it is about, its evidence and a *claim*, which is the part of the devices' time that it
//! says would go.
//! [`diagnose`] runs the rules: first those that judge whether the capture is fit to answer at all, then the others,
//! each of which finds something, finds nothing, or says why it cannot tell and which command would let it.
//! Claims name rows of a partition of the time ([`ridge_analysis::Breakdown`]), so what all findings hold together is never
//! more than there is; savings are computed by replaying the capture with the change made ([`ridge_replay`]), and on
//! processors are what is claimed.
//!
//! No file is opened here, no format is known, and nothing is rendered but sentences.
//!
//! Floors, lowest first: `saving`; `finding`, `record`; `case`; `log`; `predict`, `rule`; `rules`; `diagnose`.

mod allocators;
mod arguments;
mod calls;
mod case;
mod collectives;
mod copying;
mod diagnose;
mod eager;
mod factors;
mod finding;
mod fitness;
mod kernels;
mod known;
mod launched;
mod lengths;
mod libraries;
mod library;
mod log;
mod losses;
mod operator_calls;
mod orders;
mod parts;
mod pauses;
mod places;
mod predict;
mod pricing;
mod products;
mod profiled;
mod programs;
mod record;
mod recurring;
mod rewrites;
mod rule;
mod rules;
mod saving;
mod seen;
mod serving;
mod slack;
mod steered;
mod turns;
mod updates;
mod waits;
mod watched;
mod words;

pub use case::Case;
pub use collectives::exposed_collectives;
pub use diagnose::{Diagnosis, Outcome, Selection, State, diagnose};
pub use finding::{Evidence, Finding, Level, Place};
pub use fitness::{CannotTell, Doubt, Question};
pub use known::{Compiled, CompiledAgain, Known, Seen, StepTimes};
pub use log::MonitorLog;
pub use predict::retimed;
pub use record::{BlindRecord, Record, Standing, blind_record_of, record_of, standing};
pub use rule::{Find, FindRest, Group, Rule};
pub use rules::{RULES, rule};
pub use saving::{Saving, SavingBasis};
