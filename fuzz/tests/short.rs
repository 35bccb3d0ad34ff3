//! A short run over damaged input: five seconds, or `RIDGE_FUZZ_SECONDS`, over all targets.

use std::process::Command;

#[test]
fn damaged_input_panics_nowhere() {
    let seconds = std::env::var("RIDGE_FUZZ_SECONDS").unwrap_or_else(|_| "5".to_owned());
    let run = Command::new(env!("CARGO_BIN_EXE_ridge_fuzz")).args(["--seconds", &seconds]).output().expect("it starts");
    let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}");
    println!("{said}");
}

#[test]
fn an_unknown_target_is_refused() {
    let run = Command::new(env!("CARGO_BIN_EXE_ridge_fuzz")).arg("nothing").output().expect("it starts");
    assert_eq!(run.status.code(), Some(2));
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(said.contains("the targets are xplane, chrome, nsys, nsys_jax, ncu, ncu_page, rocprof, rocpd, perfetto, pprof, torch_snapshot, memory_timeline, hlo_proto, hlo_text, summary, redact, redact_sqlite"), "{said}");
}
