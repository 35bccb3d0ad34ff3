//! What is to be done with a region, and why.

/// What is to be done with a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// A change of the program is worth more than other hardware.
    GpuFirst,
    /// No board makes it faster, whatever the design.
    NeverOnThroughput,
    /// A board answers sooner, in the whole of the interval.
    LatencyCandidate,
    /// A board is slower and takes less energy, in the whole of the interval.
    EnergyCandidate,
    /// A board keeps pace with data that are born at it.
    StreamCandidate,
    /// The interval holds both a gain and a loss.
    Undecided,
    /// What it computes cannot be said.
    NoSpecification,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Verdict; 7] = [
        Verdict::LatencyCandidate,
        Verdict::StreamCandidate,
        Verdict::EnergyCandidate,
        Verdict::GpuFirst,
        Verdict::Undecided,
        Verdict::NeverOnThroughput,
        Verdict::NoSpecification,
    ];

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::GpuFirst => "GPU first",
            Verdict::NeverOnThroughput => "never on throughput",
            Verdict::LatencyCandidate => "latency candidate",
            Verdict::EnergyCandidate => "energy candidate",
            Verdict::StreamCandidate => "in-line stream candidate",
            Verdict::Undecided => "undecided",
            Verdict::NoSpecification => "no specification",
        }
    }

    /// The verdict in tables and sentences.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::GpuFirst => "fix first",
            verdict => verdict.name(),
        }
    }

    /// Whether other hardware is worth a look.
    pub fn is_candidate(self) -> bool {
        matches!(self, Verdict::LatencyCandidate | Verdict::EnergyCandidate | Verdict::StreamCandidate)
    }
}
