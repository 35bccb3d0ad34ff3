//! What can go wrong with a server elsewhere.

use std::io;
use std::time::Duration;

/// Why there is no capture of a server.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// Nothing answers at the address.
    #[error("nothing listens there: {0}")]
    Unreachable(io::Error),
    /// It did not answer in time.
    #[error("no answer after {:.1} s", .0.as_secs_f64())]
    Late(Duration),
    /// What answers is something else.
    #[error("the server at that port is not a profiler server: {0}")]
    NoProfiler(String),
    /// The server refused, with its own words.
    #[error("the server refused: {message} (gRPC status {code})")]
    Refused {
        /// The status, by gRPC's numbers.
        code: u32,
        /// What the server says.
        message: String,
    },
    /// The answer is larger than it may be.
    #[error("the answer is larger than {0} bytes")]
    TooLarge(u64),
    /// The answer cannot be read.
    #[error("the answer cannot be read: {0}")]
    Broken(&'static str),
    /// The server has nothing to give.
    #[error("the server recorded nothing")]
    Nothing,
    /// The user did not wait for it.
    #[error("interrupted")]
    Interrupted,
    /// What came could not be written.
    #[error("the capture could not be written: {0}")]
    Unwritten(io::Error),
}
