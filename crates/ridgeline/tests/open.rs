//! What can be opened, what cannot, and what the user is told.
//!
//! Captures are the project's own fixture; how their bytes are read is tested where they are read.

use ridgeline::{CeilingsChoice, Limit, OpenError, OpenOptions, Session, Severity};
use std::fs;
use std::path::{Path, PathBuf};

fn open(path: &Path) -> Result<Session, OpenError> {
    Session::open(&[path.to_owned()], &OpenOptions::default())
}

fn fixture() -> PathBuf {
    ridge_test::fixtures("xplane").join("train_steps.xplane.pb")
}

fn put(folder: &Path, name: &str) -> PathBuf {
    let target = folder.join(name);
    fs::create_dir_all(target.parent().expect("it is in the folder")).expect("a temporary folder");
    fs::copy(fixture(), &target).expect("the fixture is there");
    target
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// The message, where it points and whether there is advice, with the folder's own name left out.
#[track_caller]
fn check_error(path: &Path, root: &Path, message: &str, is_advised: bool) {
    let error = open(path).err().unwrap_or_else(|| panic!("{} was opened", path.display()));
    let said = error.message().replace(&root.display().to_string(), "ROOT");
    assert_eq!(said, message);
    assert!(error.path().is_some_and(|path| path.starts_with(root)), "{error:?}");
    assert_eq!(!error.hints().is_empty(), is_advised, "{error:?}");
}

fn notes(session: &Session) -> Vec<String> {
    session.notes().iter().map(|note| format!("{:?}: {}", note.severity, note.message)).collect()
}

#[test]
fn nothing_there() {
    let root = folder();
    check_error(
        &root.path().join("absent"),
        root.path(),
        "could not open: No such file or directory (os error 2)",
        false,
    );
    assert!(Session::open(&[], &OpenOptions::default()).is_err());
}

#[test]
fn a_folder_without_a_capture() {
    let root = folder();
    let message = "no capture found";
    check_error(root.path(), root.path(), message, true);
    fs::write(root.path().join("notes.txt"), "nothing").expect("a temporary folder");
    fs::create_dir(root.path().join("empty")).expect("a temporary folder");
    check_error(root.path(), root.path(), message, true);
}

#[test]
fn files_that_are_no_captures() {
    let root = folder();
    let file = root.path().join("x.xplane.pb");
    fs::write(&file, "").expect("a temporary folder");
    check_error(&file, root.path(), "expected a capture, found an empty file", true);
    fs::write(&file, "step,loss\n").expect("a temporary folder");
    check_error(&file, root.path(), "unrecognized file format: the file begins with \"step,loss\\n\"", true);
    let error =
        Session::open(&[fixture()], &OpenOptions { format: Some("etch".to_owned()), ..OpenOptions::default() }).err();
    let error = error.expect("there is no such format");
    assert!(error.message().starts_with("unknown format `etch`; the formats are "), "{error}");
}

#[test]
fn one_good_file_beside_bad_ones() {
    let root = folder();
    let alone = open(&put(root.path(), "a.xplane.pb")).expect("a whole capture").trace().events.len();
    fs::write(root.path().join("b.xplane.pb"), "").expect("a temporary folder");
    // Even root cannot read a folder as a file; a link to nothing cannot be opened by anybody.
    std::os::unix::fs::symlink(root.path().join("absent"), root.path().join("c.xplane.pb"))
        .expect("a temporary folder");
    let session = open(root.path()).expect("one can be read");
    assert_eq!(session.trace().events.len(), alone);
    let lost: Vec<String> = notes(&session).into_iter().filter(|note| note.starts_with("Lost")).collect();
    assert_eq!(lost.len(), 2, "{lost:?}");
}

#[test]
fn a_folder_named_like_a_capture() {
    let root = folder();
    fs::create_dir(root.path().join("x.xplane.pb")).expect("a temporary folder");
    check_error(root.path(), root.path(), "no capture found", true);
    put(root.path(), "x.xplane.pb/inside.xplane.pb");
    assert!(!open(root.path()).expect("there is one inside").trace().events.is_empty());
}

#[test]
fn the_latest_session_of_a_log_folder() {
    let root = folder();
    for session in ["2026_01_02_03_04_05", "2026_01_02_03_09_00"] {
        put(root.path(), &format!("plugins/profile/{session}/host.xplane.pb"));
    }
    let session = open(root.path()).expect("two sessions");
    let one = open(&root.path().join("plugins/profile/2026_01_02_03_04_05")).expect("one session");
    assert_eq!(session.trace().events.len(), one.trace().events.len());
    let told =
        "Info: the latest of 2 sessions is shown, 2026_01_02_03_09_00; name the directory of another one to see it";
    assert!(notes(&session).iter().any(|note| note == told), "{:?}", notes(&session));
    assert!(notes(&one).iter().all(|note| !note.contains("latest")));
}

#[test]
fn the_sessions_of_a_recording_are_one_capture() {
    let root = folder();
    for session in ["trace", "trace.window2"] {
        put(root.path(), &format!("plugins/profile/{session}/host0.xplane.pb"));
    }
    // A path of a benchmark, which XProf lists as `size_032/add`.
    put(root.path(), "size_032/plugins/profile/add/host0.xplane.pb");
    put(root.path(), "size_032/plugins/profile/mul/host0.xplane.pb");
    let files = |path: &Path| open(path).expect("captures").trace().processes.len();
    assert_eq!(files(root.path()), 2, "of each log folder the latest, where nothing says otherwise");
    fs::write(root.path().join("manifest.json"), r#"{"schema": "ridgeline.manifest.v1"}"#).expect("a file");
    assert_eq!(files(root.path()), 4);
    assert_eq!(files(&root.path().join("size_032")), 2);
    assert_eq!(ridgeline::sessions_below(root.path()), Vec::<std::path::PathBuf>::new());
}

#[test]
fn several_hosts_of_one_session() {
    let root = folder();
    let one = open(&put(root.path(), "plugins/profile/s/host0.xplane.pb")).expect("a capture");
    put(root.path(), "plugins/profile/s/host1.xplane.pb");
    let both = open(root.path()).expect("two hosts");
    assert_eq!(both.trace().events.len(), 2 * one.trace().events.len());
    assert_eq!(both.trace().processes.len(), 2);
}

#[test]
fn a_run_folder_says_what_is_missing() {
    let root = folder();
    let capture = put(root.path(), "trace/host.xplane.pb");
    let manifest = r#"{"schema": "ridgeline.manifest.v1", "command": ["python", "train.py"], "complete": false,
        "missing": [{"what": "the trace of the second window", "why": "the program was killed"},
                    {"what": "memory after", "why": "no device"}, {"why": "nothing named"}, 7]}"#;
    fs::write(root.path().join("manifest.json"), manifest).expect("a temporary folder");
    for path in [root.path(), &capture] {
        let session = open(path).expect("a run folder");
        let told = notes(&session);
        let expected = [
            "Lost: not recorded: the trace of the second window: the program was killed",
            "Partial: not recorded: memory after: no device",
        ];
        assert_eq!(&told[..2], expected, "{told:?}");
        let recording = session.info().into_iter().find(|section| section.title == "Recording");
        assert!(recording.is_some_and(|section| section.facts.iter().any(|fact| fact.key == "command")));
    }
}

#[test]
fn a_recording_that_did_not_end() {
    let root = folder();
    put(root.path(), "trace/host.xplane.pb");
    let write = |text: &str| fs::write(root.path().join("manifest.json"), text).expect("a temporary folder");
    write(r#"{"schema": "ridgeline.manifest.v1", "complete": false}"#);
    let session = open(root.path()).expect("a run folder");
    assert!(notes(&session).contains(&"Lost: the recording did not end properly".to_owned()));
    let unfinished = r#"{"schema": "ridgeline.manifest.v1", "complete": false, "finished": false,
        "missing": [{"what": "end of the recording", "why": "the recording was not finished: ridgeline was stopped"}]}"#;
    write(unfinished);
    let session = open(root.path()).expect("a run folder");
    assert_eq!(notes(&session)[0], "Lost: the recording was not finished: ridgeline was stopped");
    // Nothing was captured before the end: the error says why.
    fs::remove_dir_all(root.path().join("trace")).expect("it was there");
    let error = open(root.path()).expect_err("there is no capture");
    assert!(error.hints().iter().any(|hint| hint.starts_with("the recording was not finished")), "{error:?}");
    put(root.path(), "trace/host.xplane.pb");
    // What is no manifest of ours, or is cut, does not stop the capture from opening.
    for text in ["", "{", "[]", "null", r#"{"schema": 1}"#, r#"{"schema": "other"}"#] {
        write(text);
        let session = open(root.path()).expect("the capture is whole");
        assert!(session.notes().iter().all(|note| note.severity < Severity::Lost), "{text}: {:?}", notes(&session));
    }
}

#[test]
fn a_cut_capture_opens_and_says_so_first() {
    let root = folder();
    let bytes = fs::read(fixture()).expect("the fixture is there");
    let file = root.path().join("cut.xplane.pb");
    fs::write(&file, &bytes[..bytes.len() / 2]).expect("a temporary folder");
    let session = open(&file).expect("half a capture");
    assert_eq!(session.notes().first().map(|note| note.severity), Some(Severity::Lost));
}

/// The memory bandwidth of the first device, bytes per second.
fn bandwidth(capture: &Path, choice: &CeilingsChoice) -> Result<Option<f64>, OpenError> {
    let options = OpenOptions { ceilings: choice.clone(), ..OpenOptions::default() };
    let session = Session::open(&[capture.to_owned()], &options)?;
    Ok(session.ceilings().first().and_then(|ceilings| ceilings.value(Limit::Memory)))
}

#[test]
fn measured_ceilings_of_a_named_file_are_taken_for_the_device_they_must_mean() {
    let root = folder();
    let capture = put(root.path(), "a.xplane.pb");
    let file = root.path().join("ceilings.json");
    let write = |platform: &str| {
        let figure = r#"{"what":"stream_triad","type":"f64","by":"native","unit":"bytes/s","value":28e9}"#;
        let text = format!(
            r#"{{"schema":"ridgeline.ceilings.v1","devices":[{{"name":"X","platform":"{platform}","figures":[{figure}]}}]}}"#
        );
        fs::write(&file, text).expect("a temporary folder");
    };
    let choice = CeilingsChoice::File(file.clone());
    write("cpu");
    assert_eq!(bandwidth(&capture, &choice).expect("a document"), Some(28e9));
    assert_eq!(bandwidth(&capture, &CeilingsChoice::None).expect("nothing to read"), None);
    write("gpu");
    let error = bandwidth(&capture, &choice).expect_err("the capture has a processor alone");
    assert_eq!(error.message(), "expected a device of the capture among the measured ones, found X");
}

#[test]
fn a_data_sheet_can_be_named_for_a_capture_without_a_model() {
    // Made without the tables that describe GPUs.
    let capture = ridge_test::fixtures("nsys").join("old_schema.sqlite");
    let named = |name: &str| bandwidth(&capture, &CeilingsChoice::Sheet(name.to_owned()));
    assert_eq!(bandwidth(&capture, &CeilingsChoice::None).expect("nothing to read"), None);
    assert_eq!(named("NVIDIA H100 SXM5 80GB").expect("its name"), Some(3.352e12));
    assert_eq!(named("nvidia h100 80gb hbm3").expect("its driver's name for it"), Some(3.352e12));
    let error = named("NVIDIA H900").expect_err("no such sheet");
    assert_eq!(error.message(), "no data sheet of a device named `NVIDIA H900`");
    // A processor is not what was named.
    let root = folder();
    let processor = put(root.path(), "a.xplane.pb");
    let choice = CeilingsChoice::Sheet("NVIDIA H200".to_owned());
    assert_eq!(bandwidth(&processor, &choice).expect("its name"), None);
}
