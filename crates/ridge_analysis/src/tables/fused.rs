//! Kernels of PyTorch's compiler, with how they were tuned and what they compute.

use crate::context::Need;
use crate::models::fused::{Fused, FusedRow};
use crate::view::{Sheet, Topic, View, columns};
use ridge_table::Subject;

/// The view.
pub(crate) static VIEW: View = View {
    id: "fused",
    about: "kernel that PyTorch's compiler made, with its tuning, operators and lines",
    aliases: &["triton", "inductor"],
    needs: &[Need::of::<Fused>()],
    answers: |analysis| !analysis.trace.fused.is_empty(),
    make: |analysis, _| {
        let Fused(rows) = analysis.get();
        let mut table = Sheet::over(analysis, rows)
            .about(|_, row| Some(Subject::Named(row.id)))
            .show(COLUMNS)
            .table("Kernels of torch.compile");
        if rows.is_empty() {
            let none = "nothing says which kernels torch.compile made; traces of Triton's kernels do, and the files of TORCH_COMPILE_DEBUG=1";
            table.footnotes.push(none.to_owned());
        }
        table
    },
    ..View::of(Topic::Time)
};

fn some(texts: &[String], between: &str) -> Option<String> {
    (!texts.is_empty()).then(|| texts.join(between))
}

columns! {
    COLUMNS: FusedRow {
        kernel: text Key "Kernel", "name of the kernel", |_, row| row.name.as_str();
        total_ns: nanos Key Measured "Total", "sum of the durations of its runs", |_, row| row.ns;
        count: count Counted "Count", "times that it ran in the capture", |_, row| row.runs;
        config: text "Tuned to", "sizes of its blocks, warps and stages; several where it was compiled for several shapes",
            |_, row| some(&row.configs, "; ");
        operators: text "Operators", "operators of ATen that it computes, as the compiler's files say",
            |_, row| some(&row.operators, "; ");
        lines: text Key "Lines", "lines of the program that it computes, as the compiler's files say",
            |_, row| some(&row.lines, "; ");
    }
}
