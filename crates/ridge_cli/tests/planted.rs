//! Private things in every format, planted and looked for by `planted.py`, which shares no code with what is checked.

use std::process::Command;

#[test]
fn nothing_that_was_planted_survives() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/planted.py");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut python = Command::new("python3");
    python.args([script, env!("CARGO_BIN_EXE_ridgeline")]).arg(folder.path());
    let Ok(ran) = python.output() else { return println!("skipped: nothing_that_was_planted_survives: no python3") };
    let (out, errors) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{errors}");
    assert!(out.ends_with(" looked for\n") && out.lines().count() == 1, "{out}{errors}");
}
