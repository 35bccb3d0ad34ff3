//! What is not known before a design is built, by name and unit.

macro_rules! parameters {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $words:literal, $scale:expr;)*) => {
        /// Something that is not known before a design is built.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Parameter {
            $($(#[$doc])* $variant,)*
        }

        impl Parameter {
            /// All of them.
            pub const ALL: [Parameter; [$($name),*].len()] = [$(Parameter::$variant),*];

            /// The name in files and options.
            pub fn name(self) -> &'static str {
                match self {
                    $(Parameter::$variant => $name,)*
                }
            }

            /// It in words.
            pub fn words(self) -> &'static str {
                match self {
                    $(Parameter::$variant => $words,)*
                }
            }

            /// What turns the unit of the file into that of the formulas: Hz, s, 1.
            pub(crate) fn scale(self) -> f64 {
                match self {
                    $(Parameter::$variant => $scale,)*
                }
            }
        }
    };
}

parameters! {
    /// Clock of the kernel, Hz.
    Clock = "clock", "clock", 1e6;
    /// Part of the DSP slices that a design can use.
    DspUse = "dsp_use", "usable part of the DSP slices", 1.0;
    /// Part of the look-up tables that a design can use.
    LutUse = "lut_use", "usable part of the look-up tables", 1.0;
    /// Part of the memory on the chip that a design can use.
    OnchipUse = "onchip_use", "usable part of the memory on the chip", 1.0;
    /// Part of its clocks in which a pipeline works.
    Pipeline = "pipeline", "busy part of the pipeline's clocks", 1.0;
    /// Part of HBM's peak rate.
    HbmRate = "hbm_rate", "reached part of HBM's rate", 1.0;
    /// Part of DDR's peak rate.
    DdrRate = "ddr_rate", "reached part of DDR's rate", 1.0;
    /// A random access to HBM, seconds.
    HbmLatency = "hbm_latency", "latency of HBM", 1e-9;
    /// A random access to DDR, seconds.
    DdrLatency = "ddr_latency", "latency of DDR", 1e-9;
    /// Random accesses in flight on a channel.
    Outstanding = "outstanding", "accesses in flight", 1.0;
    /// Banks of a table on the chip.
    Banks = "banks", "banks of a table", 1.0;
    /// Accesses that find their bank taken.
    Conflict = "conflict", "conflicts between banks", 1.0;
    /// Records that a merger puts out each clock.
    MergeWidth = "merge_width", "width of a merger", 1.0;
    /// Depth of the pipeline over the latencies on its longest path.
    Depth = "depth", "depth of the pipeline", 1.0;
    /// Starting a kernel on the board, seconds.
    Launch = "launch", "launch on the board", 1e-6;
    /// Part of the link's rate.
    LinkRate = "link_rate", "reached part of the link's rate", 1.0;
    /// Part of the board's design power.
    BoardPower = "board_power", "power of the board", 1.0;
    /// Part of its roof that a GPU reaches where none was measured.
    GpuEfficiency = "gpu_efficiency", "reached part of the GPU's roof", 1.0;
    /// From one kernel of a GPU to the next where none was measured, seconds.
    GpuLaunch = "gpu_launch", "launch on the GPU", 1e-6;
    /// Part of the GPU's design power.
    GpuPower = "gpu_power", "power of the GPU", 1.0;
}
