//! `ridgeline try`: what it runs where, and what it ends with. Times are the machine's and are not asserted.

mod run;
#[path = "../../ridge_report/tests/schema/mod.rs"]
mod schema;

use run::{Ran, finish, ridgeline};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A program that says in `out.txt` which version it is, and counts its runs.
const PROGRAM: &str = "\
version=1
printf '%s %s' \"$version\" \"$MODE\" > out.txt
printf x >> \"$COUNT\"
";

struct Project(TempDir);

impl Project {
    fn new() -> Project {
        let project = Project(tempfile::tempdir().expect("a folder"));
        fs::create_dir(project.tree()).expect("a folder");
        fs::write(project.tree().join("program.sh"), PROGRAM).expect("a file");
        fs::write(project.tree().join(".gitignore"), "out.txt\n").expect("a file");
        project.git(&["init", "-q"]);
        project
    }

    fn tree(&self) -> PathBuf {
        self.0.path().join("tree")
    }

    fn count(&self) -> PathBuf {
        self.0.path().join("count")
    }

    fn out(&self) -> PathBuf {
        self.0.path().join("out")
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.tree()).args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(arguments);
        assert!(git.status().expect("git runs").success(), "{arguments:?}");
    }

    /// A patch to version 2, or to what does not run.
    fn patch(&self, line: &str) -> String {
        let text = format!(
            "--- a/program.sh\n+++ b/program.sh\n@@ -1,2 +1,2 @@\n-version=1\n+{line}\n {}\n",
            PROGRAM.lines().nth(1).expect("a line")
        );
        let path = self.0.path().join("fix.diff");
        fs::write(&path, text).expect("a file");
        path.display().to_string()
    }

    fn try_it(&self, options: &[&str]) -> (Ran, Value) {
        self.try_program(options, &["sh", "program.sh"])
    }

    fn try_program(&self, options: &[&str], program: &[&str]) -> (Ran, Value) {
        let out = self.out().display().to_string();
        let usual = ["-o", &out, "-f", "json", "--runs", "2", "--discard", "0", "--until", "0%"];
        let mut command = ridgeline(&[&["try"], options, &usual, &["--"], program].concat());
        command.current_dir(self.tree()).env("COUNT", self.count()).env("MODE", "usual");
        let ran = finish(command);
        let document = serde_json::from_str(&ran.stdout).unwrap_or(Value::Null);
        (ran, document)
    }

    /// What the program wrote in the first run of a side.
    fn wrote(&self, side: &str) -> String {
        fs::read_to_string(self.out().join("outputs").join(side).join("0-out.txt")).expect("an output that was kept")
    }
}

fn sides(document: &Value) -> Vec<&str> {
    document["runs"].as_array().expect("runs").iter().filter_map(|run| run["side"].as_str()).collect()
}

#[test]
fn a_patch_is_tried_beside_the_tree_which_stays_as_it_is() {
    let project = Project::new();
    let patch = project.patch("version=2");
    let (ran, document) = project.try_it(&["--patch", &patch, "--check-output", "out.txt"]);
    assert_eq!(ran.code, Some(1), "the outputs differ: {}{}", ran.stdout, ran.stderr);
    assert_eq!(sides(&document), ["before", "after", "after", "before"]);
    assert_eq!((project.wrote("before"), project.wrote("after")), ("1 usual".to_owned(), "2 usual".to_owned()));
    assert_eq!(document["outputs"][0]["state"], "differs");
    assert_eq!(document["outputs"][0]["why"], "bytes differ from byte 0 on, of 7 and 7");
    assert_eq!((document["measured"].as_str(), document["ended"].as_str()), (Some("program"), Some("runs")));
    assert_eq!(fs::read_to_string(project.tree().join("program.sh")).expect("the program"), PROGRAM);
    assert!(!project.tree().join("out.txt").exists(), "it ran in copies");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json/try.v1.schema.json");
    let page: Value = serde_json::from_str(&fs::read_to_string(page).expect("the schema's page")).expect("JSON");
    assert_eq!(schema::problems(&page, &document), Vec::<String>::new());
    let kept = fs::read_to_string(project.out().join("try.json")).expect("the document");
    assert_eq!(kept, ran.stdout);
    // Another trial replaces it.
    let (ran, document) = project.try_it(&["--candidate-env", "MODE=fast"]);
    assert_eq!((ran.code, document["outputs"].as_array().map(Vec::len)), (Some(0), Some(0)), "{}", ran.stderr);
}

#[test]
fn a_revision_an_environment_and_another_command() {
    let project = Project::new();
    project.git(&["add", "."]);
    project.git(&["commit", "-qm", "one"]);
    fs::write(project.tree().join("program.sh"), PROGRAM.replace("version=1", "version=3")).expect("a file");
    let check = ["--check-output", "out.txt"];
    project.try_it(&[&["--candidate", "HEAD"], &check[..]].concat());
    assert_eq!((project.wrote("before"), project.wrote("after")), ("3 usual".to_owned(), "1 usual".to_owned()));
    project.try_it(&[&["--baseline", "HEAD"], &check[..]].concat());
    assert_eq!((project.wrote("before"), project.wrote("after")), ("1 usual".to_owned(), "3 usual".to_owned()));
    project.try_it(&[&["--candidate-env", "MODE=fast"], &check[..]].concat());
    assert_eq!((project.wrote("before"), project.wrote("after")), ("3 usual".to_owned(), "3 fast".to_owned()));
    let (ran, document) = project.try_it(&[&["--candidate-command", "sh './program.sh'"], &check[..]].concat());
    assert_eq!((ran.code, document["outputs"][0]["state"].as_str()), (Some(0), Some("same")), "{}", ran.stderr);
}

#[test]
fn what_fails_is_said_and_ends_so() {
    let project = Project::new();
    let broken = project.patch("echo it broke; exit 7");
    let (ran, document) = project.try_it(&["--patch", &broken]);
    assert_eq!((ran.code, document["candidate_exit_code"].as_i64()), (Some(1), Some(7)), "{}", ran.stderr);
    assert_eq!(document["verdict"]["state"], "cannot judge");
    assert_eq!(document["notes"][0], "last output of the candidate: it broke");
    let (ran, _) = project.try_program(&["--candidate-env", "A=1"], &["sh", "-c", "echo no data; exit 3"]);
    assert!(
        ran.code == Some(2) && ran.stderr.contains("it ended with 3") && ran.stderr.contains("no data"),
        "{}",
        ran.stderr
    );
    let other = project.0.path().join("other.diff");
    fs::write(&other, "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n").expect("a file");
    for (options, said) in [
        (vec!["--patch", other.to_str().expect("a path")], "the patch does not fit"),
        (vec!["--candidate", "no-such-revision"], "unknown revision"),
        (vec!["--baseline", "no-such-revision"], "unknown revision"),
        (vec!["--candidate-env", "nothing"], "expected `NAME=VALUE`"),
        (vec![], "nothing to try"),
    ] {
        let (ran, _) = project.try_it(&options);
        assert!(ran.code == Some(2) && ran.stderr.contains(said), "{options:?}: {}", ran.stderr);
    }
}

#[test]
fn an_interrupt_keeps_what_there_is() {
    let project = Project::new();
    let script =
        "printf x >> \"$COUNT\"; if [ \"$(wc -c < \"$COUNT\")\" -eq 5 ]; then kill -INT $PPID; while :; do :; done; fi";
    let usual = ["--candidate-env", "A=1", "--runs", "9"];
    let out = project.out().display().to_string();
    let all = [
        &["try"][..],
        &usual,
        &["-o", &out, "-f", "json", "--discard", "0", "--until", "0%", "--", "sh", "-c", script],
    ];
    let mut command = ridgeline(&all.concat());
    command.current_dir(project.tree()).env("COUNT", project.count());
    let ran = finish(command);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stderr));
    assert_eq!((document["ended"].as_str(), sides(&document).len()), (Some("interrupted"), 4), "{}", ran.stderr);
    assert!(document["program"]["share"].is_number(), "{document}");
}

#[test]
fn folders_of_others_are_left_alone() {
    let project = Project::new();
    fs::create_dir(project.out()).expect("a folder");
    fs::write(project.out().join("mine"), "").expect("a file");
    let (ran, _) = project.try_it(&["--candidate-env", "A=1"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("found other files"), "{}", ran.stderr);
    assert!(project.out().join("mine").exists());
}

#[test]
fn what_lies_behind_a_link_is_neither_copied_nor_written() {
    let project = Project::new();
    let data = project.0.path().join("scratch");
    fs::create_dir(&data).expect("a folder");
    fs::create_dir(project.tree().join("data")).expect("a folder");
    for folder in [&data, &project.tree().join("data")] {
        fs::write(folder.join("weights.npy"), "14 bytes of it").expect("a file");
    }
    project.git(&["add", "."]);
    project.git(&["commit", "-qm", "one"]);
    // As data sets are moved to where there is room: git still lists what was in the folder.
    fs::remove_dir_all(project.tree().join("data")).expect("a folder");
    std::os::unix::fs::symlink(&data, project.tree().join("data")).expect("a link");
    let patch = project.patch("version=2");
    for options in [["--patch", &patch], ["--baseline", "HEAD"], ["--candidate", "HEAD"], ["--link", "data"]] {
        let options = if options[0] == "--link" { vec!["--patch", &patch, "--link", "data"] } else { options.to_vec() };
        let (ran, _) = project.try_program(&options, &["sh", "-c", "cat data/weights.npy > out.txt"]);
        assert_eq!(ran.code, Some(0), "{options:?}: {}", ran.stderr);
        assert_eq!(fs::read_to_string(data.join("weights.npy")).expect("the data"), "14 bytes of it", "{options:?}");
    }
    assert!(project.tree().join("data").is_symlink());
}

#[test]
fn nothing_runs_that_the_repository_names() {
    let project = Project::new();
    project.git(&["add", "."]);
    project.git(&["commit", "-qm", "one"]);
    let hook = project.0.path().join("hook.sh");
    fs::write(&hook, "#!/bin/sh\ntouch \"$COUNT.hook\"\n").expect("a file");
    Command::new("chmod").arg("+x").arg(&hook).status().expect("chmod runs");
    for name in ["post-checkout", "post-index-change", "reference-transaction"] {
        fs::copy(&hook, project.tree().join(".git/hooks").join(name)).expect("a file");
    }
    project.git(&["config", "core.fsmonitor", hook.to_str().expect("a path")]);
    let patch = project.patch("version=2");
    for options in [["--patch", &patch], ["--baseline", "HEAD"]] {
        let (ran, _) = project.try_it(&options);
        assert_eq!(ran.code, Some(0), "{options:?}: {}", ran.stderr);
        assert!(!project.count().with_extension("hook").exists(), "{options:?}");
    }
}

#[test]
fn a_gate_that_was_interrupted_before_it_could_judge_fails() {
    for signal in ["INT", "TERM"] {
        let project = Project::new();
        let script = format!("kill -{signal} $PPID; while :; do :; done");
        let out = project.out().display().to_string();
        for (gate, code) in [(&["--fail-on", "5%"][..], 1), (&[], 0)] {
            let all =
                [&["try", "--candidate-env", "A=1", "-o", &out, "--discard", "0"], gate, &["--", "sh", "-c", &script]];
            let mut command = ridgeline(&all.concat());
            command.current_dir(project.tree());
            let ran = finish(command);
            assert_eq!(ran.code, Some(code), "{signal} {gate:?}: {}{}", ran.stdout, ran.stderr);
        }
    }
}

#[test]
fn an_earlier_trial_stays_until_another_has_ended() {
    let project = Project::new();
    project.try_it(&["--candidate-env", "A=1"]);
    let document = project.out().join("try.json");
    let earlier = fs::read_to_string(&document).expect("the document");
    let (ran, _) = project.try_program(&["--candidate-env", "B=1"], &["sh", "-c", "exit 3"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(&document).expect("the document"), earlier);
    // Killed as hard as can be, in the middle.
    let out = project.out().display().to_string();
    let all = ["try", "--candidate-env", "C=1", "-o", &out, "--discard", "0", "--", "sh", "-c", "kill -9 $PPID"];
    let mut command = ridgeline(&all);
    command.current_dir(project.tree());
    assert_eq!(finish(command).code, None);
    assert_eq!(fs::read_to_string(&document).expect("the document"), earlier);
    assert!(project.out().join("before/001.log").is_file());
    let (_, document) = project.try_it(&["--candidate-env", "D=1"]);
    let run = &document["runs"][0];
    assert!(run["log"].as_str().is_some_and(|log| Path::new(log).is_file()), "{run}");
    let beside = fs::read_dir(project.0.path()).expect("a folder").filter_map(Result::ok);
    let left: Vec<_> = beside.map(|entry| entry.file_name()).filter(|name| ridge_files::is_partial(name)).collect();
    assert!(left.is_empty(), "{left:?}");
}
