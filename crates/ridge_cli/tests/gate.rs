//! The gates of `ci/`: the steps of the actions and of GitLab's jobs, run here as they run there.

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

/// The command of the step of `file` that runs `script`.
fn step(file: &str, script: &str) -> String {
    let text = fs::read_to_string(root().join("ci").join(file)).expect("a file of ci/");
    let commands = text.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("run: ").or_else(|| line.strip_prefix("- ")).filter(|command| command.starts_with("sh "))
    });
    let found = commands.into_iter().find(|command| command.contains(script));
    found.unwrap_or_else(|| panic!("{script} in {file}")).to_owned()
}

fn gate(step: &str, folder: &Path, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new("sh");
    let action = if step.contains("/../") { "ci/compare" } else { "ci" };
    command.args(["-c", step]).current_dir(root()).env("GITHUB_ACTION_PATH", root().join(action));
    command
        .env("CAPTURE", capture())
        .env("REPORTS", folder.join("reports"))
        .env("RIDGELINE", env!("CARGO_BIN_EXE_ridgeline"));
    command.env("XDG_DATA_HOME", "/nowhere").env_remove("GITHUB_STEP_SUMMARY").envs(variables.iter().copied());
    command.output().expect("sh runs")
}

#[test]
fn both_gates_report_and_fail_from_the_level_on() {
    for file in ["action.yml", "gitlab.yml"] {
        let command = step(file, "gate.sh");
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

/// Three runs of a suite of one operation, as `ridgeline bench` writes them.
fn runs(folder: &Path, name: &str, milliseconds: [f64; 3]) -> PathBuf {
    let side = folder.join(name);
    for (at, time) in milliseconds.into_iter().enumerate() {
        let run = side.join(at.to_string());
        fs::create_dir_all(&run).expect("a folder");
        let measured = |(run, time): (usize, f64)| {
            let seconds = time / 1e3;
            format!(r#"{{"operation":"project","volume_size":32,"run":{run},"traced":false,"time":{seconds}}}"#)
        };
        let times = [(0, time), (1, time * 1.001)].map(measured).join(",");
        let text =
            format!(r#"{{"schema":"ridgeline.bench.v1","suite":"s","interrupted":false,"measurements":[{times}]}}"#);
        fs::write(run.join("results.json"), text).expect("a file");
    }
    side
}

#[test]
fn both_gates_compare_with_a_small_file_and_fail_where_it_got_slower() {
    let folder = tempfile::tempdir().expect("a folder");
    let before = runs(folder.path(), "before", [10.0, 10.1, 9.9]).display().to_string();
    let slower = runs(folder.path(), "slower", [12.0, 12.1, 11.9]).display().to_string();
    let alike = runs(folder.path(), "alike", [10.05, 9.95, 10.0]).display().to_string();
    let base = folder.path().join("base.json").display().to_string();
    for file in ["compare/action.yml", "gitlab.yml"] {
        let command = step(file, "compare.sh");
        let reports = folder.path().join("reports");
        // At first there is no file, and the step makes one.
        let first = gate(&command, folder.path(), &[("BEFORE", &base), ("AFTER", &before)]);
        assert_eq!(first.status.code(), Some(0), "{file}: {}", String::from_utf8_lossy(&first.stderr));
        assert!(String::from_utf8_lossy(&first.stdout).contains("nothing to compare with yet"));
        fs::rename(reports.join("summary.json"), &base).expect("the summary was written");
        assert!(fs::metadata(&base).expect("the file").len() < 8192, "it is small");
        let steps = folder.path().join("steps.md").display().to_string();
        for (after, fail_on, code) in [(&alike, "5%", 0), (&slower, "50%", 0), (&slower, "5%", 1)] {
            let variables =
                [("BEFORE", &*base), ("AFTER", after), ("FAIL_ON", fail_on), ("GITHUB_STEP_SUMMARY", &steps)];
            let ran = gate(&command, folder.path(), &variables);
            let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
            assert_eq!(ran.status.code(), Some(code), "{file} {after} {fail_on}: {said}");
        }
        for (report, said) in [
            ("comparison.json", "\"state\": \"slower\""),
            ("comparison.md", "**gate**: fails"),
            ("comparison.sarif", "\"slower-than-before\""),
            ("junit.xml", "<failure message=\"slower: suite 10 ms"),
        ] {
            let text = fs::read_to_string(reports.join(report)).expect("a report");
            assert!(text.contains(said), "{file}: {report}: {text}");
        }
        assert!(fs::read_to_string(&steps).expect("a summary of the step").contains("### slower"));
        let broken = gate(&command, folder.path(), &[("BEFORE", &base), ("AFTER", "no-such-capture")]);
        assert_eq!(broken.status.code(), Some(2), "{file}");
        fs::remove_file(&base).expect("the file");
    }
}

/// A project with a commit on main, and a tree that has another program.
fn pull_request(folder: &Path, main: &str, tree: &str) {
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(folder).args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(arguments);
        assert!(git.status().expect("git runs").success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    fs::write(folder.join("program.sh"), main).expect("a file");
    git(&["add", "."]);
    git(&["commit", "-qm", "main"]);
    git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    fs::write(folder.join("program.sh"), tree).expect("a file");
    git(&["commit", "-qam", "the change"]);
}

#[test]
fn a_pull_request_that_is_faster_passes_and_one_that_is_slower_fails() {
    // What a run takes is the machine's; that one takes twenty times the other is not.
    let (fast, slow) = ("sleep 0.05\n", "sleep 1\n");
    for file in ["try/action.yml", "gitlab.yml"] {
        let command = step(file, "try.sh");
        for (main, tree, code, state) in [(slow, fast, 0, "faster"), (fast, slow, 1, "slower")] {
            let project = tempfile::tempdir().expect("a folder");
            pull_request(project.path(), main, tree);
            let reports = project.path().join("reports");
            let mut ran = Command::new("sh");
            ran.args(["-c", &command.replace("sh ci/", &format!("sh {}/ci/", root().display()))]);
            ran.current_dir(project.path()).env("GITHUB_ACTION_PATH", root().join("ci/try"));
            ran.env("PROGRAM", "sh program.sh").env("FAIL_ON", "50%").env("REPORTS", &reports);
            ran.env("OPTIONS", "--runs 3 --discard 0 --until 20%").env("RIDGELINE", env!("CARGO_BIN_EXE_ridgeline"));
            let ran = ran.env("XDG_DATA_HOME", "/nowhere").output().expect("sh runs");
            let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
            assert_eq!(ran.status.code(), Some(code), "{file}: {said}");
            let document = fs::read_to_string(reports.join("try.json")).expect("the document");
            assert!(document.contains(&format!("\"state\": \"{state}\"")), "{file}: {document}");
            assert!(document.contains("\"baseline\": \"revision origin/main\""), "{file}: {document}");
        }
    }
}
