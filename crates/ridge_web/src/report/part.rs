//! The views that a report may show, by the names that the command line has for them.

/// A part of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// What the capture is and where its time went; always there.
    Overview,
    /// What holds the program back.
    Findings,
    /// The timeline.
    Timeline,
    /// The tables.
    Operations,
    /// Flames.
    Flame,
    /// The roofline.
    Roofline,
    /// Memory over time.
    Memory,
    /// Why devices were idle.
    Idle,
    /// What was copied.
    Transfers,
    /// What other hardware would gain.
    Offload,
    /// What is otherwise than in another capture.
    Compare,
    /// Step times, and the median step beside the outlier.
    Steps,
    /// Predicted timelines with the changes of findings made.
    WhatIf,
    /// Growth over sizes, or steps over time.
    Scaling,
    /// Compiled programs.
    Graph,
    /// The program's files.
    Source,
}

impl Part {
    /// Every part, in the order of the page.
    pub const ALL: [Part; 16] = [
        Part::Overview,
        Part::Findings,
        Part::WhatIf,
        Part::Steps,
        Part::Timeline,
        Part::Operations,
        Part::Flame,
        Part::Roofline,
        Part::Memory,
        Part::Idle,
        Part::Transfers,
        Part::Graph,
        Part::Source,
        Part::Offload,
        Part::Compare,
        Part::Scaling,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Part::Overview => "overview",
            Part::Findings => "findings",
            Part::Timeline => "timeline",
            Part::Operations => "operations",
            Part::Flame => "flame",
            Part::Roofline => "roofline",
            Part::Memory => "memory",
            Part::Idle => "idle",
            Part::Transfers => "transfers",
            Part::Offload => "offload",
            Part::Compare => "compare",
            Part::Steps => "steps",
            Part::WhatIf => "whatif",
            Part::Scaling => "scaling",
            Part::Graph => "graph",
            Part::Source => "source",
        }
    }
}
