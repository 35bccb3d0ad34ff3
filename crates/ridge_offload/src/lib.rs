//! Which parts of a program other hardware would really speed up, what that would gain, and what forbids it.
//!
//! Three floors:
//! - what is known: [`Constants`] and [`Board`]s, each figure with unit, basis and source, and kernels that others
//!   published ([`published`]), against which the model is scored and by which its intervals are widened;
//! - the model: the [`time`] of a [`Workload`] on a board, drawn many times over what nobody knows before a design is
//!   built ([`predict`]), and the roofline of another GPU;
//! - the answer: [`regions`] of a capture, and for each a [`Verdict`] with the reason.
//!
//! Every time on a board is a prediction. Formulas and their sources are in `docs/offload.md`, what the predictions are
//! worth is in `docs/offload-validation.md`.
//!
//! Nothing here opens a file or renders text.

mod answer;
mod baseline;
mod basis;
mod blind;
mod board;
mod bounds;
mod bundle;
mod class;
mod conformal;
mod constants;
mod cut;
mod draw;
mod fix;
mod flow;
pub mod gpus;
mod launch;
mod loop_state;
mod operators;
mod parameter;
mod predict;
pub mod published;
mod regions;
mod row;
mod shapes;
mod specification;
mod target;
mod time;
pub mod validation;
mod verdict;
mod what_if;
mod workload;

pub use answer::{Ask, BoardAnswer, Cut, Energy, Generated, Offload, OpenedCut, RegionAnswer, Sensitivity, offload};
pub use baseline::{Baseline, Host};
pub use basis::Basis;
pub use board::{Board, BoardError, Family, Figure, Link, Memory, MemoryKind, boards};
pub use bundle::{Bundle, BundleUse, Cells, Core, DesignBasis};
pub use class::Class;
pub use conformal::{Calibration, Widening};
pub use constants::{Constant, Constants, Fixed, constants};
pub use draw::Draw;
pub use fix::Fix;
pub use launch::{LaunchGpu, LaunchTime, LaunchWidth, LaunchWork, launch_time};
pub use operators::{Format, Operator, OperatorCost};
pub use parameter::Parameter;
pub use predict::{Interval, Prediction, predict};
pub use regions::{Compiled, Flow, Location, NO_MODULE, Node, Opened, Region, RegionOp, Specification, regions};
/// By what a time on another GPU is found.
pub use ridge_analysis::ScaledBy;
pub use target::TargetGpu;
pub use time::{BoundBy, Parts, time};
pub use verdict::Verdict;
pub use what_if::{WhatIf, WhatIfError};
pub use workload::{Contraction, Limits, MergeSort, Operations, Stencil, Table, Workload};
