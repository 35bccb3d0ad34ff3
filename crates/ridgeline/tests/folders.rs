//! Folders whose files are together one capture.

use ridgeline::{Note, OpenOptions, Session, Topic};
use std::fs;
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

#[test]
fn a_file_that_opens_alone_opens_as_a_folder_with_nothing_else() {
    for capture in [
        "monitor/dmon.log",
        "hlo/sort.after.txt",
        "torch-snapshot/train_step.pickle",
        "torch-snapshot/train_step.pt",
        "ncu/made_up.raw.csv",
        "memory-timeline/steps.raw.json",
        "chrome/train.json",
    ] {
        let path = ridge_test::fixtures(capture);
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::copy(&path, folder.path().join("capture")).expect("a temporary folder");
        let (inside, alone) = (open(folder.path().to_owned()), open(path));
        assert_eq!(inside.trace().events.len(), alone.trace().events.len(), "{capture}");
        assert_eq!(inside.notes().len(), alone.notes().len(), "{capture}");
    }
}

#[test]
fn a_copy_of_tables_in_a_folder_keeps_nothing_private() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ridge_import/tests/nsys_parquet");
    let place = tempfile::tempdir().expect("a temporary folder");
    let copy = place.path().join("copy");
    let redacted = ridgeline::redact(&folder, &copy).expect("an export");
    let bytes = |folder: &Path| -> Vec<u8> {
        let tables = ridge_test::files(folder, ".parquet");
        tables.iter().flat_map(|path| fs::read(path).expect("a table")).collect()
    };
    // Tables of a copy are not compressed, so what is in them is there to be found.
    let (given, clean) = (bytes(&folder), bytes(&copy));
    let holds = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    for secret in ["secret-program", "TOKEN=secret", "secret-host", "secret-user"] {
        assert!(holds(&given, secret) && !holds(&clean, secret), "{secret}");
    }
    assert!(holds(&clean, "registered range"), "what is not private stays");
    assert!(redacted.left_out.iter().all(|(name, _)| name == "make.py"), "{:?}", redacted.left_out);
    for by in ["op", "kernel", "track"] {
        let answer = |folder: &Path| open(folder.to_owned()).table(Topic::Time, by).expect("a view").batch;
        assert_eq!(answer(&copy), answer(&folder), "{by}");
    }
}

#[test]
#[cfg(unix)]
fn only_regular_files_of_the_folder_are_opened() {
    use std::os::unix::fs::symlink;
    let (folder, elsewhere) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let capture = ridge_test::fixtures("xplane").join("train_steps.xplane.pb");
    let (inside, outside) = (folder.path().join("a.xplane.pb"), elsewhere.path().join("b.xplane.pb"));
    for path in [&inside, &outside] {
        fs::copy(&capture, path).expect("a temporary folder");
    }
    // A pipe that nobody writes to never ends; neither does this device.
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe.xplane.pb")).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo is in POSIX");
    let socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).expect("a socket");
    for (target, link) in [
        (Path::new("/dev/zero"), "zero.sqlite"),
        (&outside, "outside.xplane.pb"),
        (&inside, "again.xplane.pb"),
        (elsewhere.path(), "folder"),
        (Path::new("gone"), "gone.xplane.pb"),
    ] {
        symlink(target, folder.path().join(link)).expect("a temporary folder");
    }
    let session = open(folder.path().to_owned());
    assert_eq!(session.trace().events.len(), open(capture).trace().events.len());
    let told = "the link leads out of the directory and was not followed; name the file itself";
    let mut said: Vec<&str> =
        session.notes().iter().filter(|note| note.message == told).filter_map(|note| note.file.as_deref()).collect();
    said.sort_unstable();
    assert!(
        matches!(said[..], [outside, zero] if outside.ends_with("outside.xplane.pb") && zero.ends_with("zero.sqlite")),
        "{said:?}"
    );
    let told = "the link leads to nothing that can be opened";
    let said: Vec<&str> =
        session.notes().iter().filter(|note| note.message == told).filter_map(|note| note.file.as_deref()).collect();
    assert!(matches!(said[..], [gone] if gone.ends_with("gone.xplane.pb")), "{said:?}");
    let not_opened = session.notes().iter().filter(|note| note.message.contains("and was not opened"));
    let name =
        |note: &Note| note.file.as_deref().and_then(|file| file.rsplit('/').next()).unwrap_or_default().to_owned();
    let said: Vec<String> =
        not_opened.map(|note| format!("{:?} {}: {}", note.severity, name(note), note.message)).collect();
    assert_eq!(
        said,
        [
            "Lost pipe.xplane.pb: is a pipe and was not opened: in a directory only regular files are; name the pipe itself to \
             read from it",
            "Info socket: is a socket and was not opened: in a directory only regular files are",
        ]
    );
    let copy = elsewhere.path().join("copy");
    let left_out = ridgeline::redact(folder.path(), &copy).expect("a capture").left_out;
    let why = |name: &str| left_out.iter().find(|(file, _)| file == name).map(|(_, why)| why.as_str());
    assert_eq!((why("pipe.xplane.pb"), why("socket")), (Some("a pipe"), Some("a socket")));
    drop(socket);
}

#[test]
#[cfg(unix)]
fn names_need_not_be_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let strange = folder.path().join(OsStr::from_bytes(b"run\xff"));
    fs::create_dir(&strange).expect("a temporary folder");
    // What is called as a capture comes before its copies, whatever the folder is called that it is in.
    let capture = ridge_test::fixtures("xplane").join("train_steps.xplane.pb");
    fs::copy(&capture, strange.join("a.xplane.pb")).expect("a temporary folder");
    fs::write(folder.path().join("a.trace.json"), r#"{"traceEvents": [{"ph": "X", "ts": 1, "pid": 1}]}"#)
        .expect("a file");
    assert_eq!(open(folder.path().to_owned()).trace().events.len(), open(capture).trace().events.len());
}

#[test]
fn a_pointer_of_git_lfs_is_said() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    fs::write(folder.path().join("a.xplane.pb"), pointer).expect("a temporary folder");
    let error = Session::open(&[folder.path().to_owned()], &OpenOptions::default()).expect_err("there is no capture");
    assert!(error.hints().iter().any(|hint| hint.contains("git lfs pull")), "{:?}", error.hints());
}
