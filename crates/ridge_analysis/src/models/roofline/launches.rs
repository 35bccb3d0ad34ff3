//! Launches under a hardware profiler, with the roofs that their reports measure.

use super::tiers::Tiers;
use crate::Analysis;
use ridge_trace::{KernelProfile, ProfileRow};

/// A launch with its roofs.
pub(crate) struct Launch<'a> {
    pub(crate) row: ProfileRow,
    pub(crate) launch: &'a KernelProfile,
    pub(crate) tiers: Tiers,
}

/// The profiled launches, longest first.
pub(crate) fn launches<'a>(analysis: &Analysis<'a>) -> Vec<Launch<'a>> {
    let (profiles, strings) = (&analysis.trace.profiles, &analysis.trace.strings);
    let launches = profiles.launches.iter().zip((0..).map(ProfileRow));
    let launch = |(launch, row): (_, ProfileRow)| Launch { row, launch, tiers: Tiers::of(profiles, strings, row.0) };
    let mut rows: Vec<Launch<'_>> = launches.map(launch).collect();
    rows.sort_by(|a, b| b.tiers.secs.unwrap_or(0.0).total_cmp(&a.tiers.secs.unwrap_or(0.0)));
    rows
}
