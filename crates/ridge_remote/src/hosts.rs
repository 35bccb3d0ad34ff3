//! The same question to several servers at once.

use crate::error::RemoteError;
use crate::messages;
use crate::server::{Limits, Server};
use crate::target::Target;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinSet;

/// What servers are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// To capture this long, from now on. An interrupt ends it early, and what was captured until then is kept.
    Capture(Duration),
    /// To record into a ring, until they are asked to stop.
    Start,
    /// For what the ring holds. Compiled modules, which a ring has not, are asked for by a short capture where
    /// `with_modules`; the ring starts anew then.
    Snapshot {
        /// Whether modules are asked for.
        with_modules: bool,
    },
    /// To stop recording into the ring.
    Stop,
}

/// What one server answered.
#[derive(Debug)]
pub struct Answer {
    /// The server.
    pub target: Target,
    /// An XSpace, where it was asked for one.
    pub xspace: Result<Option<Vec<u8>>, RemoteError>,
    /// What else is to be said.
    pub note: Option<String>,
}

/// Asks every one of `targets` at the same time; the answers are in their order. `begun` is called once an interrupt is
/// heard.
///
/// # Errors
/// If the system gives no event loop.
pub fn ask(targets: &[Target], ask: Ask, limits: Limits, begun: impl FnOnce()) -> io::Result<Vec<Answer>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let mut answers = runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for (at, target) in targets.iter().cloned().enumerate() {
            let (server, interrupts) = (Server { target, limits }, interrupts(ask)?);
            tasks.spawn(async move { (at, answer(&server, ask, interrupts).await) });
        }
        begun();
        io::Result::Ok(tasks.join_all().await)
    })?;
    answers.sort_by_key(|(at, _)| *at);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

/// Interrupts, from now on, where they end a capture; elsewhere they end the command.
fn interrupts(ask: Ask) -> io::Result<Option<Signal>> {
    matches!(ask, Ask::Capture(_)).then(|| signal(SignalKind::interrupt())).transpose()
}

async fn answer(server: &Server, ask: Ask, interrupts: Option<Signal>) -> Answer {
    let mut note = None;
    let xspace = match ask {
        Ask::Capture(duration) => capture(server, duration, interrupts).await.map(Some),
        Ask::Start => server.start().await.map(|()| None),
        Ask::Stop => server.stop().await.map(|()| None),
        Ask::Snapshot { with_modules } => snapshot(server, with_modules, &mut note).await.map(Some),
    };
    Answer { target: server.target.clone(), xspace, note }
}

async fn capture(server: &Server, duration: Duration, interrupts: Option<Signal>) -> Result<Vec<u8>, RemoteError> {
    let session = session();
    let capture = server.profile(duration, &session);
    tokio::pin!(capture);
    let Some(mut interrupts) = interrupts else { return capture.await };
    tokio::select! {
        captured = &mut capture => return captured,
        _ = interrupts.recv() => {}
    }
    // The capture's own call answers with what there is.
    tokio::select! {
        terminated = server.terminate(&session) => terminated?,
        _ = interrupts.recv() => return Err(RemoteError::Interrupted),
    }
    // Whoever interrupts again does not want to wait for it.
    tokio::select! {
        captured = &mut capture => captured,
        _ = interrupts.recv() => Err(RemoteError::Interrupted),
    }
}

/// A capture of this length is only for the modules, which it has all of however short it is.
const BRIEFLY: Duration = Duration::from_millis(1);

async fn snapshot(server: &Server, with_modules: bool, note: &mut Option<String>) -> Result<Vec<u8>, RemoteError> {
    let mut snapshot = server.snapshot().await?;
    if with_modules && !messages::has_modules(&snapshot) {
        match modules(server).await {
            Ok(modules) => snapshot.extend_from_slice(&modules),
            Err(error) => *note = Some(format!("its compiled modules are missing: {error}")),
        }
    }
    Ok(snapshot)
}

/// The compiled modules that the program holds. A server captures one thing at a time, so the ring makes room.
async fn modules(server: &Server) -> Result<Vec<u8>, RemoteError> {
    server.stop().await?;
    let captured = server.profile(BRIEFLY, &session()).await;
    server.start().await?;
    Ok(messages::modules(&captured?))
}

/// A name for a capture that no other has.
fn session() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("ridgeline-{}-{}", std::process::id(), now.as_nanos())
}
