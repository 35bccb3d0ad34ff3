//! What a profiler server can be asked, one method each.

use crate::error::RemoteError;
use crate::grpc::call;
use crate::messages;
use crate::target::Target;
use std::time::Duration;

/// How much of a server's answer is taken, and how long it may be silent.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of one answer.
    pub most_bytes: u64,
    /// Time for an answer beyond the time that was to be captured.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { most_bytes: 2 << 30, patience: Duration::from_secs(120) }
    }
}

/// A server and how far it is trusted.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) target: Target,
    pub(crate) limits: Limits,
}

/// A message without any field.
const EMPTY: Vec<u8> = Vec::new();
/// Time for answers that need no work.
const SOON: Duration = Duration::from_secs(30);

impl Server {
    /// A capture of `duration` from now on: an XSpace.
    pub(crate) async fn profile(&self, duration: Duration, session: &str) -> Result<Vec<u8>, RemoteError> {
        let request = messages::profile(duration, session, self.target.host());
        let answer = self.call("Profile", request, duration.saturating_add(self.limits.patience)).await?;
        messages::xspace(&answer).map(<[u8]>::to_vec)
    }

    /// Ends the capture of `session`, whose call then answers with what it has.
    pub(crate) async fn terminate(&self, session: &str) -> Result<(), RemoteError> {
        self.call("Terminate", messages::terminate(session), SOON).await.map(drop)
    }

    /// Begins to record into a ring that keeps the last stretch.
    pub(crate) async fn start(&self) -> Result<(), RemoteError> {
        let request = messages::profile(Duration::ZERO, "", self.target.host());
        self.call("StartContinuousProfiling", request, SOON).await.map(drop)
    }

    /// What the ring holds: an XSpace.
    pub(crate) async fn snapshot(&self) -> Result<Vec<u8>, RemoteError> {
        let answer = self.call("GetSnapshot", EMPTY, self.limits.patience).await?;
        messages::xspace(&answer).map(<[u8]>::to_vec)
    }

    /// Ends the recording into the ring.
    pub(crate) async fn stop(&self) -> Result<(), RemoteError> {
        self.call("StopContinuousProfiling", EMPTY, SOON).await.map(drop)
    }

    async fn call(&self, method: &str, request: Vec<u8>, deadline: Duration) -> Result<Vec<u8>, RemoteError> {
        let path = format!("/tensorflow.ProfilerService/{method}");
        call(&self.target, &path, request, deadline, self.limits.most_bytes).await
    }
}
