//! The program as a user meets it: help, wrong options, missing files, colors, completions.
//!
//! What needs a real capture is in `captures.rs`.

mod run;

use expect_test::expect;
use run::{finish, ridgeline, run};

/// Every command, as the program lists them.
fn commands() -> Vec<String> {
    let help = run(&["--help"]).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // What a command does goes on in lines that begin further to the right.
    let names = listed.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    names.map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn every_help_has_examples() {
    let root = run(&["--help"]);
    assert_eq!(root.code, Some(0));
    assert!(root.stdout.contains("Examples:"), "{}", root.stdout);
    let commands = commands();
    assert!(commands.len() >= 14, "{commands:?}");
    for command in commands {
        let help = run(&[&command, "--help"]);
        assert_eq!(help.code, Some(0), "{command}");
        assert!(help.stdout.contains("Examples:\n  ridgeline "), "{command}: {}", help.stdout);
        assert!(help.stdout.contains("Global options:"), "{command}: {}", help.stdout);
    }
}

#[test]
fn no_command_shows_the_commands() {
    let ran = run(&[]);
    assert_eq!(ran.code, Some(2));
    assert!(commands().iter().all(|command| ran.stderr.contains(command)), "{}", ran.stderr);
}

#[test]
fn an_unknown_option_is_a_usage_error() {
    let ran = run(&["stats", "run/", "--bye", "op"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.starts_with("error: unexpected argument '--bye' found"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--by"), "a similar option is offered: {}", ran.stderr);
}

#[test]
fn an_unknown_table_lists_the_tables() {
    let ran = run(&["stats", "run/", "--by", "thing"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("range, step, rank, collective, operator, operator-shapes, sequence, fused, layout, module, compilation, category, op, kernel, source, scope, track"),
        "{}",
        ran.stderr
    );
}

#[test]
fn tables_answer_to_their_names_in_nsys_stats() {
    let capture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/nsys/two_processes.sqlite");
    let csv = |by: &str| run(&["stats", capture, "--by", by, "--format", "csv"]).stdout;
    for (ours, theirs) in [
        ("kernel", "cuda_gpu_kern_sum"),
        ("operation", "nvtx_sum"),
        ("call", "cuda_api_sum"),
        ("copy", "cuda_gpu_mem_time_sum"),
        ("launch", "cuda_kern_exec_sum"),
    ] {
        let table = csv(ours);
        assert!(table.lines().count() > 1, "{ours}: {table}");
        assert_eq!(table, csv(theirs), "{theirs}");
    }
}

#[test]
fn csv_wants_one_table() {
    let ran = run(&["stats", "run/", "--format", "csv"]);
    assert_eq!(ran.code, Some(2));
    expect![[r#"
        error: expected one table for this format, found none
        hint: name one, for example `--by op`; `--format json` has all of them
    "#]]
    .assert_eq(&ran.stderr);
    assert_eq!(run(&["stats", "run/", "--format", "arrow", "--by", "op,kernel"]).code, Some(2));
}

#[test]
fn facts_are_no_table() {
    let ran = run(&["info", "run/", "--format", "csv"]);
    assert_eq!(
        (ran.code, ran.stderr.lines().next()),
        (Some(2), Some("error: expected table, json or markdown for facts, which are not a table"))
    );
}

#[test]
fn record_wants_a_program_after_two_dashes() {
    assert_eq!(run(&["record"]).code, Some(2));
    assert_eq!(run(&["record", "python", "x.py"]).code, Some(2));
    let steps = run(&["record", "--steps", "8..3", "--", "true"]);
    assert_eq!(steps.code, Some(2));
    assert!(steps.stderr.contains("expected steps as `A..B`"), "{}", steps.stderr);
}

#[test]
fn record_is_transparent() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("run");
    let out = out.to_str().expect("a path in UTF-8");
    let ran = run(&["record", "-o", out, "--", "sh", "-c", "echo said; exit 3"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), "said\n"));
    assert!(ran.stderr.contains("\n  missing   capture: "), "what is missing is said: {}", ran.stderr);
    assert_eq!(run(&["record", "-o", out, "--", "no-such-program"]).code, Some(127));
}

#[test]
fn a_program_ended_by_a_signal_ends_us_by_it() {
    use std::os::unix::process::ExitStatusExt as _;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = ridgeline(&["record", "--", "sh", "-c", "kill -TERM $$"]);
    let output = command.current_dir(folder.path()).output().expect("the program starts");
    assert_eq!(output.status.signal(), Some(15));
    assert!(String::from_utf8_lossy(&output.stderr).contains("ended by signal 15"));
}

#[test]
fn a_folder_in_use_is_not_touched() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("thesis.tex"), "x").expect("a temporary file");
    let ran = run(&["record", "-o", folder.path().to_str().expect("a path in UTF-8"), "--", "true"]);
    assert_eq!(ran.code, Some(2));
    let shown = ran.stderr.replace(folder.path().to_str().expect("a path in UTF-8"), "FOLDER");
    expect![[r#"
        error: expected an empty directory or an earlier capture, found another file
          --> FOLDER/thesis.tex
        hint: name another directory with `-o`
    "#]]
    .assert_eq(&shown);
}

#[test]
fn color_follows_the_option_and_the_environment() {
    let colored = |arguments: &[&str], variable: Option<&str>| {
        let mut command = ridgeline(arguments);
        command.envs(variable.map(|name| (name, "1")));
        finish(command).stderr.contains('\x1b')
    };
    let failing = ["stats", "no-such-file", "-f", "csv"];
    assert!(!colored(&failing, None), "a pipe gets no colors");
    assert!(colored(&failing, Some("CLICOLOR_FORCE")));
    let always = ["stats", "no-such-file", "-f", "csv", "--color", "always"];
    assert!(colored(&always, None) && colored(&always, Some("NO_COLOR")), "what is typed wins");
    let never = ["stats", "no-such-file", "-f", "csv", "--color", "never"];
    assert!(!colored(&never, Some("CLICOLOR_FORCE")));
}

#[test]
fn an_unknown_suite_names_the_known_ones() {
    let ran = run(&["bench", "no-such-suite"]);
    assert_eq!(ran.code, Some(1));
    expect![[r#"
        error: expected a suite's name or a path to its file, found "no-such-suite"
        hint: built-in suites: kernels, mbirjax, shallow_water
    "#]]
    .assert_eq(&ran.stderr);
}

#[test]
fn completions_know_commands_and_values() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = run(&["completions", shell]);
        assert_eq!(script.code, Some(0), "{shell}");
        assert!(script.stdout.contains("stats") && script.stdout.contains("timings"), "{shell}");
        // PowerShell's generator completes options only.
        assert!(shell == "powershell" || script.stdout.contains("markdown"), "{shell}: values of --format");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = ridgeline(&["completions", "zsh"]).spawn().expect("the program starts");
    drop(child.stdout.take());
    let ended = child.wait_with_output().expect("the program ends");
    assert_eq!((ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn the_version_is_said() {
    assert_eq!(run(&["--version"]).stdout, format!("ridgeline {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
#[cfg(unix)]
fn a_limit_on_the_size_of_files_is_said_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let capture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/real/xplane/mi300_gemm.xplane.pb");
    // `ulimit` is a shell's own, and counts blocks of 512 or 1024 bytes.
    let script = r#"ulimit -f 4 && exec "$0" export --to csv -o events.csv "$1""#;
    let output = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_ridgeline"), capture])
        .current_dir(folder.path())
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    expect![[r#"
        error: cannot write the output: File too large (os error 27)
          --> events.csv
        hint: `ulimit -f` shows the largest file size allowed here
    "#]]
    .assert_eq(&String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 0, "nothing is left behind");
}
