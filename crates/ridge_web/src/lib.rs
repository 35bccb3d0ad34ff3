//! The page: what it asks, answered from a session; a server on loopback; a report that is one file.
//!
//! A [`Page`] answers addresses such as `table/time/op?sort=self_ns`: each answer is a function of the capture and the
//! address, so the server and a report that holds answers beside the page give the same. docs/web-api.md lists them.
//! Numbers are those of the façade, and JSON is `ridge_report`'s where there is a form of it: nothing is computed twice.
//! Only [`server`] and the program that answers SQL reach outside.
//!
//! Floors, lowest first: `answer`, `interest`, `privacy`, `request`; `known_tables`, `query_program`; `page`; `subjects`, `wanted`; `tables`; `capture`, `event`, `findings`; `routes`; `report`, `server`.

pub mod answer;
mod beside;
mod capture;
mod charts;
mod collectives;
mod compare;
mod critical;
mod durations;
mod event;
mod export;
mod findings;
mod flame;
mod flows;
mod hlo;
mod idle;
mod interest;
mod known_tables;
mod memory;
mod offload;
mod page;
mod privacy;
mod query;
mod query_program;
mod replay;
pub mod report;
mod request;
mod routes;
mod scaling;
mod search;
mod selection;
pub mod server;
mod source;
mod subjects;
mod tables;
mod timeline;
mod wanted;

pub use answer::{Answer, Kind, Refusal};
pub use page::Page;
pub use query_program::QueryProgram;

/// The built page: one file with all that it needs, made by `npm run build` in `ui/`.
pub const INDEX: &str = include_str!("../page/index.html");
