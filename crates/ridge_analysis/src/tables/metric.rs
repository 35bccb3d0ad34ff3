//! What was counted of each kernel under a hardware profiler, by the names of the profiler.

use crate::context::Need;
use crate::models::metrics::{MetricRow, MetricRows};
use crate::view::{Sheet, Shown, Topic, View, columns};
use ridge_table::Subject;

/// The view.
pub(crate) static VIEW: View = View {
    id: "metric",
    about: "hardware counter of a kernel, over its launches under a profiler",
    aliases: &["metrics", "pmc"],
    shown: Shown::WhenNamed,
    needs: &[Need::of::<MetricRows>()],
    answers: |analysis| !analysis.trace.profiles.is_empty(),
    make: |analysis, _| {
        let MetricRows(rows) = analysis.get();
        Sheet::over(analysis, rows)
            .about(|_, row| Some(Subject::Named(row.metric)))
            .show(COLUMNS)
            .table("Hardware counters")
    },
    ..View::of(Topic::Time)
};

columns! {
    COLUMNS: MetricRow {
        kernel: text Key "Kernel", "name of the kernel", |at, row| at.text(row.kernel);
        counter: text Key "Counter", "its name as the profiler writes it", |at, row| at.text(row.metric);
        unit: text "Unit", "its base unit, if the capture has it",
            |at, row| Some(at.text(row.unit)).filter(|unit| !unit.is_empty());
        launches: count Key Counted "Launches", "launches that it was counted for", |_, row| row.launches;
        mean: real(Number) Key Measured "Mean", "mean over the launches", |_, row| row.sum / row.launches.max(1) as f64;
        min: real(Number) Measured "Min", "smallest value of a launch", |_, row| row.min;
        max: real(Number) Measured "Max", "largest value of a launch", |_, row| row.max;
        sum: real(Number) Detail Measured "Sum", "sum over the launches; of no use for shares and rates", |_, row| row.sum;
    }
}

#[cfg(test)]
mod tests {
    use crate::{Prepared, Topic};
    use ridge_trace::{KernelProfile, StringId};

    #[test]
    fn launches_of_a_kernel_are_one_row_for_each_counter() {
        let mut trace = ridge_test::trace("");
        let [gemm, waves, cycles] = ["gemm", "SQ_WAVES", "GRBM_COUNT"].map(|name| trace.strings.intern(name));
        let none = StringId::default();
        for (row, counted) in [(0, [8.0, 100.0]), (1, [24.0, f64::NAN])] {
            let launch = KernelProfile {
                process: 0,
                name: gemm,
                launch: row,
                grid: [1; 3],
                block: [64, 1, 1],
                device: None,
                stream: None,
            };
            trace.profiles.launches.push(launch);
            for (name, value) in [waves, cycles].into_iter().zip(counted) {
                trace.profiles.push(row, name, value, none, none);
            }
        }
        let prepared = Prepared::with_sheets(&trace);
        let table = prepared.analysis(&trace, &[]).table(Topic::Time, "metric").expect("the view");
        expect_test::expect![[r#"
            kernel  counter     launches  mean  min  max  sum
            gemm    SQ_WAVES    2         16    8    24   32
            gemm    GRBM_COUNT  1         100   100  100  100
        "#]]
        .assert_eq(&ridge_test::render(&table, &["kernel", "counter", "launches", "mean", "min", "max", "sum"]));
    }
}
