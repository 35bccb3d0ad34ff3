//! Units: the pages scale their values to be read, the reports hold base units and do not name them.

/// The factor that brings a value in `unit` to its base unit, and that unit: bytes, nanoseconds, per second.
///
/// `Kbyte/block` → 1000 and `byte/block`; `cycle/nsecond` → 1e9 and `cycle/second`; `us` → 1000 and `nsecond`.
/// Prefixes are decimal, as the tool's are.
pub(super) fn base(unit: &str) -> (f64, String) {
    match unit.split_once('/') {
        Some((over, under)) => {
            let ((over_factor, over), (under_factor, under)) = (part(over), part(under));
            // A time under the line is counted in seconds, one above it in nanoseconds.
            let seconds = if under == "nsecond" { 1e9 } else { 1.0 };
            let under = if under == "nsecond" { "second".to_owned() } else { under };
            (over_factor / under_factor * seconds, format!("{over}/{under}"))
        }
        None => part(unit),
    }
}

/// Units that take a prefix.
const STEMS: [&str; 10] = ["byte", "inst", "cycle", "sector", "sectors", "request", "warp", "thread", "hz", "block"];

fn part(unit: &str) -> (f64, String) {
    let nanos = match unit {
        "nsecond" | "ns" => Some(1.0),
        "usecond" | "us" => Some(1e3),
        "msecond" | "ms" => Some(1e6),
        "second" | "s" => Some(1e9),
        _ => None,
    };
    if let Some(nanos) = nanos {
        return (nanos, "nsecond".to_owned());
    }
    let prefix = unit.chars().next().and_then(factor);
    match (prefix, unit.get(1..)) {
        (Some(factor), Some(stem)) if STEMS.contains(&stem) => (factor, stem.to_owned()),
        _ => (1.0, unit.to_owned()),
    }
}

fn factor(prefix: char) -> Option<f64> {
    match prefix {
        'K' | 'k' => Some(1e3),
        'M' => Some(1e6),
        'G' => Some(1e9),
        'T' => Some(1e12),
        _ => None,
    }
}

/// The base unit of a metric by its name, where the name says it; else the empty string.
///
/// Names follow `unit__counter.rollup.submetric`, as NVIDIA's Kernel Profiling Guide explains under "Metrics Structure".
pub(super) fn unit_of(metric: &str) -> &'static str {
    let per_second = metric.ends_with(".per_second");
    let counter = metric.split('.').next().unwrap_or(metric);
    if metric.contains(".pct") || counter.ends_with("_pct") {
        "%"
    } else if metric.contains(".ratio") || metric.contains(".per_cycle") {
        ""
    } else if counter.contains("__bytes") || counter.contains("_bytes") {
        if per_second { "byte/second" } else { "byte" }
    } else if counter.contains("time_duration") {
        "nsecond"
    } else if counter.contains("cycles") {
        if per_second { "cycle/second" } else { "cycle" }
    } else if counter.contains("sectors") {
        if per_second { "sector/second" } else { "sector" }
    } else if counter.contains("inst_executed") {
        if per_second { "inst/second" } else { "inst" }
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_pages_come_back_to_their_base() {
        for (unit, factor, expected) in [
            ("byte", 1.0, "byte"),
            ("Mbyte", 1e6, "byte"),
            ("Kbyte/block", 1e3, "byte/block"),
            ("cycle/nsecond", 1e9, "cycle/second"),
            ("cycle/usecond", 1e6, "cycle/second"),
            ("Gbyte/second", 1e9, "byte/second"),
            ("Gbyte/s", 1e9, "byte/second"),
            ("usecond", 1e3, "nsecond"),
            ("ms", 1e6, "nsecond"),
            ("Ghz", 1e9, "hz"),
            ("register/thread", 1.0, "register/thread"),
            ("%", 1.0, "%"),
            ("", 1.0, ""),
            ("Kbyte/cycle", 1e3, "byte/cycle"),
        ] {
            let (found, name) = base(unit);
            assert!((found / factor - 1.0).abs() < 1e-12, "{unit}: {found}");
            assert_eq!(name, expected, "{unit}");
        }
    }

    #[test]
    fn names_say_their_unit() {
        for (metric, unit) in [
            ("dram__bytes.sum", "byte"),
            ("dram__bytes.sum.per_second", "byte/second"),
            ("gpu__time_duration.sum", "nsecond"),
            ("sm__cycles_active.avg", "cycle"),
            ("sm__warps_active.avg.pct_of_peak_sustained_active", "%"),
            ("sm__maximum_warps_per_active_cycle_pct", "%"),
            ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed", ""),
            ("launch__grid_size", ""),
        ] {
            assert_eq!(unit_of(metric), unit, "{metric}");
        }
    }
}
