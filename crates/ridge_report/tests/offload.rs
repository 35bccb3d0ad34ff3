//! What `offload` says of real captures, in every form.

mod schema;

use expect_test::{Expect, expect};
use ridge_report::offload::{Options, json, markdown, text};
use ridge_report::terminal::{Glyphs, Layout};
use ridgeline::handing_over::bundle::{Check, CheckState, MANIFEST, manifest, write};
use ridgeline::offloading::WhatIf;
use ridgeline::{HandoffOptions, OffloadAnswer, OffloadOptions, OpenOptions, Session};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn asked(capture: &str, options: &OffloadOptions) -> OffloadAnswer {
    let session = Session::open(&[root().join(capture)], &OpenOptions::default()).expect("a fixture");
    OffloadAnswer { path: "run/".to_owned(), ..session.offload(options).expect("an answer") }
}

/// A loop of train steps that was recorded on a processor, beside an H100 and one board.
fn steps() -> OffloadAnswer {
    let options =
        OffloadOptions { boards: vec!["u55c".to_owned()], meant: Some("h100".to_owned()), ..OffloadOptions::default() };
    asked("fixtures/xplane/train_steps.xplane.pb", &options)
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(text);
}

#[test]
fn text_for_a_terminal() {
    check(
        &text::full(&steps(), Options::default(), &Layout::plain(80)),
        expect![[r#"
            no region is known to run faster elsewhere than on NVIDIA H100 SXM5 80GB by its
            data sheet: undecided 100.0%

            Regions, compared with NVIDIA H100 SXM5 80GB
            Region                    Share   A call  Headroom  Fastest  Speed-up  Verdict
            jit_iterate:…dot_general  85.9%    36 µs      3.00    u55c*      0.70  undecided
            iterate:19 copy            5.5%     6 µs      2.00    u55c*      0.13  undecided
            collect:25 scatter-add     4.7%  8.99 µs      3.00    u55c*      0.15  undecided
            main:32 dynamic_slice      2.6%     3 µs      1.00    u55c*      0.06  undecided
            jit_squeeze: copy          1.4%     3 µs      1.00    u55c*      0.09  undecided

            undecided[85.9%]: jit_iterate:19 dot_general
               --> /tmp/ridgeline/train_steps.py:19
               = why: as it is called, bytes over the link make AMD Alveo U55C 0.70 times
                 (0.09 to 0.84) as fast; it would gain after 2 calls with data on the board,
                 but the capture does not show whether data can stay there
               = what: loop `while.5` of `jit_iterate`, contraction: operations 4, calls 3
               = bytes: 18 KiB enter and leave per call; its operations move at least 144
                 KiB (8.00 times), XLA counts 144 KiB (8.01 times)
               Board                P10      P50      P90  Speed-up  Whole program  Bound by
               AMD Alveo U55C*  49.2 µs  51.6 µs  90.3 µs      0.70           0.73      link
               a call on AMD Alveo U55C; compute, memory and tables overlap
                 in           28 µs  ████████████████████████████████████████
                 launch     5.72 µs  ████████▏
                 fill       1.83 µs  ██▋
                 compute    2.52 µs  ███▋
                 memory       87 ns  ▏
                 out        13.5 µs  ███████████████████▎
               = break-even: AMD Alveo U55C gains after 2 calls with data on it; a call
                 replaces 12 launches, and its setup alone costs as much as 16
               = best part: none of its 2 operations gains on AMD Alveo U55C
               what its time on AMD Alveo U55C depends on, each from its 10th to its 90th
               percentile
                 calls with data on the board, 1 or 100  ●──────●    51.5 µs   3.73 µs
                 launch on the board                            ●    49.3 µs   54.4 µs
                 clock                                          ●    52.6 µs   50.9 µs

            undecided[5.5%]: iterate:19 copy
               --> /tmp/ridgeline/train_steps.py:19  (line inferred from the data flow)
               = why: as it is called, bytes over the link make AMD Alveo U55C 0.13 times
                 (0.03 to 0.25) as fast; it would gain after 9 calls with data on the board,
                 but the capture does not show whether data can stay there
               = what: `jit_iterate`, stream: operations 2, calls 3
               = bytes: 18 KiB enter and leave per call; its operations move at least 18 KiB
                 (1.00 times), XLA counts 18 KiB (1.00 times)
               Board                P10      P50      P90  Speed-up  Whole program  Bound by
               AMD Alveo U55C*  27.7 µs  47.6 µs  74.9 µs      0.13           0.73      link
               a call on AMD Alveo U55C; compute, memory and tables overlap
                 in         14.6 µs  ██████████████████████▍
                 launch     6.99 µs  ██████████▊
                 memory       50 ns  ▏
                 out          26 µs  ████████████████████████████████████████
               = break-even: AMD Alveo U55C gains after 9 calls with data on it; a call
                 replaces 2 launches, and its setup alone costs as much as 16
               = best part: none of its 2 operations gains on AMD Alveo U55C
               what its time on AMD Alveo U55C depends on, each from its 10th to its 90th
               percentile
                 calls with data on the board, 1 or 100  ●──────●    47.7 µs    541 ns
                 launch on the board                            ●    45.4 µs   50.5 µs

            undecided[4.7%]: collect:25 scatter-add
               --> /tmp/ridgeline/train_steps.py:25
               = why: as it is called, bytes over the link make AMD Alveo U55C 0.15 times
                 (0.03 to 0.30) as fast; it would gain after 7 calls with data on the board,
                 but the capture does not show whether data can stay there
               = what: `jit_collect`, stream: operations 3, calls 3
               = bytes: 896 B enter and leave per call; its operations move at least 1.62
                 KiB (1.86 times), XLA counts 1.75 KiB (2.00 times)
               Board              P10      P50      P90  Speed-up  Whole program  Bound by
               AMD Alveo U55C*  35 µs  59.5 µs  92.4 µs      0.15           0.79      link
               a call on AMD Alveo U55C; compute, memory and tables overlap
                 in           40 µs  ████████████████████████████████████████
                 launch     6.53 µs  ██████▌
                 fill        363 ns  ▍
                 compute       0 ns  ▏
                 memory        4 ns  ▏
                 tables        6 ns  ▏
                 out        12.6 µs  ████████████▋
               = break-even: AMD Alveo U55C gains after 7 calls with data on it; a call
                 replaces 3 launches, and its setup alone costs as much as 20
               = best part: none of its 3 operations gains on AMD Alveo U55C
               what its time on AMD Alveo U55C depends on, each from its 10th to its 90th
               percentile
                 calls with data on the board, 1 or 100  ●──────●    59.6 µs    895 ns
                 launch on the board                            ●    57.4 µs   62.5 µs

            assumed: nothing was measured on NVIDIA H100 SXM5 80GB: each operation of the
              capture's modules takes its time at the roof of the data sheet, at 30 to 90%
              of it, and 2 to 4 µs at least; modules compiled for that device would be fused
              otherwise and take 0.27 to 1 times as long, 0.4 to 1 below five launches, by
              which intervals are wider
            assumed: every time on a board is predicted; see docs/offload-validation.md
              for its accuracy
            assumed: input and output cross the host's link in each call, unless
              `--what-if resident=N` or `stream=yes` is set
            assumed: boards marked * have unverified figures: u55c (design power)
        "#]],
    );
}

#[test]
fn markdown_for_a_report() {
    check(
        &markdown::render(&steps(), Options::default()),
        expect![[r#"
            **no region is known to run faster elsewhere than on NVIDIA H100 SXM5 80GB by its data sheet: undecided 100.0%**

            | region | line | share | a call | headroom | fastest | speed-up, P10 to P90 | verdict |
            |---|---|---|---|---|---|---|---|
            | jit_iterate:19 dot_general | /tmp/ridgeline/train_steps.py:19 | 85.9% | 36 µs | 3.00 | AMD Alveo U55C* | 0.70 (0.09 to 0.84) | undecided |
            | iterate:19 copy | /tmp/ridgeline/train_steps.py:19  (line inferred from the data flow) | 5.5% | 6 µs | 2.00 | AMD Alveo U55C* | 0.13 (0.03 to 0.25) | undecided |
            | collect:25 scatter-add | /tmp/ridgeline/train_steps.py:25 | 4.7% | 8.99 µs | 3.00 | AMD Alveo U55C* | 0.15 (0.03 to 0.30) | undecided |
            | main:32 dynamic_slice | /tmp/ridgeline/train_steps.py:32 | 2.6% | 3 µs | 1.00 | AMD Alveo U55C* | 0.06 (0.01 to 0.13) | undecided |
            | jit_squeeze: copy | – | 1.4% | 3 µs | 1.00 | AMD Alveo U55C* | 0.09 (0.02 to 0.18) | undecided |

            ### jit_iterate:19 dot_general: undecided

            - as it is called, bytes over the link make AMD Alveo U55C 0.70 times (0.09 to 0.84) as fast; it would gain after 2 calls with data on the board, but the capture does not show whether data can stay there
            - 18 KiB enter and leave per call; its operations move at least 144 KiB (8.00 times), XLA counts 144 KiB (8.01 times)
            - AMD Alveo U55C gains after 2 calls with data on it; a call replaces 12 launches, and its setup alone costs as much as 16
            - none of its 2 operations gains on AMD Alveo U55C

            | board | P10 | P50 | P90 | speed-up | whole program | on the board | bound by |
            |---|---|---|---|---|---|---|---|
            | AMD Alveo U55C* | 49.2 µs | 51.6 µs | 90.3 µs | 0.70 | 0.73 | 3.29 µs | link |

            ### iterate:19 copy: undecided

            - as it is called, bytes over the link make AMD Alveo U55C 0.13 times (0.03 to 0.25) as fast; it would gain after 9 calls with data on the board, but the capture does not show whether data can stay there
            - 18 KiB enter and leave per call; its operations move at least 18 KiB (1.00 times), XLA counts 18 KiB (1.00 times)
            - AMD Alveo U55C gains after 9 calls with data on it; a call replaces 2 launches, and its setup alone costs as much as 16
            - none of its 2 operations gains on AMD Alveo U55C

            | board | P10 | P50 | P90 | speed-up | whole program | on the board | bound by |
            |---|---|---|---|---|---|---|---|
            | AMD Alveo U55C* | 27.7 µs | 47.6 µs | 74.9 µs | 0.13 | 0.73 | 64 ns | link |

            ### collect:25 scatter-add: undecided

            - as it is called, bytes over the link make AMD Alveo U55C 0.15 times (0.03 to 0.30) as fast; it would gain after 7 calls with data on the board, but the capture does not show whether data can stay there
            - 896 B enter and leave per call; its operations move at least 1.62 KiB (1.86 times), XLA counts 1.75 KiB (2.00 times)
            - AMD Alveo U55C gains after 7 calls with data on it; a call replaces 3 launches, and its setup alone costs as much as 20
            - none of its 3 operations gains on AMD Alveo U55C

            | board | P10 | P50 | P90 | speed-up | whole program | on the board | bound by |
            |---|---|---|---|---|---|---|---|
            | AMD Alveo U55C* | 35 µs | 59.5 µs | 92.4 µs | 0.15 | 0.79 | 304 ns | link |

            ### main:32 dynamic_slice: undecided

            - as it is called, bytes over the link make AMD Alveo U55C 0.06 times (0.01 to 0.13) as fast; it would gain after 17 calls with data on the board, but the capture does not show whether data can stay there
            - 9.19 KiB enter and leave per call; its operations move at least 392 B (0.04 times), XLA counts 392 B (0.04 times)
            - AMD Alveo U55C gains after 17 calls with data on it; a call replaces 1 launch, and its setup alone costs as much as 16
            - none of its 1 operation gains on AMD Alveo U55C

            | board | P10 | P50 | P90 | speed-up | whole program | on the board | bound by |
            |---|---|---|---|---|---|---|---|
            | AMD Alveo U55C* | 27.6 µs | 47.4 µs | 74.4 µs | 0.06 | 0.72 | 50 ns | link |

            ### jit_squeeze: copy: undecided

            - as it is called, bytes over the link make AMD Alveo U55C 0.09 times (0.02 to 0.18) as fast; it would gain after 11 calls with data on the board, but the capture does not show whether data can stay there
            - 384 B enter and leave per call; its operations move at least 384 B (1.00 times), XLA counts 384 B (1.00 times)
            - AMD Alveo U55C gains after 11 calls with data on it; a call replaces 1 launch, and its setup alone costs as much as 11
            - none of its 1 operation gains on AMD Alveo U55C

            | board | P10 | P50 | P90 | speed-up | whole program | on the board | bound by |
            |---|---|---|---|---|---|---|---|
            | AMD Alveo U55C* | 18.6 µs | 32.5 µs | 52.3 µs | 0.09 | 0.88 | 1 ns | link |

            - Assumed: nothing was measured on NVIDIA H100 SXM5 80GB: each operation of the capture's modules takes its time at the roof of the data sheet, at 30 to 90% of it, and 2 to 4 µs at least; modules compiled for that device would be fused otherwise and take 0.27 to 1 times as long, 0.4 to 1 below five launches, by which intervals are wider.
            - Assumed: every time on a board is predicted; see docs/offload-validation.md for its accuracy.
            - Assumed: input and output cross the host's link in each call, unless `--what-if resident=N` or `stream=yes` is set.
            - Assumed: boards marked * have unverified figures: u55c (design power).
        "#]],
    );
}

#[test]
fn nothing_is_wider_than_its_terminal() {
    let answer = asked("fixtures/real/xplane/nvidia_like.xplane.pb", &OffloadOptions::default());
    for width in [80, 120, 200] {
        for glyphs in [Glyphs::Unicode, Glyphs::Ascii] {
            let layout = Layout { glyphs, ..Layout::plain(width) };
            for answer in [&answer, &steps()] {
                let text = text::full(answer, Options { all: true }, &layout);
                let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap_or_default();
                assert!(widest.chars().count() <= width, "{width}: {widest}");
                assert!(glyphs == Glyphs::Unicode || text.is_ascii(), "{text}");
            }
        }
    }
}

#[test]
fn documents_keep_to_their_schema_and_shares_to_the_whole() {
    let page = std::fs::read_to_string(root().join("docs/json/offload.v1.schema.json")).expect("the page");
    let page: Value = serde_json::from_str(&page).expect("JSON");
    let changed = OffloadOptions {
        what_if: WhatIf::parse("clock=250MHz,resident=100,dtype=int16").expect("changes"),
        gpus: vec!["h200".to_owned()],
        boards: vec!["v80".to_owned()],
        ..OffloadOptions::default()
    };
    for capture in [
        "fixtures/xplane/train_steps.xplane.pb",
        "fixtures/xplane/tpu_host_offload.xplane.pb",
        "fixtures/real/xplane/mi300_gemm.xplane.pb",
        "fixtures/real/xplane/nvidia_like.xplane.pb",
        "fixtures/real/xplane/nvidia_tf_5ms.xplane.pb",
        "fixtures/real/nsys/h100_2gpu.sqlite",
        "fixtures/real/kineto/h100_qwen15_0.5b_infer.json.gz",
    ] {
        for options in [&OffloadOptions::default(), &changed] {
            let text = json::document(&asked(capture, options));
            let document: Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(schema::problems(&page, &document), [""; 0], "{capture}");
            let regions = document["regions"].as_array().expect("a list");
            let shares: f64 = regions.iter().filter_map(|region| region["share"].as_f64()).sum();
            let others = document["others"]["share"].as_f64().expect("a number");
            assert!(shares + others <= 1.0 + 1e-6, "{capture}: {shares} and {others}");
            for region in regions {
                let said = region["verdict"].as_str().expect("a verdict");
                assert_eq!(said == "no specification", region["class"].is_null(), "{capture}: {region}");
                assert!(!region["why"].as_str().expect("a reason").is_empty(), "{capture}");
                for board in region["boards"].as_array().expect("a list") {
                    let at = |key: &str| board[key].as_i64().expect("nanoseconds");
                    assert!(at("p10_ns") <= at("p50_ns") && at("p50_ns") <= at("p90_ns"), "{capture}: {board}");
                    // Only a GPU needs no specification.
                    let is_gpu = !board["scaled_by"].as_array().expect("a list").is_empty();
                    assert!(is_gpu || said != "no specification", "{capture}: {board}");
                }
            }
        }
    }
}

#[test]
fn another_gpu_says_what_its_time_follows_from() {
    let options = OffloadOptions { gpus: vec!["h200".to_owned()], ..OffloadOptions::default() };
    let text = text::full(
        &asked("fixtures/real/kineto/h100_qwen15_0.5b_infer.json.gz", &options),
        Options::default(),
        &Layout::plain(80),
    );
    let from = text.find("= why").expect("a reason");
    check(
        &text[from..text.find("assumed: every").expect("assumptions")],
        expect![[r#"
            = why: NVIDIA H200 is 1.22 times (0.66 to 2.23) as fast: the interval
                 includes both a gain and a loss
               = what: `no module`: operations 38, calls 220
               Board            P10     P50     P90  Speed-up  Whole program  Bound by
               NVIDIA H200  92.9 µs  171 µs  315 µs      1.22           1.22         –
               = basis: its time on NVIDIA H200 follows from the waves of its thread blocks
                 (99.5%), the rate of memory (0.5%)

        "#]],
    );
}

#[test]
fn a_capture_without_hlo_has_no_specification_and_says_why() {
    let answer = asked("fixtures/real/nsys/h100_2gpu.sqlite", &OffloadOptions::default());
    for one in &answer.found.regions {
        assert!(one.why.starts_with("no specification, because "), "{}", one.why);
    }
    assert!(!answer.found.regions.is_empty());
}

/// A bundle of a region of the train steps, in a directory of this name, with a ledger as it is where tools ran.
fn bundle(folder: &Path, region: &str, ledger: &[Check]) -> PathBuf {
    let session = Session::open(&[root().join("fixtures/xplane/train_steps.xplane.pb")], &OpenOptions::default())
        .expect("a fixture");
    let formats = vec!["fixed<16,8>".parse().expect("a format")];
    let options = HandoffOptions { region: Some(region.to_owned()), formats, ..HandoffOptions::default() };
    let made = session.handoff(&options, &mut |_| {}).expect("a bundle");
    let path = folder.join("collect.handoff");
    write(&made.files, &path).expect("written");
    let document = manifest(&made.files, &made.source, made.refused.as_ref(), &serde_json::json!({}), ledger);
    std::fs::write(path.join(MANIFEST), document).expect("written");
    path
}

/// A check of a core that passed.
fn passed(name: &str, version: &str, figures: &[(&'static str, f64)]) -> Check {
    Check {
        name: name.to_owned(),
        state: CheckState::Passed,
        found: String::new(),
        command: String::new(),
        version: version.to_owned(),
        wall_s: 1.0,
        figures: figures.to_vec(),
    }
}

/// What Verilator and Yosys say of the core.
fn ledger() -> [Check; 2] {
    let cells = [
        ("look_up_tables", 700.0),
        ("registers", 500.0),
        ("shift_registers", 20.0),
        ("carry_chains", 90.0),
        ("multipliers", 2.0),
        ("block_rams", 0.5),
        ("look_up_tables_as_memory", 16.0),
    ];
    [passed("Verilator core", "Verilator 5.006", &[]), passed("Yosys core", "Yosys 0.23", &cells)]
}

/// The train steps beside a bundle.
fn with_bundle(bundle: PathBuf, boards: &[&str]) -> OffloadAnswer {
    let options = OffloadOptions {
        boards: boards.iter().map(|board| (*board).to_owned()).collect(),
        meant: Some("h100".to_owned()),
        bundles: vec![bundle],
        ..OffloadOptions::default()
    };
    asked("fixtures/xplane/train_steps.xplane.pb", &options)
}

#[test]
fn a_region_with_a_bundle_has_the_time_of_its_core() {
    let folder = tempfile::tempdir().expect("a folder");
    let answer = with_bundle(bundle(folder.path(), "collect", &ledger()), &["u55c", "v80"]);
    let text = text::full(&answer, Options::default(), &Layout::plain(100));
    let [table, block] = ["Regions, compared", "undecided[4.7%]"].map(|from| text.find(from).expect("a part"));
    let [table_end, block_end] = [table, block].map(|from| from + text[from..].find("\n\n").expect("an end"));
    check(
        &format!("{}\n\n{}\n", &text[table..table_end], &text[block..block_end]),
        expect![[r#"
            Regions, compared with NVIDIA H100 SXM5 80GB
            Region                      Share   A call  Headroom  Fastest  Speed-up      Basis  Verdict
            jit_iterate:19 dot_general  85.9%    36 µs      3.00      v80      0.74      prior  undecided
            iterate:19 copy              5.5%     6 µs      2.00      v80      0.13      prior  undecided
            collect:25 scatter-add       4.7%  8.99 µs      3.00      v80      0.26  simulated  undecided
            main:32 dynamic_slice        2.6%     3 µs      1.00      v80      0.06      prior  undecided
            jit_squeeze: copy            1.4%     3 µs      1.00      v80      0.09      prior  undecided

            undecided[4.7%]: collect:25 scatter-add
               --> /tmp/ridgeline/train_steps.py:25
               = why: as it is called, bytes over the link make AMD Alveo V80 0.26 times (0.06 to 0.52) as fast
                 with the core of `collect.handoff` (simulated); it would gain after 5 calls with data on the
                 board, but the capture does not show whether data can stay there
               = what: `jit_collect`, stream: operations 3, calls 3
               = bytes: 896 B enter and leave per call; its operations move at least 1.62 KiB (1.86 times), XLA
                 counts 1.75 KiB (2.00 times)
               = core: an engine in fixed<16,8> from `collect.handoff`: 400 clocks per call in simulation
                 (Verilator 5.006); 736 look-up tables, 500 registers, 2 DSP slices, 2.5 block RAMs (2 of them
                 by shape) on UltraScale+ before place and route (Yosys 0.23)
               Board                P10      P50      P90  Speed-up  Whole program  Bound by        Basis
               AMD Alveo V80    19.4 µs    34 µs  54.6 µs      0.26           0.89      link    simulated
               AMD Alveo U55C*  19.5 µs  34.1 µs  54.7 µs      0.26           0.88      link  synthesized
               = basis: simulated: on AMD Alveo V80, the core takes <0.1% of the memory on the chip; without a
                 bundle, the model expects 59.5 µs (35 µs to 92.3 µs) of a design that fills the board
               = basis: synthesized: on AMD Alveo U55C, the core takes 0.1% of the look-up tables, <0.1% of the
                 DSP slices, <0.1% of the memory on the chip, and 810 cores fit in the part that a design can
                 use; without a bundle, the model expects 59.5 µs (35 µs to 92.4 µs) of a design that fills the
                 board
               a call on AMD Alveo V80; compute, memory and tables overlap
                 in         13.4 µs  ████████████████████████████████████████████████
                 launch     6.69 µs  ████████████████████████
                 compute    1.35 µs  ████▉
                 memory       81 ns  ▎
                 out        12.6 µs  █████████████████████████████████████████████▍
               = break-even: AMD Alveo V80 gains after 5 calls with data on it; a call replaces 3 launches, and
                 its setup alone costs as much as 20
               what its time on AMD Alveo V80 depends on, each from its 10th to its 90th percentile
                 calls with data on the board, 1 or 100  ●─────────────────────────●     34.1 µs   1.77 µs
                 launch on the board                                               ●●    31.9 µs     37 µs
                 clock                                                             ●     34.6 µs   33.8 µs
        "#]],
    );
    let row = markdown::render(&answer, Options::default());
    let row = row.lines().find(|line| line.starts_with("| collect:25")).expect("a row");
    assert!(row.contains("| synthesized |") || row.contains("| simulated |"), "{row}");

    let page = std::fs::read_to_string(root().join("docs/json/offload.v1.schema.json")).expect("the page");
    let page: Value = serde_json::from_str(&page).expect("JSON");
    let document: Value = serde_json::from_str(&json::document(&answer)).expect("JSON");
    assert_eq!(schema::problems(&page, &document), [""; 0]);
    let one = &document["regions"].as_array().expect("regions")[2];
    assert_eq!(one["core"]["cells"]["look_up_tables"], 736);
    let mut bases: Vec<_> = one["boards"].as_array().expect("boards").iter().map(|board| &board["basis"]).collect();
    bases.sort_by_key(|basis| basis.to_string());
    assert_eq!(bases, ["simulated", "synthesized"]);
    assert_eq!(document["regions"][0]["boards"][0]["basis"], "prior");
    assert_eq!(document["bundles"][0]["stands_for"][0], "collect:25 scatter-add");
}

#[test]
fn what_nobody_ran_is_counted_and_a_part_of_a_module_is_not_its_bundle() {
    let folder = tempfile::tempdir().expect("a folder");
    let answer = with_bundle(bundle(folder.path(), "collect", &[]), &["u55c"]);
    let document: Value = serde_json::from_str(&json::document(&answer)).expect("JSON");
    let one = &document["regions"].as_array().expect("regions")[2];
    assert_eq!(one["boards"][0]["basis"], "counted");
    assert!(one["core"]["simulated_by"].is_null() && one["core"]["cells"].is_null(), "{one}");

    let folder = tempfile::tempdir().expect("a folder");
    let answer = with_bundle(bundle(folder.path(), "iterate:19 copy", &ledger()), &["u55c"]);
    let text = text::full(&answer, Options::default(), &Layout::plain(100));
    check(
        &text[..text.find("\n\n").expect("an end")],
        expect![[r#"
        bundle `collect.handoff` is not used: the bundle has all of module `jit_iterate`, and `iterate:19
          copy` is only a part of it in this capture
        no region is known to run faster elsewhere than on NVIDIA H100 SXM5 80GB by its data sheet:
        undecided 100.0%"#]],
    );
}

#[test]
fn a_bundle_that_was_changed_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = bundle(folder.path(), "collect", &ledger());
    std::fs::write(path.join("rtl/core.json"), "{}").expect("written");
    let session = Session::open(&[root().join("fixtures/xplane/train_steps.xplane.pb")], &OpenOptions::default())
        .expect("a fixture");
    let options = OffloadOptions { bundles: vec![path], ..OffloadOptions::default() };
    let error = session.offload(&options).expect_err("a changed bundle").to_string();
    assert_eq!(error, "expected a hand-off bundle: rtl/core.json is not the original file: its hash does not match");
}
