//! The gate of `ci/`: the steps of the action and of GitLab's job, run here as they run there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project")
}

/// A stream that waits 463 ms for work from before the capture: a warning.
fn capture() -> PathBuf {
    root().join("fixtures/real/kineto/mi300_sglang_decode_hipgraph.json.gz")
}

/// The command of the one step that `file` has, behind `mark`.
fn step(file: &str, mark: &str) -> String {
    let text = fs::read_to_string(root().join("ci").join(file)).expect("a file of ci/");
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(mark));
    line.unwrap_or_else(|| panic!("{mark} in {file}")).to_owned()
}

fn gate(step: &str, folder: &Path, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", step]).current_dir(root()).env("GITHUB_ACTION_PATH", root().join("ci"));
    command
        .env("CAPTURE", capture())
        .env("REPORTS", folder.join("reports"))
        .env("RIDGELINE", env!("CARGO_BIN_EXE_ridgeline"));
    command.envs(variables.iter().copied()).env("XDG_DATA_HOME", "/nowhere").env_remove("GITHUB_STEP_SUMMARY");
    command.output().expect("sh runs")
}

#[test]
fn both_gates_report_and_fail_from_the_level_on() {
    for (file, mark) in [("action.yml", "run: "), ("gitlab.yml", "- sh ")] {
        let command = step(file, mark);
        let command = if mark == "run: " { command } else { format!("sh {command}") };
        let folder = tempfile::tempdir().expect("a folder");
        for (fail_on, code) in [("error", 0), ("warning", 1)] {
            let ran = gate(&command, folder.path(), &[("FAIL_ON", fail_on)]);
            assert_eq!(ran.status.code(), Some(code), "{file} {fail_on}: {}", String::from_utf8_lossy(&ran.stderr));
            assert!(String::from_utf8_lossy(&ran.stdout).contains("warning[unexplained-wait]"));
        }
        for (report, said) in
            [("findings.sarif", "\"unexplained-wait\""), ("junit.xml", "<failure"), ("summary.md", "463 ms")]
        {
            let text = fs::read_to_string(folder.path().join("reports").join(report)).expect("a report");
            assert!(text.contains(said), "{file}: {report}");
        }
        let broken = gate(&command, folder.path(), &[("CAPTURE", "no-such-capture")]);
        assert_eq!(broken.status.code(), Some(2), "{file}");
    }
}

#[test]
fn what_is_accepted_does_not_fail() {
    let folder = tempfile::tempdir().expect("a folder");
    let accepted = folder.path().join("accepted.json");
    let mut write = Command::new(env!("CARGO_BIN_EXE_ridgeline"));
    write.arg("check").arg(capture()).arg("--write-baseline").arg(&accepted);
    assert_eq!(write.output().expect("it runs").status.code(), Some(1));
    let accepted = accepted.display().to_string();
    let ran = gate("sh ci/gate.sh", folder.path(), &[("FAIL_ON", "warning"), ("ACCEPTED", &accepted)]);
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
}
