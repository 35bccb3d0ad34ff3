//! What a program's schedule alone says of its memory: when each value lives, and which arguments could have held a
//! result.
//!
//! It decides no addresses and reads no buffer assignment: [`crate::BufferAssignment`] has what the compiler chose.

mod donation;
mod in_place;
mod liveness;
mod schedule;

pub use donation::{MissedDonation, missed_donations};
pub use in_place::copies_before_sorts;
pub use liveness::{Liveness, Value};
pub use schedule::Schedule;
