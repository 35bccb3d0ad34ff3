//! Profilers of NVIDIA and AMD by the names of `--with`.

use ridge_record::Kernels;
use std::str::FromStr;

/// Kernels whose counters are read where no number is named, and the most that may be named.
const USUAL_KERNELS: usize = 5;

const MOST_KERNELS: u32 = 64;

/// Launches that are counted where kernels are named by an expression and no number is.
const USUAL_LAUNCHES: u32 = 1;

/// Most launches that are counted: each runs some forty times.
const MOST_LAUNCHES: u32 = 1000;

/// A profiler that runs around the program, or more about the one before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum With {
    /// The timeline, in place of the profilers of JAX and PyTorch.
    Nsys,
    /// The same, with sampled hardware counters.
    NsysMetrics,
    /// Counters of so many kernels, those that take most time.
    Ncu(usize),
    /// Counters of the kernels that this expression finds.
    NcuKernel(String),
    /// AMD's timeline, in place of the profilers of JAX and PyTorch.
    Rocprof,
    /// A hardware counter that it collects.
    Pmc(String),
    /// The expression that finds the kernels whose counters it collects.
    PmcKernel(String),
    /// Launches of those that are left out first.
    Skip(u32),
    /// Launches of those that are counted.
    Count(u32),
}

impl With {
    /// The kernels to count: so many of the longest, or those of an expression; `None` where none are to be counted.
    ///
    /// # Errors
    /// Where what is said of an expression has none.
    pub(crate) fn counted(all: &[With]) -> Result<Option<Counted>, String> {
        let mut counted = None;
        for with in all {
            match (with, &mut counted) {
                (With::Nsys | With::NsysMetrics, _) => {}
                (With::Rocprof | With::Pmc(_) | With::PmcKernel(_), _) => {}
                (With::Ncu(top), None) => counted = Some(Counted::Longest(*top)),
                (With::NcuKernel(pattern), None) => {
                    let (pattern, skip, count) = (pattern.clone(), 0, USUAL_LAUNCHES);
                    counted = Some(Counted::Kernels(Kernels::Matching { pattern, skip, count }));
                }
                (With::Skip(said), Some(Counted::Kernels(Kernels::Matching { skip, .. }))) => *skip = *said,
                (With::Count(said), Some(Counted::Kernels(Kernels::Matching { count, .. }))) => *count = *said,
                (With::Skip(_) | With::Count(_), _) => {
                    return Err("`skip=` and `count=` follow `ncu:kernel=REGEX`".to_owned());
                }
                (With::Ncu(_) | With::NcuKernel(_), Some(_)) => return Err("`ncu` is named twice".to_owned()),
            }
        }
        Ok(counted)
    }
}

/// What `rocprofv3` is asked for: counters, and the expression of their kernels.
pub(crate) type RocprofAsked = (Vec<String>, Option<String>);

impl With {
    /// What `rocprofv3` is asked for; `None` where it is not to run.
    ///
    /// # Errors
    /// Where it is to run beside a profiler of NVIDIA, or what is said of it lacks it.
    pub(crate) fn rocprof(all: &[With]) -> Result<Option<RocprofAsked>, String> {
        let (mut counters, mut kernels, mut others) = (Vec::new(), None, 0);
        for with in all {
            match with {
                With::Rocprof => {}
                With::Pmc(counter) => counters.push(counter.clone()),
                With::PmcKernel(pattern) => kernels = Some(pattern.clone()),
                _ => others += 1,
            }
        }
        match all.contains(&With::Rocprof) {
            false if others < all.len() => Err("`pmc=` and `kernel=` follow `rocprofv3`".to_owned()),
            false => Ok(None),
            true if others > 0 => Err("`rocprofv3` is AMD's and cannot run with nsys or ncu".to_owned()),
            true if kernels.is_some() && counters.is_empty() => {
                Err("`kernel=` selects kernels for `pmc=`, but no counter is named".to_owned())
            }
            true => Ok(Some((counters, kernels))),
        }
    }
}

/// What counters are read of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Counted {
    /// So many kernels, those that take most time.
    Longest(usize),
    /// These.
    Kernels(Kernels),
}

impl FromStr for With {
    type Err = String;

    fn from_str(text: &str) -> Result<With, String> {
        let number = |text: &str, least: u32, most: u32| {
            text.parse::<u32>().ok().filter(|number| (least..=most).contains(number))
        };
        let read = match text {
            "nsys" => Some(With::Nsys),
            "nsys:gpu-metrics" => Some(With::NsysMetrics),
            "ncu" => Some(With::Ncu(USUAL_KERNELS)),
            "rocprofv3" => Some(With::Rocprof),
            _ => None,
        };
        let options = || {
            if let Some(top) = text.strip_prefix("ncu:top=") {
                return number(top, 1, MOST_KERNELS).map(|top| With::Ncu(top as usize));
            }
            if let Some(pattern) = text.strip_prefix("ncu:kernel=") {
                return (!pattern.is_empty()).then(|| With::NcuKernel(pattern.to_owned()));
            }
            if let Some(counter) = text.strip_prefix("pmc=") {
                let is_name = |counter: &str| {
                    !counter.is_empty()
                        && counter.chars().all(|letter| letter.is_ascii_alphanumeric() || "_:[]=.".contains(letter))
                };
                return is_name(counter).then(|| With::Pmc(counter.to_owned()));
            }
            if let Some(pattern) = text.strip_prefix("kernel=") {
                return (!pattern.is_empty()).then(|| With::PmcKernel(pattern.to_owned()));
            }
            if let Some(skip) = text.strip_prefix("skip=") {
                return number(skip, 0, u32::MAX).map(With::Skip);
            }
            text.strip_prefix("count=").and_then(|count| number(count, 1, MOST_LAUNCHES)).map(With::Count)
        };
        read.or_else(options).ok_or_else(|| {
            format!(
                "expected `nsys`, `nsys:gpu-metrics`, `ncu`, `ncu:top=N` with N from 1 to {MOST_KERNELS}, \
                 `ncu:kernel=REGEX,skip=N,count=N`, or `rocprofv3,pmc=COUNTER,kernel=REGEX`"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Counted, Kernels, With};

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
            ("rocprofv3", Some(With::Rocprof)),
            ("pmc=SQ_WAVES", Some(With::Pmc("SQ_WAVES".to_owned()))),
            ("pmc=--output-directory", None),
            ("kernel=gemm.*", Some(With::PmcKernel("gemm.*".to_owned()))),
            ("nsys:gpu-metrics", Some(With::NsysMetrics)),
            ("ncu:kernel=gemm.*", Some(With::NcuKernel("gemm.*".to_owned()))),
            ("ncu:kernel=", None),
            ("skip=2", Some(With::Skip(2))),
            ("count=0", None),
        ] {
            assert_eq!(text.parse::<With>().ok(), expected, "{text}");
        }
    }

    #[test]
    fn counters_and_kernels_are_said_of_rocprofv3() {
        let read = |text: &str| {
            let all: Vec<With> = text.split(',').map(|word| word.parse().expect("a word")).collect();
            With::rocprof(&all)
        };
        let asked = |counters: &[&str], kernels: Option<&str>| {
            Ok(Some((counters.iter().map(|name| (*name).to_owned()).collect(), kernels.map(str::to_owned))))
        };
        assert_eq!(read("nsys,ncu"), Ok(None));
        assert_eq!(read("rocprofv3"), asked(&[], None));
        assert_eq!(read("rocprofv3,pmc=A,pmc=B,kernel=^gemm"), asked(&["A", "B"], Some("^gemm")));
        assert!(read("pmc=A").is_err() && read("rocprofv3,kernel=x").is_err() && read("rocprofv3,nsys").is_err());
    }

    #[test]
    fn launches_are_said_of_an_expression() {
        let read = |text: &str| {
            let all: Vec<With> = text.split(',').map(|word| word.parse().expect("a word")).collect();
            With::counted(&all)
        };
        let matching =
            |skip, count| Ok(Some(Counted::Kernels(Kernels::Matching { pattern: "gemm".to_owned(), skip, count })));
        assert_eq!(read("nsys"), Ok(None));
        assert_eq!(read("nsys,ncu:top=2"), Ok(Some(Counted::Longest(2))));
        assert_eq!(read("ncu:kernel=gemm"), matching(0, 1));
        assert_eq!(read("nsys,ncu:kernel=gemm,skip=5,count=3"), matching(5, 3));
        assert!(read("ncu,skip=5").is_err() && read("skip=5").is_err() && read("ncu,ncu:kernel=x").is_err());
    }
}
