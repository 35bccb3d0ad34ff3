//! Profilers of NVIDIA by the names of `--with`.

use std::str::FromStr;

/// Kernels whose counters are read where no number is named, and the most that may be named.
const USUAL_KERNELS: usize = 5;

const MOST_KERNELS: usize = 64;

/// A profiler that runs around the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum With {
    /// The timeline, in place of the profilers of JAX and PyTorch.
    Nsys,
    /// Counters of so many kernels, those that take most time.
    Ncu(usize),
}

impl FromStr for With {
    type Err = String;

    fn from_str(text: &str) -> Result<With, String> {
        let (name, more) = text.split_once(':').map_or((text, None), |(name, more)| (name, Some(more)));
        let top = more.map(|more| more.strip_prefix("top=").and_then(|number| number.parse::<usize>().ok()));
        match (name, top) {
            ("nsys", None) => Ok(With::Nsys),
            ("ncu", None) => Ok(With::Ncu(USUAL_KERNELS)),
            ("ncu", Some(Some(top))) if (1..=MOST_KERNELS).contains(&top) => Ok(With::Ncu(top)),
            _ => Err(format!("expected `nsys`, `ncu` or `ncu:top=N` with N from 1 to {MOST_KERNELS}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::With;

    #[test]
    fn profilers_are_named_with_how_many_kernels() {
        for (text, expected) in [
            ("nsys", Some(With::Nsys)),
            ("ncu", Some(With::Ncu(5))),
            ("ncu:top=3", Some(With::Ncu(3))),
            ("ncu:top=0", None),
            ("ncu:3", None),
            ("nsys:top=3", None),
            ("rocprof", None),
        ] {
            assert_eq!(text.parse::<With>().ok(), expected, "{text}");
        }
    }
}
