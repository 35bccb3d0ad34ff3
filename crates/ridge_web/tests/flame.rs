//! Memory as a flame of the calls that asked for it.

mod support;

use ridge_web::Page;
use ridgeline::{OpenOptions, Session};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;
use support::whole;

fn page(fixture: &str) -> Page {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(fixture);
    Page::new(Session::open(&[path], &OpenOptions::default()).expect("a capture"))
}

/// The tree, a line for each node: bytes of all, bytes of its own.
fn told(node: &Value, depth: usize, text: &mut String) {
    let name = node["name"].as_str().expect("a name");
    let _ = writeln!(text, "{}{name}: {} {}", "  ".repeat(depth), node["total_bytes"], node["self_bytes"]);
    let children = node["children"].as_array().expect("a list");
    let inside: u64 = children.iter().filter_map(|child| child["total_bytes"].as_u64()).sum();
    let [total, own] = ["total_bytes", "self_bytes"].map(|key| node[key].as_u64().expect("bytes"));
    assert!(inside + own == total || depth == 0 && inside == total, "{name}");
    children.iter().for_each(|child| told(child, depth + 1, text));
}

#[track_caller]
fn check(page: &Page, address: &str, of: &str, expected: &str) {
    let answer = whole(page, address);
    assert_eq!((answer["unit"].as_str(), answer["of"].as_str()), (Some("bytes"), Some(of)));
    let mut text = String::new();
    told(&answer["root"], 0, &mut text);
    assert_eq!(text, expected);
}

#[test]
fn what_is_held_is_below_the_calls_that_asked_for_it() {
    check(
        &page("torch-snapshot/train_step.pickle"),
        "flame/memory",
        "memory that is held",
        "all: 12583424 0\n\
         \x20 /work/train.py:40 main: 12583424 0\n\
         \x20   /work/net.py:8 build: 8388608 0\n\
         \x20     /venv/lib/site-packages/torch/nn/modules/linear.py:101 __init__: 8388608 8388608\n\
         \x20   /work/net.py:21 forward: 4194304 0\n\
         \x20     ??:0 c10::cuda::malloc: 4194304 4194304\n\
         \x20   (1 smaller): 512 512\n",
    );
}

#[test]
fn a_profile_of_jax_without_any_event_has_one() {
    let answer = whole(&page("pprof/held_arrays.pb"), "flame/memory");
    let top = &answer["root"]["children"];
    let lines: Vec<(&str, u64)> = top
        .as_array()
        .expect("a list")
        .iter()
        .map(|node| (node["name"].as_str().expect("text"), node["total_bytes"].as_u64().expect("bytes")))
        .collect();
    assert!(lines.iter().all(|(name, _)| name.starts_with("/work/held_arrays.py")), "{lines:?}");
    assert!(answer["root"]["total_bytes"].as_u64() >= Some(65_536 + 20_000 + 4_096), "{lines:?}");
}

#[test]
fn a_selection_has_the_allocations_of_its_time() {
    let page = page("torch-snapshot/train_step.pickle");
    let bytes = |address: &str| whole(&page, address)["root"]["total_bytes"].as_u64().expect("bytes");
    let end = 10_000_000_000_u64;
    let all = bytes(&format!("flame/memory?from=0&to={end}"));
    let parts: Vec<u64> = [(0, 500_000), (500_000, end)]
        .iter()
        .map(|(from, to)| bytes(&format!("flame/memory?from={from}&to={to}")))
        .collect();
    assert!(all > 0 && parts.iter().sum::<u64>() == all && parts[0] < all, "{all} {parts:?}");
}
