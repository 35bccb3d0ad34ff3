//! Launches under a hardware profiler: what was counted, what the profiler's rules say, what they are in the trace.

mod join;

pub use join::Found;

use crate::context::profile_numbers::ProfileNumbers;
use crate::{Analysis, Shared};
use ridge_trace::{KernelProfile, ProfileRow, ProfileRule, RuleKind, StringId};
use rustc_hash::FxHashMap;

/// The profiled launches, longest first.
#[derive(Debug)]
pub struct ProfiledLaunches(pub Vec<ProfiledLaunch>);

/// One profiled launch.
#[derive(Debug, Clone)]
pub struct ProfiledLaunch {
    /// Its row among the profiles.
    pub row: ProfileRow,
    /// Kernel, sizes and place in its report.
    pub launch: KernelProfile,
    /// What the hardware counted.
    pub numbers: ProfileNumbers,
    /// The same kernel in the trace, where it is there.
    pub found: Option<Found>,
    /// The gravest message of the profiler's rules.
    pub rule: Option<StringId>,
    /// How many rules said something.
    pub rules: u64,
    /// The largest speedup that a rule estimates, percent.
    pub speedup_pct: Option<f64>,
}

impl Shared for ProfiledLaunches {
    fn make(analysis: &Analysis<'_>) -> ProfiledLaunches {
        let trace = analysis.trace;
        let profiles = &trace.profiles;
        let mut said: FxHashMap<u32, Vec<&ProfileRule>> = FxHashMap::default();
        for rule in &profiles.rules {
            said.entry(rule.profile).or_default().push(rule);
        }
        let launches = profiles.launches.iter().zip((0..).map(ProfileRow)).zip(join::join(analysis));
        let launch = |((launch, row), found): ((&KernelProfile, ProfileRow), Option<Found>)| {
            let rules = || said.get(&row.0).into_iter().flatten();
            let gravest = rules().max_by_key(|rule| rule.kind == RuleKind::Warning);
            ProfiledLaunch {
                row,
                launch: *launch,
                numbers: ProfileNumbers::of(profiles, &trace.strings, row.0),
                found,
                rule: gravest.map(|rule| rule.message),
                rules: rules().count() as u64,
                speedup_pct: rules().filter_map(|rule| rule.speedup_pct).reduce(f64::max),
            }
        };
        let mut launches: Vec<ProfiledLaunch> = launches.map(launch).collect();
        let duration = |launch: &ProfiledLaunch| launch.numbers.duration_ns.unwrap_or(0.0);
        launches.sort_by(|a, b| duration(b).total_cmp(&duration(a)));
        ProfiledLaunches(launches)
    }
}
