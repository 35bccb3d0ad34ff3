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
            let operation = trace.operation(row).map_or(("-", ""), |operation| {
                (trace.strings.get(operation.name), trace.strings.get(operation.scope))
            });
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
    let (trace, annotations) = (bytes("chrome/graph_replay.pt.trace.json"), bytes("graph-annotations/kernel_annotations_rank0.json"));
    let (trace, annotations) =
        (Source { name: "trace", bytes: &trace }, Source { name: "annotations", bytes: &annotations });
    check(&[trace], expect![[""]]);
    check(&[trace, annotations], expect![[""]]);
    assert_eq!(
        work(&import(&[trace, annotations], None).expect("captures")),
        work(&import(&[annotations, trace], None).expect("captures"))
    );
}

#[test]
fn annotations_that_belong_to_nothing_are_said_to() {
    let (trace, annotations) = (bytes("chrome/graph_replay.pt.trace.json"), bytes("graph-annotations/kernel_annotations_rank0.json"));
    let other = String::from_utf8(annotations.clone()).expect("text").replace("42949", "52949");
    let (trace, annotations, other) = (
        Source { name: "trace", bytes: &trace },
        Source { name: "annotations", bytes: &annotations },
        Source { name: "other", bytes: other.as_bytes() },
    );
    check(&[annotations], expect![[""]]);
    check(&[trace, other], expect![[""]]);
    check(&[trace, annotations, other], expect![[""]]);
}
