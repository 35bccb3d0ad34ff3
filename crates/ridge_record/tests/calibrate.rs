//! A calibration with a shell script in the place of Python: what it says becomes figures, and however it ends they are kept.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../ridge_report/tests/schema/mod.rs"]
mod schema;
mod script;

use std::fs;
use std::path::{Path, PathBuf};

use ridge_record::calibrate::{
    CalibrateError, CalibrateEvent, CalibrateOptions, Calibration, Effort, Scope, calibrate,
};
use serde_json::Value;

const GPU: &str = r#"
echo '{"event":"plan","probes":3}'
echo '{"event":"environment","environment":{"versions":{"jax":"0.10.1"}}}'
echo '{"event":"device","device":{"id":0,"kind":"Test GPU","platform":"gpu","process_index":0,"memory_bytes":16}}'
echo '{"event":"start","what":"matrix","type":"f32"}'
echo '{"event":"measured","what":"matrix","type":"f32","unit":"flop/s","value":2e12,"median":1e12,"rounds":9,"edge":64}'
echo '{"event":"start","what":"matrix","type":"f64"}'
echo '{"event":"missing","what":"matrix","type":"f64","why":"not here"}'
echo '{"event":"start","what":"launch_interval","type":null}'
"#;
const LAUNCH: &str =
    r#"echo '{"event":"measured","what":"launch_interval","type":null,"unit":"ns","value":2500,"rounds":3}'"#;

fn worker(dir: &Path, script: &str) -> CalibrateOptions {
    let python = dir.join("python");
    script::write(&python, &format!("#!/bin/sh\n{script}\n"));
    CalibrateOptions { scope: Scope::Device, effort: Effort::Quick, python: Some(python) }
}

fn run(dir: &Path, script: &str) -> Result<Calibration, CalibrateError> {
    calibrate(&worker(dir, script), &mut |_| {})
}

fn told(calibration: &Calibration) -> Vec<String> {
    let of = |device: &ridge_record::calibrate::MeasuredDevice| {
        let figures = device.figures.iter().map(|figure| format!("{} {} {}", figure.what, figure.value, figure.unit));
        let missing = device.missing.iter().map(|missing| format!("{} missing: {}", missing.what, missing.why));
        [format!("{} ({})", device.name, device.platform)].into_iter().chain(figures).chain(missing).collect::<Vec<_>>()
    };
    calibration.devices.iter().flat_map(of).collect()
}

#[test]
fn what_the_worker_says_becomes_figures() {
    let dir = tempfile::tempdir().unwrap();
    let mut done = Vec::new();
    let calibration = calibrate(&worker(dir.path(), &format!("{GPU}{LAUNCH}")), &mut |event| {
        if let CalibrateEvent::Done { what, missing } = event {
            done.push((what, missing));
        }
    })
    .unwrap();
    let expected =
        ["Test GPU (gpu)", "matrix 2000000000000 flop/s", "launch_interval 2500 ns", "matrix missing: not here"];
    assert_eq!(told(&calibration), expected);
    let lost = Some("not here".to_owned());
    assert_eq!(done, [("matrix f32".into(), None), ("matrix f64".into(), lost), ("launch_interval".into(), None)]);
}

#[test]
fn a_worker_that_dies_keeps_what_it_measured_and_says_in_what_it_died() {
    let dir = tempfile::tempdir().unwrap();
    let calibration = run(dir.path(), &format!("{GPU} echo 'out of memory' >&2; exit 7")).unwrap();
    let reason = "the worker exited with status 7 during launch_interval: out of memory";
    assert_eq!(calibration.no_device.as_deref(), Some(reason));
    assert_eq!(told(&calibration).last(), Some(&format!("launch_interval missing: {reason}")));
    assert_eq!(calibration.measured(), 1);
}

#[test]
fn without_jax_a_device_alone_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let error = run(dir.path(), r#"echo '{"event":"broken","reason":"no module named jax"}'; exit 3"#).unwrap_err();
    assert_eq!(error.to_string(), "cannot measure a device: no module named jax");
    let options = CalibrateOptions { python: Some(PathBuf::from("/nowhere/python")), ..worker(dir.path(), "") };
    let error = calibrate(&options, &mut |_| {}).unwrap_err();
    assert!(error.to_string().starts_with("cannot measure a device: cannot start /nowhere/python"), "{error}");
}

#[test]
fn a_processor_that_jax_finds_is_the_host() {
    let dir = tempfile::tempdir().unwrap();
    let script = r#"echo '{"event":"device","device":{"id":0,"kind":"cpu","platform":"cpu"}}'"#;
    let calibration = run(dir.path(), &format!("{script}\n{LAUNCH}")).unwrap();
    let [host] = &calibration.devices[..] else { panic!("one device") };
    assert!(host.name != "cpu" && host.usable_cores.is_some(), "{host:?}");
}

#[test]
fn documents_keep_to_their_schema() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json/ceilings.v1.schema.json");
    let page: Value = serde_json::from_slice(&fs::read(page).unwrap()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let calibration = run(dir.path(), &format!("{GPU}{LAUNCH}")).unwrap();
    let kept = calibration.keep(&dir.path().join("ceilings")).unwrap();
    let texts = [calibration.to_json(), fs::read_to_string(&kept[0]).unwrap()];
    for document in texts.map(|text| serde_json::from_str::<Value>(&text).unwrap()) {
        assert_eq!(schema::problems(&page, &document), Vec::<String>::new());
    }
}
