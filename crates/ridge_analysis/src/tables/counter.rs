//! Counters of devices, such as those of a monitor's log: the numbers of each.

use crate::context::Need;
use crate::models::counters::{CounterRow, CounterRows, Over, unit_of};
use crate::view::{Sheet, Shown, Topic, View, columns};
use ridge_table::Subject;

/// The view.
pub(crate) static VIEW: View = View {
    id: "counter",
    about: "counter of a device monitor or of sampled hardware: utilization, memory, clocks, power",
    aliases: &["counters", "monitor"],
    shown: Shown::InReport,
    needs: &[Need::of::<CounterRows>()],
    answers: |analysis| !analysis.trace.counters.time_ns.is_empty(),
    make: |analysis, _| {
        let CounterRows(rows) = analysis.get();
        let mut table = Sheet::over(analysis, rows)
            .about(|_, row| Some(row.device.map_or(Subject::Named(row.metric), Subject::Device)))
            .show(COLUMNS)
            .table("Counters");
        table.footnotes.extend(notes(rows));
        table
    },
    ..View::of(Topic::Time)
};

columns! {
    COLUMNS: CounterRow {
        counter: text Key "Counter", "its name as the capture writes it", |at, row| at.text(row.metric);
        device: text Key "Device", "the device that it is about",
            |at, row| row.device.map(|device| at.device_label(device.0).to_owned());
        unit: text Key "Unit", "unit of the numbers, if the name has it; percentages are 0 to 100",
            |at, row| unit_of(at.trace.strings.get(row.metric)).map(str::to_owned);
        min: real(Number) Measured "Min", "smallest value, in the unit of the row", |_, row| row.min;
        mean: real(Number) Key Measured "Mean", "mean over the samples, in the unit of the row", |_, row| row.mean;
        p95: real(Number) Measured "p95", "95% of the samples are not above it, in the unit of the row", |_, row| row.p95;
        max: real(Number) Key Measured "Max", "largest value, in the unit of the row", |_, row| row.max;
        samples: count Counted "Samples", "samples that the numbers are over", |_, row| row.samples;
        all_samples: count Detail Counted "All samples", "samples of the capture", |_, row| row.all_samples;
        over: text "Over",
            "which samples count: from the first device work to the last; in use, by the counter itself; or all of them",
            |_, row| row.over.name();
    }
}

fn notes(rows: &[CounterRow]) -> impl Iterator<Item = String> {
    let left_out = |over| rows.iter().any(move |row| row.over == over && row.samples < row.all_samples);
    let words = [
        (Over::Work, "samples before the first device work and after the last are left out"),
        (Over::Use, "samples before the device was first in use and after it was last in use are left out"),
    ];
    words.into_iter().filter(move |(over, _)| left_out(*over)).map(|(_, words)| words.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::{Prepared, Topic};
    use ridge_table::Table;

    fn numbers(text: &str) -> String {
        let trace = ridge_test::trace(text);
        let prepared = Prepared::with_sheets(&trace);
        let table: Table = prepared.analysis(&trace, &[]).table(Topic::Time, "counter").expect("the view");
        ridge_test::render(&table, &["counter", "device", "unit", "min", "mean", "p95", "max", "samples", "over"])
    }

    #[test]
    fn samples_outside_of_the_work_do_not_count() {
        let text = "
            device /device:GPU:0
            stream 7 on /device:GPU:0
              100 +10 gemm
              290 +10 gemm
            counter 0 \"utilization.gpu [%]\" 0 on /device:GPU:0
            counter 100 \"utilization.gpu [%]\" 50 on /device:GPU:0
            counter 300 \"utilization.gpu [%]\" 100 on /device:GPU:0
            counter 400 \"utilization.gpu [%]\" 0 on /device:GPU:0
        ";
        expect_test::expect![[r#"
            counter              device         unit  min  mean  p95  max  samples  over
            utilization.gpu [%]  /device:GPU:0  %     50   75    100  100  2        device work
            * samples before the first device work and after the last are left out
        "#]]
        .assert_eq(&numbers(text));
    }

    #[test]
    fn without_a_trace_it_is_the_time_in_use() {
        let text = "
            device /device:GPU:0
            counter 0 \"sm [%]\" 0 on /device:GPU:0
            counter 1 \"sm [%]\" 90 on /device:GPU:0
            counter 2 \"sm [%]\" 0 on /device:GPU:0
            counter 3 \"sm [%]\" 60 on /device:GPU:0
            counter 4 \"sm [%]\" 0 on /device:GPU:0
            counter 0 \"fb [MB]\" 10 on /device:GPU:0
            counter 2 \"fb [MB]\" 1000 on /device:GPU:0
            counter 5 loose 7
        ";
        expect_test::expect![[r#"
            counter  device         unit  min   mean  p95   max   samples  over
            sm [%]   /device:GPU:0  %     0     50    90    90    3        in use
            fb [MB]  /device:GPU:0  MB    1000  1000  1000  1000  1        in use
            loose    -              -     7     7     7     7     1        all samples
            * samples before the device was first in use and after it was last in use are left out
        "#]]
        .assert_eq(&numbers(text));
    }
}
