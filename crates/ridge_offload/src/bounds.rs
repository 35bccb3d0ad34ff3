//! What no design can get around on a board: everything at its best, and still too slow.

use crate::draw::Draw;
use crate::parameter::Parameter;
use crate::time::{BoundBy, time};
use crate::{Board, Constants, Workload};

/// A bound that forbids a gain.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Forbids {
    /// What takes longest.
    pub(crate) by: BoundBy,
    /// The least time on the board, seconds, with everything at its best and data on the board.
    pub(crate) least_s: f64,
}

/// The least time of a call on `board`, with data there and everything at its best.
pub(crate) fn least(workload: &Workload, board: &Board, constants: &Constants) -> Option<Forbids> {
    let parts = time(workload, board, &best(constants), constants)?;
    Some(Forbids { by: parts.resident_bound(), least_s: parts.resident_s() })
}

/// Every parameter at its best.
fn best(constants: &Constants) -> Draw {
    use Parameter::{Conflict, DdrLatency, Depth, HbmLatency, Launch};
    let low = [Conflict, DdrLatency, Depth, HbmLatency, Launch];
    let draw = Draw::at(constants, 1.0);
    low.into_iter().fold(draw, |draw, parameter| draw.with(parameter, Draw::value(constants, parameter, 0.0)))
}
