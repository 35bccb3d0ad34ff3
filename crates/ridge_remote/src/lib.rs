//! Captures of programs that run already, from the server that `jax.profiler.start_server` opens in them.
//!
//! The server speaks gRPC in plain TCP and asks for no password; whoever reaches its port can profile the program.
//! Nothing that it sends is trusted: answers have a bound, calls a deadline, and room grows with what has come.
//!
//! Floors, lowest first: `wire`, `error`, `target`; `messages`, `grpc`; `server`; `hosts`; `keep`.

mod error;
mod grpc;
mod hosts;
mod keep;
mod messages;
mod server;
mod target;
mod wire;

pub use error::RemoteError;
pub use hosts::{Answer, Ask, ask};
pub use keep::{keep, place};
pub use server::Limits;
pub use target::Target;
