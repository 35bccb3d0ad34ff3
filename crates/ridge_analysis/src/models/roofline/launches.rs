//! Launches under a hardware profiler, with the roofs that their reports measure.

use super::tiers::Tiers;
use crate::Analysis;
use ridge_trace::{KernelProfile, ProfileRow};

/// A launch with its roofs.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// Its row among the profiles.
    pub row: ProfileRow,
    /// Kernel, sizes and place in its report.
    pub launch: KernelProfile,
    /// What it reached of the roofs.
    pub tiers: Tiers,
}

/// The profiled launches, longest first.
pub fn launches(analysis: &Analysis<'_>) -> Vec<Launch> {
    let (profiles, strings) = (&analysis.trace.profiles, &analysis.trace.strings);
    let launches = profiles.launches.iter().zip((0..).map(ProfileRow));
    let launch = |(launch, row): (&KernelProfile, ProfileRow)| Launch {
        row,
        launch: *launch,
        tiers: Tiers::of(profiles, strings, row.0),
    };
    let mut rows: Vec<Launch> = launches.map(launch).collect();
    rows.sort_by(|a, b| b.tiers.secs.unwrap_or(0.0).total_cmp(&a.tiers.secs.unwrap_or(0.0)));
    rows
}
