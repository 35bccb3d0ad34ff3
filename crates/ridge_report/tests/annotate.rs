//! What `annotate` shows of a file, in every form.

mod schema;

use expect_test::expect;
use ridge_report::annotate::{Folding, html, json, text};
use ridge_report::terminal::{Glyphs, Layout};
use ridgeline::{
    Activity, AnnotateOptions, AnnotatedFile, AnnotatedLine, Annotation, Cause, LineSums, LineWork, OpenOptions,
    Session, TextOrigin, TimeOf,
};
use serde_json::Value;
use std::path::{Path, PathBuf};

const TEXT: &str = "import jax


def norm(x):
    return jax.numpy.sqrt((x * x).sum())


def load(path):
    with open(path) as file:
        return file.read()


def step(x):
\ta = x @ x.T
    b = a[::-1]  # \u{1b}[31mred
    return norm(b) + '<script>alert(1)</script>'";

fn sums(self_ns: i64, inferred_ns: i64, inclusive_ns: i64, events: u64) -> LineSums {
    LineSums { self_ns, inferred_ns, inclusive_ns, events, ..LineSums::default() }
}

/// A solver with a hot line, one that is owed copies, one that calls, and one in which the host is late.
fn solver() -> Annotation {
    let product = LineWork { flops: 3.2e9, bytes: 4e6, headroom: Some(2.5), bound: None, unknown_share: 0.0 };
    let copies = LineSums { copies: 3, copy_ns: 2_000_000, ..sums(0, 2_000_000, 0, 3) };
    let late = vec![(Cause::HostLate, Activity::Python, 6_000_000), (Cause::LaunchCall, Activity::Launching, 1_000)];
    let lines = [
        (5, AnnotatedLine { sums: sums(500_000, 0, 500_000, 20), ..AnnotatedLine::default() }),
        (8, AnnotatedLine { idle_ns: 6_001_000, idle: late, ..AnnotatedLine::default() }),
        (
            14,
            AnnotatedLine { sums: sums(7_000_000, 0, 7_000_000, 10), work: Some(product), ..AnnotatedLine::default() },
        ),
        (15, AnnotatedLine { sums: copies, ..AnnotatedLine::default() }),
        (16, AnnotatedLine { sums: sums(0, 0, 500_000, 0), ..AnnotatedLine::default() }),
        (40, AnnotatedLine { sums: sums(1_000, 0, 1_000, 1), function: "gone".to_owned(), ..AnnotatedLine::default() }),
    ];
    let file = AnnotatedFile {
        name: "/home/me/solver.py".to_owned(),
        text: Some((TextOrigin::Ran, TEXT.lines().map(str::to_owned).collect())),
        lines: lines.into_iter().collect(),
        sums: LineSums { copies: 3, copy_ns: 2_000_000, ..sums(7_501_000, 2_000_000, 0, 34) },
        idle_ns: 6_001_000,
    };
    Annotation {
        notes: Vec::new(),
        path: "run/".to_owned(),
        of: TimeOf::Devices,
        all_ns: 10_000_000,
        unknown: sums(399_000, 0, 399_000, 4),
        idle_ns: 8_000_000,
        idle_known_ns: 6_001_000,
        files: vec![file],
        others: vec![("<evil>.py".to_owned(), sums(100_000, 0, 0, 5))],
        check: None,
        footnotes: vec!["a footnote".to_owned()],
    }
}

#[test]
fn text_for_a_terminal() {
    expect![[r#"
        device time 10 ms · 7.6 ms measured for lines (76.0%) · 2 ms inferred for lines (20.0%) · 399 µs without a line (4.0%) ·
        idle 8 ms, 6 ms of it given to lines

        /home/me/solver.py
        9.5 ms of device time (95.0%), 2 ms of it inferred · idle 6 ms · the text that ran
          Self  Inferred  Inclusive  Idle  Copies  Launches      FLOPs     Bytes  Line
                                                                                   … 3 lines
                                                                                   4 │ def norm(x):
        500 µs               500 µs                      20                        5 │     return jax.numpy.sqrt((x * x).sum())
                                                                                   … 2 lines
                                     6 ms                                          8 │ def load(path):
                                                                                       ↳ idle: host late (Python) 6 ms, in the
                                                                                         launch call (launching) 1 µs
                                                                                   … 4 lines
                                                                                  13 │ def step(x):
          7 ms                 7 ms                      10  3.2 GFLOP  3.81 MiB  14 │     a = x @ x.T
                    2 ms                     2 ms                                 15 │     b = a[::-1]  # \x1b[31mred
                             500 µs                                               16 │     return norm(b) + '<script>alert(1)</…
          1 µs                 1 µs                       1                       40 │ (in gone)

        other files with time: <evil>.py (100 µs)
        a footnote
        some columns do not fit a width of 120; a wider terminal, HTML or JSON shows all
    "#]].assert_eq(&text::render(&solver(), Folding::Around(0), &Layout::plain(120)));
}

#[test]
fn a_narrow_terminal_gets_fewer_numbers_and_no_line_is_too_long() {
    expect![[r#"
        device time 10 ms · 7.6 ms measured for lines (76.0%) · 2 ms inferred
        for lines (20.0%) · 399 µs without a line (4.0%) · idle 8 ms, 6 ms of
        it given to lines

        /home/me/solver.py
        9.5 ms of device time (95.0%), 2 ms of it inferred · idle 6 ms · the
        text that ran
          Self  Inferred  Line
                           … 3 lines
                           4 │ def norm(x):
        500 µs             5 │     return jax.numpy.sqrt((x * x).sum())
                           … 2 lines
                           8 │ def load(path):
                               ↳ idle: host late (Python) 6 ms, in the
                                 launch call (launching) 1 µs
                           … 4 lines
                          13 │ def step(x):
          7 ms            14 │     a = x @ x.T
                    2 ms  15 │     b = a[::-1]  # \x1b[31mred
                          16 │     return norm(b) + '<script>alert(1)</script…
          1 µs            40 │ (in gone)

        other files with time: <evil>.py (100 µs)
        a footnote
        some columns do not fit a width of 70; a wider terminal, HTML or JSON
        shows all
    "#]]
    .assert_eq(&text::render(&solver(), Folding::Around(0), &Layout::plain(70)));
    for width in [20, 40, 60, 80, 200] {
        for glyphs in [Glyphs::Unicode, Glyphs::Ascii] {
            let layout = Layout { glyphs, ..Layout::plain(width) };
            let text = text::render(&solver(), Folding::Nothing, &layout);
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(widest <= width.max(40), "{widest} at {width}:\n{text}");
            assert!(glyphs == Glyphs::Unicode || text.is_ascii(), "{text}");
        }
    }
}

#[test]
fn a_page_holds_nothing_that_a_capture_could_run() {
    let page = html::page(&solver(), Folding::Around(0));
    assert!(!page.contains("<script") && !page.contains("<evil>") && !page.contains('\u{1b}'), "{page}");
    for needed in [
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "&lt;evil&gt;.py",
        "prefers-color-scheme: dark",
        "<summary>… 3 lines</summary>",
        "<a href=\"#f0-14\">solver.py:14</a> 70.0%",
        "idle: host late (Python) 6 ms, in the launch call (launching) 1 µs",
    ] {
        assert!(page.contains(needed), "{needed}: {page}");
    }
    for outside in ["http:", "https:", "url(", "@import", " src="] {
        assert!(!page.contains(outside), "{outside}");
    }
    for tag in ["table", "details", "tr", "td", "div", "h2", "p"] {
        let count = |text: &str| page.matches(text).count();
        let open = count(&format!("<{tag}>")) + count(&format!("<{tag} "));
        assert_eq!(open, count(&format!("</{tag}>")), "{tag}");
    }
    // What is folded on a terminal is folded here, and nothing is missing.
    assert_eq!(page.matches("<tr id=").count(), TEXT.lines().count() + 1);
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn json_keeps_to_its_schema() {
    let page = std::fs::read_to_string(root().join("docs/json/annotate.v1.schema.json")).expect("the schema's page");
    let page: Value = serde_json::from_str(&page).expect("the schema page is JSON");
    let captures =
        ["kineto/h100_qwen15_0.5b_infer.json.gz", "xplane/mi300_conv_08.xplane.pb", "kineto/cpu_mlp_3steps.json.gz"];
    let real = captures.map(|capture| {
        let path = root().join("fixtures/real").join(capture);
        let session = Session::open(&[path], &OpenOptions::default()).expect("a fixture");
        let options = AnnotateOptions { findings: true, most_files: 3, ..AnnotateOptions::default() };
        session.annotate(&options).expect("it has lines")
    });
    for annotation in real.iter().chain([&solver()]) {
        let found: Value = serde_json::from_str(&json::document(annotation)).expect("JSON");
        assert_eq!(schema::problems(&page, &found), Vec::<String>::new());
        for file in found["files"].as_array().expect("files") {
            for line in file["lines"].as_array().expect("lines") {
                let idle: i64 =
                    line["idle"].as_array().expect("reasons").iter().filter_map(|part| part["ns"].as_i64()).sum();
                assert_eq!(idle, line["idle_ns"].as_i64().unwrap_or(0));
            }
        }
    }
}
