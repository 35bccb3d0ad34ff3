//! One region with its verdict.

use super::boards::{BoardAnswer, Sensitivity};
use crate::predict::Interval;
use crate::regions::Region;
use crate::{Class, Core, Fix, Verdict};

/// One region with its verdict.
#[derive(Debug, Clone)]
pub struct RegionAnswer {
    /// The region.
    pub region: Region,
    /// The core that was generated of it, where a bundle has one.
    pub core: Option<Core>,
    /// What is to be done with it.
    pub verdict: Verdict,
    /// Why, in words.
    pub why: String,
    /// What kind of work decides its time; `None` without a specification.
    pub class: Option<Class>,
    /// One call on the program's own device, seconds; `None` where nothing tells.
    pub call_s: Option<Interval>,
    /// How many times longer the program takes than it must.
    pub headroom: Option<f64>,
    /// Which change of the program is worth most, where that is more than other hardware.
    pub fix: Option<Fix>,
    /// Kernels that one call starts.
    pub launches: f64,
    /// Launches of the program's device that one call of a board must replace before it can gain, by its setup alone.
    pub launches_to_replace: Option<f64>,
    /// Each board and GPU, the fastest first.
    pub boards: Vec<BoardAnswer>,
    /// What changes the time on the fastest board most, most first.
    pub sensitivities: Vec<Sensitivity>,
}
