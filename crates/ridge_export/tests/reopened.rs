//! What is exported as a Chrome trace opens again, with the same device work.

use ridge_export::{Form, Privacy, export};
use ridgeline::{OpenOptions, Session, Trace};
use std::path::{Path, PathBuf};

/// Events and nanoseconds of device work by category, sorted.
fn work(trace: &Trace) -> Vec<(bool, usize, i64)> {
    [true, false]
        .map(|is_copy| {
            let rows = || {
                let is_kind = move |row: &usize| {
                    let kind = trace.events.kind(*row);
                    kind.is_device_work() && (kind.is_copy() == is_copy)
                };
                (0..trace.events.len()).filter(is_kind)
            };
            (is_copy, rows().count(), rows().map(|row| trace.events.dur_ns[row]).sum())
        })
        .to_vec()
}

fn open(path: &Path) -> Session {
    Session::open(&[path.to_owned()], &OpenOptions::default()).expect("a capture")
}

fn check(path: PathBuf) {
    let session = open(&path);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let copy = folder.path().join("copy.json");
    let mut file = std::fs::File::create(&copy).expect("a file");
    export(session.trace(), Form::Chrome, Privacy::Removed, &mut file, &mut |_| {}).expect("written");
    let again = open(&copy);
    assert_eq!(work(again.trace()), work(session.trace()), "{}", path.display());
}

#[test]
fn a_pytorch_trace() {
    check(ridge_test::fixtures("chrome").join("train.json"));
}

#[test]
fn nvidia_and_amd_gpus() {
    for name in ["nvidia_like.xplane.pb", "mi300_gemm.xplane.pb"] {
        check(ridge_test::real("xplane").join(name));
    }
}
