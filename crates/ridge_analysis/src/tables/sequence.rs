//! Kernels that a call of an operator launches, one after the other.

use crate::Analysis;
use crate::context::Need;
use crate::models::sequences::{SequenceRow, Sequences};
use crate::view::{Sheet, Topic, View, columns};
use ridge_table::Subject;
use ridge_trace::{EventKind, StringId};

/// Names of kernels that are written of one sequence.
const MOST_NAMES: usize = 16;

/// The view.
pub(crate) static VIEW: View = View {
    id: "sequence",
    about: "operator and the kernels that one call of it launches in a row, with what runs before and after",
    aliases: &["sequences", "cuda_kernel_sequences"],
    needs: &[Need::of::<Sequences>()],
    answers: |analysis| analysis.trace.events.kind.contains(&(EventKind::Operator as u8)),
    make: |analysis, _| {
        let Sequences(rows) = analysis.get();
        let mut table = Sheet::over(analysis, rows)
            .about(|_, row| Some(Subject::Named(row.operator)))
            .show(COLUMNS)
            .table("Kernel sequences");
        if rows.is_empty() {
            table.footnotes.push("the capture has no kernels that an operator launched".to_owned());
        }
        table
    },
    ..View::of(Topic::Time)
};

/// `gemm → relu ×2 → add`, cut where it is long.
fn kernels(at: &Analysis<'_>, names: &[StringId]) -> String {
    let runs: Vec<(StringId, usize)> =
        names.chunk_by(|one, other| one == other).map(|run| (run[0], run.len())).collect();
    let one = |(name, count): &(StringId, usize)| match count {
        1 => at.text(*name).to_owned(),
        count => format!("{} ×{count}", at.text(*name)),
    };
    let mut said: Vec<String> = runs.iter().take(MOST_NAMES).map(one).collect();
    let left: usize = runs.iter().skip(MOST_NAMES).map(|(_, count)| count).sum();
    if left > 0 {
        said.push(format!("{left} more"));
    }
    said.join(" → ")
}

columns! {
    COLUMNS: SequenceRow {
        operator: text Key "Operator", "name of the operator", |at, row| at.text(row.operator);
        calls: count Key Counted "Calls", "calls that launched these kernels in this order", |_, row| row.calls;
        kernels: count Counted "Kernels", "kernels that one call launched", |_, row| row.kernels.len() as u64;
        device_ns: nanos Key Measured "Device", "sum of the durations of the kernels of all calls", |_, row| row.device_ns;
        host_ns: nanos Measured "CPU", "time of all calls on their threads", |_, row| row.host_ns;
        sequence: text Key "Sequence", "kernels of one call in order of their starts; ×2 for two of one name in a row",
            |at, row| kernels(at, &row.kernels);
        before: text "Before", "kernel that most often ran on the stream just before the first",
            |at, row| row.before.map(|name| at.text(name).to_owned());
        after: text "After", "kernel that most often ran on the stream just after the last",
            |at, row| row.after.map(|name| at.text(name).to_owned());
        within: text Detail "Within", "outermost operator around most of the calls", |at, row| at.text(row.within);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Prepared, Topic};
    use expect_test::expect;

    #[test]
    fn calls_with_the_same_kernels_are_one_row() {
        let trace = ridge_test::trace(
            "thread python
               0 +10 linear operator
               1 +8 addmm operator
               2 +1 launch launch id=1
               4 +1 launch launch id=2
               20 +4 relu operator
               21 +1 launch launch id=3
               30 +10 linear operator
               31 +8 addmm operator
               32 +1 launch launch id=4
               34 +1 launch launch id=5
               50 +30 block operator
               51 +10 linear operator
               52 +1 launch launch id=6
               65 +10 norm operator
               66 +1 launch launch id=7
             stream 1 on gpu
               100 +10 split id=1
               110 +10 gemm id=2
               120 +3 max id=3
               130 +10 split id=4
               140 +10 gemm id=5
               150 +20 gemm id=6
               170 +5 norm id=7",
        );
        let table =
            Prepared::with_sheets(&trace).analysis(&trace, &[]).table(Topic::Time, "sequence").expect("the view");
        let columns = ["operator", "calls", "kernels", "device_ns", "host_ns", "sequence", "before", "after", "within"];
        expect![[r#"
            operator  calls  kernels  device_ns  host_ns  sequence      before  after  within
            addmm     2      2        40         16       split → gemm  max     gemm   linear
            block     1      2        25         30       gemm → norm   gemm    -      block
            linear    1      1        20         10       gemm          gemm    norm   block
            norm      1      1        5          10       norm          gemm    -      block
            relu      1      1        3          4        max           gemm    split  relu
        "#]]
        .assert_eq(&ridge_test::render(&table, &columns));
    }

    #[test]
    fn operators_of_a_processor_launch_no_kernels() {
        let trace = ridge_test::trace(
            "thread python
               0 +10 linear operator
               1 +1 launch launch id=1
               2 +1 launch launch id=2
             lane 0 on /device:CPU:0
               3 +7 linear id=1
               4 +5 addmm id=2",
        );
        let table =
            Prepared::with_sheets(&trace).analysis(&trace, &[]).table(Topic::Time, "sequence").expect("the view");
        assert_eq!(table.batch.num_rows(), 0);
        assert_eq!(table.footnotes, ["the capture has no kernels that an operator launched"]);
    }
}
