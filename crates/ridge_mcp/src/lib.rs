//! A server of the Model Context Protocol: what an agent asks of a capture, over standard input and output.
//!
//! Eight tools, all of which only read. A reply is text of a bounded size: what does not fit is left out, and the reply says how
//! much that is and how to ask for it. Every number has its unit, and where it comes from.
//!
//! The messages are lines of JSON-RPC, one after the other; [`serve`] answers them until its input ends.
//!
//! Floors, lowest first: `reply`, `protocol`; `captures`; `tables`, `words`; `tools`; `server`.

mod captures;
mod protocol;
mod reply;
mod server;
mod tables;
mod tools;
mod words;

pub use server::serve;
