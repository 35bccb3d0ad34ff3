//! The profilers that a program may run under.

/// A profiler that runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profiler {
    /// NVIDIA Nsight Systems: the timeline of a whole program.
    Nsys,
    /// NVIDIA Nsight Compute: the hardware counters of single kernels.
    Ncu,
    /// AMD's rocprofv3: the timeline of a whole program.
    Rocprof,
}

impl Profiler {
    /// Its command.
    pub fn name(self) -> &'static str {
        match self {
            Profiler::Nsys => "nsys",
            Profiler::Ncu => "ncu",
            Profiler::Rocprof => "rocprofv3",
        }
    }

    /// Its name as its vendor writes it.
    pub fn product(self) -> &'static str {
        match self {
            Profiler::Nsys => "NVIDIA Nsight Systems",
            Profiler::Ncu => "NVIDIA Nsight Compute",
            Profiler::Rocprof => "AMD's ROCprofiler-SDK",
        }
    }

    /// How to get it.
    pub(crate) fn how_to_get(self) -> String {
        let (package, page) = match self {
            Profiler::Nsys => ("nsight-systems-cli", "https://developer.nvidia.com/nsight-systems"),
            Profiler::Ncu => ("nsight-compute", "https://developer.nvidia.com/nsight-compute"),
            Profiler::Rocprof => {
                return "it comes with ROCm 6.2 and later, as the package `rocprofiler-sdk` of AMD's repositories; then put \
                        /opt/rocm/bin on PATH"
                    .to_owned();
            }
        };
        format!(
            "it comes with the CUDA toolkit, as the package `{package}` of NVIDIA's repositories, or from {page}; then put it on PATH"
        )
    }
}
