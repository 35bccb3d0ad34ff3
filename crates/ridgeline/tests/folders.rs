//! Folders whose files are together one capture.

use ridgeline::{OpenOptions, Session, Topic};
use std::path::{Path, PathBuf};

fn open(path: PathBuf) -> Session {
    Session::open(&[path], &OpenOptions::default()).expect("it can be read")
}

#[test]
fn tables_in_a_folder_are_one_capture() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = open(crates.join("ridge_import/tests/nsys_parquet"));
    let database = open(ridge_test::fixtures("nsys").join("two_processes.sqlite"));
    for by in ["op", "kernel", "track"] {
        assert_eq!(
            folder.table(Topic::Time, by).expect("a view").batch,
            database.table(Topic::Time, by).expect("a view").batch,
            "{by:?}"
        );
    }
}

#[test]
fn an_archive_brings_its_sources_along() {
    let session = open(ridge_test::fixtures("nsys-jax").join("one_process.zip"));
    assert_eq!(session.table(Topic::Time, "op").expect("a view").batch.num_rows(), 4);
    // The line of the source that the all-reduce comes from, as the file in the archive has it.
    let lines = ridge_test::render(&session.table(Topic::Time, "source").expect("a view"), &["source", "text"]);
    assert!(lines.contains("/programs/operations.py:") && lines.contains("line 7"), "{lines}");
    assert_eq!(session.trace().devices[0].model.as_deref(), Some("NVIDIA A100-SXM4-40GB"));
}
