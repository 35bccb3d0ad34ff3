//! Operators of PyTorch that got tensors which are not contiguous.

use crate::context::Need;
use crate::models::layouts::{LayoutRow, Layouts};
use crate::view::{Sheet, Shown, Topic, View, columns};
use ridge_table::Subject;

/// The view.
pub(crate) static VIEW: View = View {
    id: "layout",
    about: "framework operator with tensors that are not contiguous, by sizes and strides",
    aliases: &["strides", "non-contiguous"],
    shown: Shown::WhenNamed,
    needs: &[Need::of::<Layouts>()],
    answers: |analysis| {
        let has_strides = |text| !analysis.trace.strings.get(text).is_empty();
        analysis.trace.operator_shapes.iter().any(|shape| has_strides(shape.strides))
    },
    make: |analysis, _| {
        let Layouts(rows) = analysis.get();
        let mut table = Sheet::over(analysis, rows)
            .about(|_, row| Some(Subject::Named(row.name)))
            .show(COLUMNS)
            .table("Tensors that are not contiguous");
        let has_strides = |text| !analysis.trace.strings.get(text).is_empty();
        table.footnotes.push(match analysis.trace.operator_shapes.iter().any(|shape| has_strides(shape.strides)) {
            false => "the capture has no strides; PyTorch 2.5 and later record them with shapes, as `ridgeline record --shapes` does".to_owned(),
            true => "views are left out, because they read nothing; `aten::copy_` below `aten::contiguous` or `aten::clone` \
                     is the copy that makes a tensor contiguous"
                .to_owned(),
        });
        table
    },
    ..View::of(Topic::Time)
};

columns! {
    COLUMNS: LayoutRow {
        operator: text Key "Operator", "name of the operator", |at, row| at.text(row.name);
        layout: text Key "Layout",
            "layout of the tensor in memory: permuted, channels last, expanded, or with gaps", |_, row| row.layout.name();
        sizes: text "Sizes", "sizes of its inputs as the capture writes them", |at, row| at.text(row.sizes);
        strides: text "Strides", "their strides, in elements", |at, row| at.text(row.strides);
        calls: count Key Counted "Calls", "times it ran so", |_, row| row.sums.calls;
        self_device_ns: nanos Key Measured "Self device",
            "durations of the device work that it launched itself", |_, row| row.sums.self_device_ns;
        self_cpu_ns: nanos Key Measured "Self CPU",
            "time on its thread minus the ranges directly inside", |_, row| row.sums.self_ns;
        total_cpu_ns: nanos Measured "CPU", "time on its thread", |_, row| row.sums.total_ns;
    }
}

#[cfg(test)]
mod tests {
    use crate::{Prepared, Topic};
    use ridge_table::Table;

    #[test]
    fn calls_with_strided_tensors_are_told_from_others() {
        let text = "
            thread python
              0 +9 aten::t operator dims=[[512,4]] strides=[[1,512]]
              10 +90 aten::contiguous operator dims=[[4,512],[]] strides=[[1,4],[]]
                20 +70 aten::clone operator dims=[[4,512],[]] strides=[[1,4],[]]
                  30 +50 aten::copy_ operator dims=[[4,512],[4,512],[]] strides=[[512,1],[1,4],[]]
              110 +40 aten::relu operator dims=[[4,512]] strides=[[512,1]]
              160 +40 aten::relu operator dims=[[4,512]] strides=[[1,4]]
              210 +20 aten::relu operator dims=[[4,512]] strides=[[1024,1]]
        ";
        let trace = ridge_test::trace(text);
        let prepared = Prepared::with_sheets(&trace);
        let table: Table = prepared.analysis(&trace, &[]).table(Topic::Time, "layout").expect("the view");
        expect_test::expect![[r#"
            operator          layout    sizes                 strides             calls  self_cpu_ns  total_cpu_ns
            aten::copy_       permuted  [[4,512],[4,512],[]]  [[512,1],[1,4],[]]  1      50           50
            aten::relu        permuted  [[4,512]]             [[1,4]]             1      40           40
            aten::clone       permuted  [[4,512],[]]          [[1,4],[]]          1      20           70
            aten::contiguous  permuted  [[4,512],[]]          [[1,4],[]]          1      20           90
            aten::relu        gaps      [[4,512]]             [[1024,1]]          1      20           20
            * views are left out, because they read nothing; `aten::copy_` below `aten::contiguous` or `aten::clone` is the copy that makes a tensor contiguous
        "#]].assert_eq(&ridge_test::render(
            &table,
            &["operator", "layout", "sizes", "strides", "calls", "self_cpu_ns", "total_cpu_ns"],
        ));
    }
}
