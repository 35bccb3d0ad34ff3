//! Kernels that others built and published: what the model is scored against.
//!
//! A kernel gives the model what a designer decides before anything is built (work, bytes, channels, chained sweeps) and
//! keeps from it what only came out (clock, slices, rates).

use crate::board::MemoryKind;
use crate::operators::{Format, Operator};
use crate::workload::{Contraction, Limits, MergeSort, Operations, Stencil, Table, Workload};
use crate::{Board, Class};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// One published kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// What it does.
    pub name: String,
    /// The paper, page or project, by a short name: intervals leave out one of these at a time.
    pub paper: String,
    /// Where the number is from.
    pub source: String,
    /// The board it ran on.
    pub board: &'static Board,
    /// What it does, as the model sees it.
    pub workload: Workload,
    /// The published number; `None` until someone looks it up, only for those that are predicted before.
    pub number: Option<Number>,
    /// Other machines with their published times for the same, seconds.
    pub rivals: Vec<(String, f64)>,
    /// What was assumed where the source is silent.
    pub note: Option<String>,
    /// Why it doesn't count, if the published number turned out to be of something else.
    pub left_out: Option<String>,
    /// Whether the author of the description remembered the number roughly, without looking it up.
    pub is_remembered: bool,
}

/// What a source says of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// The time of one call, seconds.
    pub seconds: f64,
    /// The number as published, with its unit, `378.88 GB/s`.
    pub said: String,
}

/// A published number that is not scored.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotScored {
    /// What it is.
    pub name: String,
    /// Where it is from.
    pub source: String,
    /// Why it is not scored.
    pub because: String,
}

const PAPERS: [&str; 11] = [
    include_str!("../kernels/hpcc.toml"),
    include_str!("../kernels/gemm_hls.toml"),
    include_str!("../kernels/vitis_blas.toml"),
    include_str!("../kernels/vitis_hpc.toml"),
    include_str!("../kernels/serpens.toml"),
    include_str!("../kernels/an870.toml"),
    include_str!("../kernels/zohouri.toml"),
    include_str!("../kernels/nagasu.toml"),
    include_str!("../kernels/vitis_vision.toml"),
    include_str!("../kernels/topsort.toml"),
    include_str!("../kernels/kent.toml"),
];

/// Kernels that were described and predicted before anyone looked up their numbers; they calibrate nothing.
const BLIND_PAPERS: [&str; 6] = [
    include_str!("../kernels/blind/rosetta.toml"),
    include_str!("../kernels/blind/autosa.toml"),
    include_str!("../kernels/blind/thundergp.toml"),
    include_str!("../kernels/blind/oneapi.toml"),
    include_str!("../kernels/blind/hisparse.toml"),
    include_str!("../kernels/blind/vitis_database.toml"),
];

static PUBLISHED: LazyLock<Vec<Published>> = LazyLock::new(|| PAPERS.iter().flat_map(|text| read(text)).collect());

static BLIND: LazyLock<Vec<Published>> = LazyLock::new(|| BLIND_PAPERS.iter().flat_map(|text| read(text)).collect());

fn read(text: &str) -> Vec<Published> {
    let paper: Paper = toml::from_str(text).expect("the tests read the files that are compiled in");
    paper.kernel.iter().map(|kernel| kernel.published(&paper)).collect()
}

static NOT_SCORED: LazyLock<Vec<NotScored>> = LazyLock::new(|| {
    let text = include_str!("../kernels/not-scored.toml");
    let mut file: BTreeMap<String, Vec<NotScored>> =
        toml::from_str(text).expect("the tests read the file that is compiled in");
    file.remove("kernel").unwrap_or_default()
});

/// Every kernel that is scored and widens intervals.
pub fn published() -> &'static [Published] {
    &PUBLISHED
}

/// Every kernel that was predicted before its number was looked up; none of them widens an interval.
pub fn blind() -> &'static [Published] {
    &BLIND
}

/// What was looked at and is not scored.
pub fn not_scored() -> &'static [NotScored] {
    &NOT_SCORED
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Paper {
    paper: String,
    title: String,
    source: String,
    #[serde(default)]
    remembered: bool,
    kernel: Vec<Kernel>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kernel {
    name: String,
    class: Class,
    board: String,
    memory: Option<MemoryKind>,
    channels: Option<f64>,
    amount: Option<f64>,
    rate: Option<f64>,
    seconds: Option<f64>,
    unit: String,
    #[serde(default)]
    bytes: f64,
    #[serde(default)]
    operations: BTreeMap<String, f64>,
    #[serde(default)]
    path_clocks: f64,
    lanes: Option<(f64, f64)>,
    contraction: Option<SaidContraction>,
    stencil: Option<SaidStencil>,
    table: Option<SaidTable>,
    merge_sort: Option<SaidSort>,
    #[serde(default)]
    rivals: Vec<Rival>,
    note: Option<String>,
    left_out: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SaidContraction {
    m: f64,
    n: f64,
    k: f64,
    batch: f64,
    element_bytes: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SaidStencil {
    radius: f64,
    extents: Vec<f64>,
    cell_bytes: f64,
    moved_bytes: f64,
    sweeps: f64,
    chained: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SaidTable {
    accesses: f64,
    access_bytes: f64,
    bytes: f64,
    is_updated: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SaidSort {
    records: f64,
    record_bytes: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rival {
    name: String,
    seconds: f64,
}

impl Kernel {
    fn published(&self, paper: &Paper) -> Published {
        let seconds = match (self.seconds, self.amount, self.rate) {
            (Some(seconds), None, None) => Some(seconds),
            (None, Some(amount), Some(rate)) => Some(amount / rate),
            (None, _, None) => None,
            _ => panic!("{}: expected `seconds`, or `amount` and `rate`", self.name),
        };
        let said = |seconds: f64| match self.rate {
            Some(rate) => rate_words(rate, &self.unit),
            None => seconds_words(seconds),
        };
        Published {
            name: self.name.clone(),
            paper: paper.paper.clone(),
            source: format!("{} ({})", paper.title, paper.source),
            board: Board::named(&self.board).unwrap_or_else(|| panic!("there is no board `{}`", self.board)),
            workload: self.workload(),
            number: seconds.map(|seconds| Number { seconds, said: said(seconds) }),
            rivals: self.rivals.iter().map(|rival| (rival.name.clone(), rival.seconds)).collect(),
            note: self.note.clone(),
            left_out: self.left_out.clone(),
            is_remembered: paper.remembered,
        }
    }

    fn workload(&self) -> Workload {
        let stencil = self.stencil.as_ref();
        Workload {
            class: self.class,
            operations: self.operations.iter().map(|(name, count)| operations(name, *count)).collect(),
            bytes: self.bytes,
            path_clocks: self.path_clocks,
            stencil: stencil.map(|said| Stencil {
                radius: said.radius,
                extents: said.extents.clone(),
                cell_bytes: said.cell_bytes,
                moved_bytes: said.moved_bytes,
                sweeps: said.sweeps,
            }),
            contractions: self.contraction.iter().map(SaidContraction::contraction).collect(),
            tables: self.table.iter().map(SaidTable::table).collect(),
            merge_sort: self
                .merge_sort
                .as_ref()
                .map(|sort| MergeSort { records: sort.records, record_bytes: sort.record_bytes }),
            limits: Limits {
                memory: self.memory,
                channels: self.channels,
                lanes: self.lanes,
                chained: stencil.and_then(|said| said.chained),
            },
            ..Workload::default()
        }
    }
}

impl SaidContraction {
    fn contraction(&self) -> Contraction {
        let SaidContraction { m, n, k, batch, element_bytes } = *self;
        Contraction { m, n, k, batch, element_bytes }
    }
}

impl SaidTable {
    fn table(&self) -> Table {
        let SaidTable { accesses, access_bytes, bytes, is_updated } = *self;
        Table { accesses, access_bytes, bytes, is_updated }
    }
}

/// `f32.multiply_add`, so often.
fn operations(name: &str, count: f64) -> Operations {
    let (format, operator) =
        name.split_once('.').unwrap_or_else(|| panic!("expected `format.operator`, found `{name}`"));
    let format = Format::ALL.into_iter().find(|known| known.name() == format);
    let operator = Operator::ALL.into_iter().find(|known| known.name() == operator);
    let both = format.zip(operator).unwrap_or_else(|| panic!("there is no operator `{name}`"));
    Operations { format: both.0, operator: both.1, count }
}

fn rate_words(rate: f64, unit: &str) -> String {
    match unit {
        "frames" => format!("{rate} frames/s"),
        "assets" | "matrices" => format!("{rate:.0} {unit}/s"),
        _ if rate >= 1e9 => format!("{} G{unit}/s", rounded(rate / 1e9)),
        _ => format!("{} M{unit}/s", rounded(rate / 1e6)),
    }
}

/// A time as people write it.
pub(crate) fn seconds_words(seconds: f64) -> String {
    match seconds {
        secs if secs >= 1.0 => format!("{} s", rounded(secs)),
        secs if secs >= 1e-3 => format!("{} ms", rounded(secs * 1e3)),
        secs => format!("{} µs", rounded(secs * 1e6)),
    }
}

/// Three digits that matter.
fn rounded(value: f64) -> String {
    let digits = 2 - value.abs().log10().floor().clamp(-3.0, 2.0) as i32;
    format!("{value:.*}", usize::try_from(digits.max(0)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_read_and_each_has_a_source() {
        let kernels = published();
        assert_eq!(kernels.len(), 31);
        let mut papers: Vec<&str> = kernels.iter().map(|kernel| kernel.paper.as_str()).collect();
        papers.dedup();
        assert_eq!(papers.len(), PAPERS.len());
        for kernel in kernels {
            let number = kernel.number.as_ref().expect(&kernel.name);
            assert!(number.seconds > 0.0 && number.seconds.is_finite(), "{}", kernel.name);
            assert!(!kernel.source.is_empty() && kernel.left_out.is_none(), "{}", kernel.name);
        }
        assert!(!not_scored().is_empty());
        let triad = kernels[0].number.as_ref().expect("a rate");
        assert_eq!((triad.said.as_str(), seconds_words(triad.seconds).as_str()), ("379 GB/s", "31.7 ms"));
    }

    #[test]
    fn blind_kernels_are_of_other_papers_than_those_that_widen_intervals() {
        let papers = |kernels: &'static [Published]| -> std::collections::BTreeSet<&str> {
            kernels.iter().map(|kernel| kernel.paper.as_str()).collect()
        };
        assert_eq!((blind().len(), papers(blind()).len()), (18, BLIND_PAPERS.len()));
        assert!(papers(blind()).is_disjoint(&papers(published())));
        for kernel in blind() {
            assert!(kernel.note.is_some() && !kernel.source.is_empty(), "{}", kernel.name);
            assert!(kernel.number.as_ref().is_none_or(|number| number.seconds > 0.0), "{}", kernel.name);
        }
    }
}
