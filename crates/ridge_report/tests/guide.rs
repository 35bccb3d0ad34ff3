//! What `guide` says of real captures, in both forms.

mod schema;

use expect_test::{Expect, expect};
use ridge_report::guide::{json, text};
use ridge_report::terminal::Layout;
use ridgeline::{Guide, GuideOptions, OpenOptions, Session};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn asked(capture: &str, meant: Option<&str>) -> Guide {
    let session = Session::open(&[root().join(capture)], &OpenOptions::default()).expect("a fixture");
    session.guide(&GuideOptions { meant: meant.map(str::to_owned) }).expect("an answer")
}

/// The text, with the folder of the project taken out.
fn shown(guide: &Guide) -> String {
    text(guide, &Layout::plain(80)).replace(&format!("{}/", root().display()), "")
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(text);
}

#[test]
fn a_capture_of_a_processor() {
    check(
        &shown(&asked("fixtures/xplane/train_steps.xplane.pb", Some("h100"))),
        expect![[r#"
            2 of 7 stages answered, 4 in part, 1 missing; next: ground truth

            timeline[answered]: the work on the device, and its duration
              184 µs of device work; `ynn_fusion` takes 41.6% of it
                ridgeline stats fixtures/xplane/train_steps.xplane.pb

            graph[answered]: the operation of each piece of work, and its computation
              100.0% of device time belongs to an operation of 10 compiled modules
                ridgeline hlo fixtures/xplane/train_steps.xplane.pb

            ground truth[partly]: times of the accelerator, with measured roofs
              times are measured, on a CPU (CPU)
                ridgeline roofline fixtures/xplane/train_steps.xplane.pb
              missing: the time on an accelerator; run the next command on a machine that
              has it; and which roofs this machine reaches
              to find out:
                ridgeline record -o RUN -- python PROGRAM.py
                ridgeline calibrate

            deep dive[partly]: hardware counters of the longest kernels
              bounds are modelled from the operations; no counters were collected
                ridgeline roofline fixtures/xplane/train_steps.xplane.pb
              missing: counters: record on a GPU first, this capture names no kernels of one
              to find out:
                ridgeline record -o RUN -- python PROGRAM.py

            memory sizing[partly]: how much memory it needs, here and at a larger size
              the largest plan is 27.1 KiB for `jit_iterate`; no allocator was watched
                ridgeline memory fixtures/xplane/train_steps.xplane.pb
              missing: how it grows: that needs more than one size
              to find out:
                ridgeline bench SUITE --sizes 32,64,128 -o RUN
                ridgeline scaling RUN

            offload verdict[partly]: which parts other hardware would speed up
              no region is known to run faster elsewhere than on NVIDIA H100 SXM5 80GB by
              its data sheet: undecided 100.0%
                ridgeline offload fixtures/xplane/train_steps.xplane.pb --as h100
              missing: 100.0% is undecided
              to find out:
                ridgeline offload fixtures/xplane/train_steps.xplane.pb --as h100 --all --what-if clock=250MHz,resident=100

            hand-off[missing]: what the engineers get, and what of it is checked
              no bundle, and no region is a candidate; `jit_iterate:19 dot_general` takes
              most time
              to find out:
                ridgeline handoff fixtures/xplane/train_steps.xplane.pb --region 1 -o REGION.handoff
              then: run the program with the bundle's code in the region's place, as typed
              and in each number format, before any hardware exists
                ridgeline handoff emulate REGION.handoff -- python PROGRAM.py
        "#]],
    );
}

#[test]
fn counters_of_a_profiler_alone() {
    check(
        &shown(&asked("fixtures/ncu/made_up.ncu-rep", None)),
        expect![[r#"
            1 of 7 stages answered, 0 in part, 6 missing; next: timeline

            timeline[missing]: the work on the device, and its duration
              the capture has no device work
              to find out:
                ridgeline record -o RUN -- python PROGRAM.py

            graph[missing]: the operation of each piece of work, and its computation
              the capture has no compiled module
              to find out:
                ridgeline record -o RUN -- python PROGRAM.py

            ground truth[missing]: times of the accelerator, with measured roofs
              no device worked
              to find out:
                ridgeline record -o RUN -- python PROGRAM.py

            deep dive[answered]: hardware counters of the longest kernels
              2 launches of 2 kernels have counters
                ridgeline roofline fixtures/ncu/made_up.ncu-rep --by profile

            memory sizing[missing]: how much memory it needs, here and at a larger size
              the capture has neither plans nor allocations
              to find out:
                ridgeline record -o RUN -- python PROGRAM.py

            offload verdict[missing]: which parts other hardware would speed up
              there is no work to divide into regions
              to find out:
                ridgeline record -o RUN -- python PROGRAM.py

            hand-off[missing]: what the engineers get, and what of it is checked
              no region has a specification to hand over
              to find out:
                ridgeline record -o RUN -- python PROGRAM.py
        "#]],
    );
}

#[test]
fn captures_of_pytorch_are_not_asked_for_modules() {
    for capture in ["fixtures/chrome/torch_mlp.json", "fixtures/nsys/two_processes.sqlite"] {
        let guide = asked(capture, None);
        let advice: Vec<&String> = guide.stages.iter().flat_map(|stage| &stage.next).collect();
        assert!(!advice.iter().any(|command| command.contains("--hlo")), "{capture}: {advice:?}");
    }
    check(
        &shown(&asked("fixtures/chrome/torch_mlp.json", None)),
        expect![[r#"
            2 of 7 stages answered, 2 in part, 3 missing; next: ground truth

            timeline[answered]: the work on the device, and its duration
              474 µs of device work; `aten::addmm` takes 12.9% of it
                ridgeline stats fixtures/chrome/torch_mlp.json

            graph[answered]: the operation of each piece of work, and its computation
              45 PyTorch operators and ranges; none launched work on a device
                ridgeline stats fixtures/chrome/torch_mlp.json --by operator

            ground truth[partly]: times of the accelerator, with measured roofs
              times are measured, on a CPU (CPU)
                ridgeline roofline fixtures/chrome/torch_mlp.json
              missing: the time on an accelerator; run the next command on a machine that
              has it; and which roofs this machine reaches, which the next command measures
              with JAX
              to find out:
                ridgeline record -o RUN -- python PROGRAM.py
                ridgeline calibrate

            deep dive[missing]: hardware counters of the longest kernels
              no kernel of the capture has counters; PyTorch's operators ran on the host
              missing: the times on a GPU; run the next command on a machine that has one
              to find out:
                ridgeline record -o RUN -- python PROGRAM.py

            memory sizing[partly]: how much memory it needs, here and at a larger size
              2.66 KiB at the peak of CPU
                ridgeline memory fixtures/chrome/torch_mlp.json
              missing: how it grows: that needs more than one size
              to find out:
                ridgeline record --allocations --allocator-history -o LARGER -- python PROGRAM.py
                ridgeline memory LARGER

            offload verdict[missing]: which parts other hardware would speed up
              no verdict: it is given on parts of compiled modules, and PyTorch leaves none;
              a part that matters, written in JAX, has one
              to find out:
                ridgeline record -o RUN -- python PART_IN_JAX.py
                ridgeline offload RUN

            hand-off[missing]: what the engineers get, and what of it is checked
              no region has a specification to hand over
              to find out:
                ridgeline record -o RUN -- python PART_IN_JAX.py
                ridgeline handoff RUN --region 1 -o REGION.handoff
        "#]],
    );
}

#[test]
fn documents_keep_to_their_schema() {
    let page = std::fs::read_to_string(root().join("docs/json/guide.v1.schema.json")).expect("the page");
    let page = serde_json::from_str(&page).expect("JSON");
    for capture in
        ["fixtures/xplane/train_steps.xplane.pb", "fixtures/nsys/two_processes.sqlite", "fixtures/ncu/made_up.ncu-rep"]
    {
        let document = serde_json::from_str(&json(&asked(capture, None))).expect("JSON");
        assert_eq!(schema::problems(&page, &document), [""; 0], "{capture}");
    }
}
