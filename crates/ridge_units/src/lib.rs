//! Nanoseconds, bytes and shares as types that do not mix, and how they print.
//!
//! Every number Ridgeline shows carries a unit.
//! These types keep the unit with the number inside the program, and their `Display` picks the scale for a reader:
//! at most three significant digits, thousands with commas, and the unit after a space (a percent sign without one).
//! Nothing here knows what is being measured.
//!
//! ```
//! use ridge_units::{Bytes, Nanos, Share};
//! assert_eq!(Nanos(14_344_140).to_string(), "14.3 ms");
//! assert_eq!(Bytes(1_158_138_880).to_string(), "1.08 GiB");
//! assert_eq!(Share(0.1234).to_string(), "12.3%");
//! ```

mod bytes;
mod digits;
mod rates;
mod share;
mod time;
mod words;

pub use bytes::Bytes;
pub use digits::three_digits;
pub use rates::{BytesPerSec, Count, FlopPerByte, Flops, FlopsPerSec, OpsPerSec};
pub use share::Share;
pub use time::{Nanos, Picos};
pub use words::{counted, time_interval};
