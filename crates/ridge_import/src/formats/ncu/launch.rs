//! A launch as ncu reports it: its shape, its metrics, and what its own rules say of it.

use ridge_trace::RuleKind;

/// What a metric is worth.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum MetricValue {
    Number(f64),
    Text(String),
}

/// One metric of a launch, in base units.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Metric {
    pub(super) name: String,
    pub(super) value: MetricValue,
    pub(super) unit: String,
}

/// What a rule of the profiler said.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) kind: RuleKind,
    pub(super) message: String,
    pub(super) speedup_pct: Option<f64>,
}

/// One profiled launch.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Launch {
    pub(super) pid: Option<u64>,
    pub(super) name: String,
    pub(super) launch: u32,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) device: Option<u32>,
    pub(super) stream: Option<u64>,
    pub(super) metrics: Vec<Metric>,
    pub(super) rules: Vec<Rule>,
    /// Whether it is a page of words about a launch that another page may hold in full.
    pub(super) is_summary: bool,
}

impl Launch {
    /// The metric called `name`.
    pub(super) fn metric(&self, name: &str) -> Option<&MetricValue> {
        self.metrics.iter().find(|metric| metric.name == name).map(|metric| &metric.value)
    }
}
