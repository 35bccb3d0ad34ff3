//! SIGINT during a calibration: the worker is asked to end, and what was measured is kept.
//!
//! It is alone in its file because a signal reaches everything of a process that watches signals.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod script;

use ridge_record::calibrate::{CalibrateEvent, CalibrateOptions, Effort, Scope, calibrate};

/// Waits for the end of its standard input in its second figure.
const WORKER: &str = r#"#!/bin/sh
echo '{"event":"device","device":{"kind":"Test GPU","platform":"gpu"}}'
echo '{"event":"measured","what":"matrix","type":"f32","unit":"flop/s","value":2e12}'
echo '{"event":"start","what":"matrix","type":"f64"}'
cat >/dev/null
echo '{"event":"interrupted"}'
exit 130
"#;

#[test]
fn an_interrupt_keeps_what_was_measured() {
    let dir = tempfile::tempdir().unwrap();
    let python = dir.path().join("python");
    script::write(&python, WORKER);
    let options = CalibrateOptions { scope: Scope::Device, effort: Effort::Quick, python: Some(python) };
    let calibration = calibrate(&options, &mut |event| {
        if let CalibrateEvent::Started { .. } = event {
            signal_hook::low_level::raise(signal_hook::consts::SIGINT).unwrap();
        }
    })
    .unwrap();
    assert!(calibration.interrupted && calibration.no_device.is_none());
    assert_eq!(calibration.measured(), 1);
    assert_eq!(calibration.keep(dir.path()).unwrap().len(), 1);
}
