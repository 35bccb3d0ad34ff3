//! The critical path of a capture, where the replay explains what its parts waited for.

use crate::session::Session;
use ridge_replay::{Options, PathPart, Replay};

impl Session {
    /// What the capture's duration depended on, in order of time.
    ///
    /// # Errors
    /// Why nothing can be said, a sentence without a period: too much of the time hangs on waits that the capture doesn't
    /// explain.
    pub fn critical_path(&self) -> Result<Vec<PathPart>, String> {
        let replay = Replay::new(self.trace(), &Options::default());
        match replay.baseline().refused.iter().find(|reason| reason.is_out_of_reach()) {
            Some(reason) => Err(reason.to_string()),
            None => Ok(replay.critical_path()),
        }
    }
}
