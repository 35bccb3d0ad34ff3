//! Kernels of CUDA graphs get their names from the annotations of nodes, in a file or in the trace.

use expect_test::{Expect, expect};
use ridge_import::{Imported, Source, import};
use std::fmt::Write as _;
use std::path::Path;

fn bytes(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    std::fs::read(folder.join(name)).expect("a fixture")
}

fn work(imported: &Imported) -> String {
    let (trace, mut text) = (&imported.trace, String::new());
    for track in trace.device_tracks() {
        for row in track.rows.clone().map(|row| row as usize) {
            let operation = trace
                .operation(row)
                .map_or(("-", ""), |operation| (trace.strings.get(operation.name), trace.strings.get(operation.scope)));
            let _ = writeln!(text, "{}: {} of {}", trace.name(row), operation.0, operation.1);
        }
    }
    for note in &imported.notes {
        let _ = writeln!(text, "note {}", note.message);
    }
    text
}

#[track_caller]
fn check(sources: &[Source<'_>], expected: Expect) {
    expected.assert_eq(&work(&import(sources, None).expect("captures")));
}

#[test]
fn nodes_name_their_kernels_whatever_comes_first() {
    let (trace, annotations) =
        (bytes("chrome/graph_replay.pt.trace.json"), bytes("graph-annotations/kernel_annotations_rank0.json"));
    let (trace, annotations) =
        (Source { name: "trace", bytes: &trace }, Source { name: "annotations", bytes: &annotations });
    check(
        &[trace],
        expect![[r#"
        sm90_gemm: aten::copy_ of 
        flash_fwd: aten::copy_ of 
        sm90_gemm: aten::copy_ of 
        Memcpy DtoD (Device -> Device): aten::copy_ of 
        elementwise: aten::copy_ of 
        elementwise: norm of layers.1.norm
    "#]],
    );
    check(
        &[trace, annotations],
        expect![[r#"
        sm90_gemm: qkv of layers.0.attention.wqkv
        flash_fwd: attention of layers.0.attention
        sm90_gemm: layers.1.feed_forward of layers.1.feed_forward
        Memcpy DtoD (Device -> Device): residual of 
        elementwise: aten::copy_ of 
        elementwise: norm of layers.1.norm
        note nodes without a name or a module were left out
    "#]],
    );
    assert_eq!(
        work(&import(&[trace, annotations], None).expect("captures")),
        work(&import(&[annotations, trace], None).expect("captures"))
    );
}

#[test]
fn annotations_that_belong_to_nothing_are_said_to() {
    let (trace, annotations) =
        (bytes("chrome/graph_replay.pt.trace.json"), bytes("graph-annotations/kernel_annotations_rank0.json"));
    let other = String::from_utf8(annotations.clone()).expect("text").replace("42949", "52949");
    let (trace, annotations, other) = (
        Source { name: "trace", bytes: &trace },
        Source { name: "annotations", bytes: &annotations },
        Source { name: "other", bytes: other.as_bytes() },
    );
    check(
        &[annotations],
        expect![[r#"
        note it names CUDA graph nodes, but no accompanying capture has work with a `graph node id`
        note nodes without a name or a module were left out
    "#]],
    );
    check(
        &[trace, other],
        expect![[r#"
        sm90_gemm: aten::copy_ of 
        flash_fwd: aten::copy_ of 
        sm90_gemm: aten::copy_ of 
        Memcpy DtoD (Device -> Device): aten::copy_ of 
        elementwise: aten::copy_ of 
        elementwise: norm of layers.1.norm
        note none of its nodes ran in the accompanying capture: it is from another run or rank
        note nodes without a name or a module were left out
    "#]],
    );
    check(
        &[trace, annotations, other],
        expect![[r#"
        sm90_gemm: aten::copy_ of 
        flash_fwd: aten::copy_ of 
        sm90_gemm: aten::copy_ of 
        Memcpy DtoD (Device -> Device): aten::copy_ of 
        elementwise: aten::copy_ of 
        elementwise: norm of layers.1.norm
        note it is not used: node ids are per process; open one rank's trace with that rank's annotations
        note it is not used: node ids are per process; open one rank's trace with that rank's annotations
        note nodes without a name or a module were left out
        note nodes without a name or a module were left out
    "#]],
    );
}
