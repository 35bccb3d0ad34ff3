//! What changes of a capture would save, as a user asks it.

mod run;

use run::run;

const CAPTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/nsys/two_processes.sqlite");
const ONE_STEP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/chrome/train.json");

#[test]
fn a_change_gives_a_range_and_what_it_rests_on() {
    let ran = run(&["what-if", CAPTURE, "--scale", "*=2x", "--overlap", "transfers", "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for key in [
        "\"saves\"",
        "\"saving_low_ns\"",
        "\"saving_high_ns\"",
        "\"class_error\"",
        "\"own_error_ns\"",
        "\"rigid_share\"",
    ] {
        assert!(ran.stdout.contains(key), "{key}: {}", ran.stdout);
    }
    let changes = ran.stdout.matches("\"pattern\":\"*\"").count();
    assert_eq!(changes, 2, "{}", ran.stdout);
}

#[test]
fn without_changes_it_says_how_well_the_capture_replays() {
    let ran = run(&["what-if", CAPTURE]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("Replay of the unchanged capture"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("Saves"), "{}", ran.stdout);
}

#[test]
fn where_it_cannot_tell_it_says_why() {
    let why = |capture: &str, name: &str| run(&["what-if", capture, "--remove", name]).stdout;
    let refused = why(CAPTURE, "no such name");
    assert!(refused.contains("cannot tell: nothing in the capture's graph matches"), "{refused}");
    let refused = why(ONE_STEP, "*");
    assert!(refused.contains("cannot tell: only one step is marked"), "{refused}");
}

#[test]
fn a_factor_is_a_name_and_a_number() {
    for (word, found) in [("gemm", "NAME=TIMES"), ("gemm=fast", "expected a number"), ("gemm=0", "0.001 to 1000000")] {
        let ran = run(&["what-if", CAPTURE, "--scale", word]);
        assert_eq!(ran.code, Some(2), "{word}");
        assert!(ran.stderr.contains(found), "{word}: {}", ran.stderr);
    }
}

#[test]
fn another_device_is_a_change_like_others() {
    let ran = run(&["what-if", CAPTURE, "--device", "h100", "--captured-on", "a100 sxm4 80gb", "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for key in ["\"saves\"", "\"elsewhere\"", "\"low_ns\"", "\"high_ns\"", "\"waves\"", "H100 PCIe"] {
        assert!(ran.stdout.contains(key), "{key}: {}", ran.stdout);
    }
    let unknown = run(&["what-if", CAPTURE, "--device", "h1000"]);
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("no data sheet of a device named"), "{}", unknown.stderr);
    let unsaid = run(&["what-if", CAPTURE, "--device", "h100"]);
    assert_eq!(unsaid.code, Some(1));
    assert!(unsaid.stderr.contains("--as NAME"), "{}", unsaid.stderr);
}
