//! Pairs of small captures whose change is known, and what is said of them.

use crate::{By, Options, Summary, compare, summarize};
use expect_test::{Expect, expect};
use ridge_analysis::Prepared;

fn summary(text: &str) -> Summary {
    let trace = ridge_test::trace(text);
    let prepared = Prepared::with_sheets(&trace);
    Summary { name: "run".to_owned(), ..summarize(&prepared.analysis(&trace, &[]), &mut |_, _| None) }
}

/// The verdict, the doubts, and the rows of one division; whatever is shown, all divisions add up.
fn said(before: &[Summary], after: &[Summary], by: By) -> String {
    let found = compare(before, after, &Options::default());
    for (by, rows) in &found.changes {
        let sum = |of: fn(&crate::Change) -> i64| rows.iter().map(of).sum::<i64>();
        assert_eq!(sum(|row| row.before_ns), found.before.unit_ns, "{by:?}");
        assert_eq!(sum(|row| row.after_ns), found.after.unit_ns, "{by:?}");
        assert_eq!(sum(|row| row.before_total_ns), found.before.total_ns, "{by:?}");
        assert_eq!(sum(|row| row.after_total_ns), found.after.total_ns, "{by:?}");
    }
    let mut text = format!("{}: {} → {}\n", found.verdict.state.name(), found.before.unit_ns, found.after.unit_ns);
    found.doubts.iter().for_each(|doubt| text += &format!("{}: {}\n", doubt.weight.name(), doubt.message));
    for row in found.changes_by(by) {
        let was = row.subject_before.as_ref().map(|name| format!(" (was {name})")).unwrap_or_default();
        let why = if row.why.is_empty() { String::new() } else { format!(": {}", row.why.join("; ")) };
        text += &format!(
            "{} {}{was} {} → {}, {}{why}\n",
            row.what.name(),
            row.subject,
            row.before_ns,
            row.after_ns,
            row.certainty().name()
        );
    }
    text
}

#[track_caller]
fn check(before: &str, after: &str, by: By, expected: Expect) {
    expected.assert_eq(&said(&[summary(before)], &[summary(after)], by));
}

/// The same program without a change and with it.
#[track_caller]
fn check_change(with: impl Fn(bool) -> String, expected: Expect) {
    check(&with(false), &with(true), By::Part, expected);
}

/// A program of steps, `body` of each being told at which time it begins and its number.
fn steps_of(count: usize, length: i64, body: impl Fn(i64, usize) -> (String, String)) -> String {
    let (mut host, mut device) = ("thread python\n".to_owned(), "stream 7 on gpu\n".to_owned());
    for number in 0..count {
        let start = number as i64 * length;
        let (calls, work) = body(start, number);
        host += &format!("{start} +{length} train step={number}\n{calls}");
        device += &work;
    }
    host + &device
}

/// A launch at `start` of a kernel that runs right after it.
fn kernel(start: i64, length: i64, name: &str, id: i64) -> (String, String) {
    (format!("{start} +10 launch launch id={id}\n"), format!("{} +{length} {name} id={id}\n", start + 10))
}

fn joined(parts: impl IntoIterator<Item = (String, String)>) -> (String, String) {
    parts.into_iter().fold(Default::default(), |(calls, work), (call, kernel)| (calls + &call, work + &kernel))
}

/// Two kernels a step, the first of `length`.
fn base(length: i64, name: &'static str) -> String {
    steps_of(9, length + 600, move |start, number| {
        let id = 2 * number as i64;
        joined([kernel(start, length, name, id), kernel(start + length + 50, 400, "tail", id + 1)])
    })
}

#[test]
fn a_slower_kernel_is_the_first_row() {
    check(
        &base(300, "gemm"),
        &base(600, "gemm"),
        By::Part,
        expect![[r#"
            slower: 900 → 1200
            kernel gemm 300 → 600, certain: 600 ns each instead of 300 ns
            idle host late: program's own code (train) 180 → 180, unsure
            idle in the launch call: launching (launch) 20 → 20, unsure
            kernel tail 400 → 400, unsure
        "#]],
    );
}

#[test]
fn a_renumbered_kernel_is_the_same_and_another_one_is_named() {
    check(
        &base(300, "loop_add_fusion_12"),
        &base(300, "loop_add_fusion_9"),
        By::Kernel,
        expect![[r#"
            cannot judge: 900 → 900
            idle host late 180 → 180, unsure
            idle in the launch call 20 → 20, unsure
            kernel loop_add_fusion_9 (was loop_add_fusion_12) 300 → 300, unsure
            kernel tail 400 → 400, unsure
        "#]],
    );
    check(
        &base(300, "\"void f::gemm<128>(int)\" op=dot.1"),
        &base(500, "\"void f::gemm<64>(int)\" op=dot.1"),
        By::Kernel,
        expect![[r#"
            slower: 900 → 1100
            kernel void f::gemm<64>(int) (was void f::gemm<128>(int)) 300 → 500, certain: 500 ns each instead of 300 ns; kernel `void f::gemm<64>(int)` instead of `void f::gemm<128>(int)`
            idle host late 180 → 180, unsure
            idle in the launch call 20 → 20, unsure
            kernel tail 400 → 400, unsure
        "#]],
    );
}

#[test]
fn one_more_copy_a_step_is_new() {
    let with = |copy: bool| {
        steps_of(9, if copy { 600 } else { 400 }, move |start, number| {
            let id = 2 * number as i64;
            let (calls, mut work) = kernel(start, 300, "gemm", id);
            if copy {
                work += &format!("{} +200 MemcpyH2D h2d bytes=4096\n", start + 350);
            }
            (calls, work)
        })
    };
    check_change(
        with,
        expect![[r#"
            slower: 400 → 600
            copy copy host to device 0 → 200, certain
            idle host late: program's own code (train) 90 → 44, unsure
            rest nothing recorded explains it 0 → 40, certain
            idle after the last work: program's own code (train) 0 → 6, unsure
            kernel gemm 300 → 300, unsure
            idle in the launch call: launching (launch) 10 → 10, unsure
        "#]],
    );
}

#[test]
fn a_pause_of_the_host_is_idle_time() {
    let program = |longer: bool| {
        let pause = if longer { 420 } else { 20 };
        let load = move |start: i64| format!("{start} +{pause} load annotation\n");
        steps_of(9, 600 + pause, move |start, number| {
            let (launch, work) = kernel(start + pause + 50, 500, "gemm", number as i64);
            (load(start) + &launch, work)
        })
    };
    check_change(
        program,
        expect![[r#"
            slower: 620 → 1020
            idle host late: program's own code (load) (was host late: program's own code (train)) 110 → 510, certain
            kernel gemm 500 → 500, unsure
            idle in the launch call: launching (launch) 10 → 10, unsure
        "#]],
    );
}

#[test]
fn one_step_or_none_tells_nothing() {
    let few = |count: usize, length: i64| {
        steps_of(count, length + 100, move |start, number| kernel(start, length, "gemm", number as i64))
    };
    check(
        &few(2, 300),
        &few(2, 600),
        By::Part,
        expect![[r#"
            cannot judge: 400 → 700
            kernel gemm 300 → 600, unknown: 600 ns each instead of 300 ns
            idle host late: program's own code (train) 90 → 90, unknown
            idle in the launch call: launching (launch) 10 → 10, unknown
        "#]],
    );
    check(
        &few(9, 300),
        "thread python\n0 +10 idle",
        By::Part,
        expect![[r#"
            cannot judge: 400 → 0
            refuses: after (run): no device work and no marked step, so there is no time to compare
            refuses: only 0% of device work can be matched to the other side: different programs, or operations without names
            warns: other numbers of devices: 1 before, 0 after
            kernel gemm 300 → 0, unknown
            idle host late: program's own code (train) 90 → 0, unknown
            idle in the launch call: launching (launch) 10 → 0, unknown
        "#]],
    );
    check(
        &few(9, 300),
        "stream 1 on gpu\n0 +10 gemm\n20 +10 gemm",
        By::Part,
        expect![[r#"
            cannot judge: 400 → 30
            refuses: times are per step before and per capture after
            kernel gemm 300 → 20, unknown
            idle host late: program's own code (train) 90 → 0, unknown
            idle in the launch call: launching (launch) 10 → 0, unknown
            rest nothing recorded explains it 0 → 10, unknown
        "#]],
    );
}

#[test]
fn steps_without_devices_have_nothing_that_explains_them() {
    let host = |length: i64| steps_of(9, length, |_, _| (String::new(), String::new()));
    check(
        &host(100),
        &host(200),
        By::Part,
        expect![[r#"
            cannot judge: 100 → 200
            rest nothing recorded explains it 100 → 200, unknown
        "#]],
    );
}

#[test]
fn runs_show_what_runs_differ_by() {
    let runs = |lengths: &[i64]| lengths.iter().map(|length| summary(&base(*length, "gemm"))).collect::<Vec<_>>();
    expect![[r#"
        cannot judge: 1000 → 1040
        kernel gemm 400 → 440, unsure: 440 ns each instead of 400 ns
        idle host late: program's own code (train) 180 → 180, unsure
        idle in the launch call: launching (launch) 20 → 20, unsure
        kernel tail 400 → 400, unsure
    "#]]
    .assert_eq(&said(&runs(&[300, 500, 400]), &runs(&[450, 350, 520]), By::Part));
    expect![[r#"
        slower: 905 → 1200
        kernel gemm 305 → 600, certain: 600 ns each instead of 305 ns
        idle host late: program's own code (train) 180 → 180, unsure
        idle in the launch call: launching (launch) 20 → 20, unsure
        kernel tail 400 → 400, unsure
    "#]]
    .assert_eq(&said(&runs(&[300, 310, 305]), &runs(&[600, 610, 590]), By::Part));
}

/// A program without steps, that ran to its end, whose one loop launches `count` kernels `pause` apart.
fn whole(count: i64, pause: i64) -> Summary {
    let (mut host, mut device) = ("thread python\n".to_owned(), "stream 7 on gpu\n".to_owned());
    for at in 0..count {
        let (calls, work) = kernel(at * pause, 10, "add", at);
        (host, device) = (host + &calls, device + &work);
    }
    let mut found = summary(&(host + &device));
    found.origin.is_whole_program = true;
    found
}

#[test]
fn a_whole_program_is_judged_by_what_no_noise_explains() {
    let judged = |before: Summary, after: Summary| {
        let found = compare(&[before], &[after], &Options::default());
        let doubts = found.doubts.iter().map(|doubt| format!("{}: {}", doubt.weight.name(), doubt.message));
        (found.verdict.state.name(), doubts.collect::<Vec<_>>().join("\n"))
    };
    // The flaw is gone, and its events with it.
    let (state, doubts) = judged(whole(400, 100), whole(40, 100));
    assert_eq!(state, "faster", "{doubts}");
    assert!(doubts.starts_with("warns: no steps are marked: whole programs are compared, "), "{doubts}");
    assert_eq!(judged(whole(40, 100), whole(400, 100)).0, "slower");
    // A third more may be another day.
    assert_eq!(judged(whole(300, 100), whole(400, 100)).0, "cannot judge");
    // A part of a program may be of any length.
    let part = |count: i64| {
        let mut part = whole(count, 100);
        part.origin.is_whole_program = false;
        part
    };
    let (state, doubts) = judged(part(400), part(40));
    assert!(state == "cannot judge" && doubts.contains("are not the same work"), "{state} {doubts}");
    // Like operations that take ten times as long in one half of the time say what runs of that machine are worth.
    let wavers = Summary { wavering: Some(1.2), ..whole(400, 100) };
    assert_eq!(judged(wavers, whole(40, 100)).0, "cannot judge");
}

#[test]
fn lost_records_are_no_gain() {
    let (before, mut after) = (summary(&base(300, "gemm")), summary(&base(100, "gemm")));
    after.lost.push("the file ends early".to_owned());
    expect![[r#"
        cannot judge: 900 → 700
        refuses: after (run): records are lost: the file ends early
        category matrix product 300 → 100, certain: 100 ns each instead of 300 ns
        idle host late 180 → 180, unsure
        idle in the launch call 20 → 20, unsure
        category kernel, unknown 400 → 400, unsure
    "#]]
    .assert_eq(&said(&[before], &[after], By::Category));
}

#[test]
fn a_file_with_what_no_summary_has_is_not_judged() {
    let sound = summary(&base(300, "gemm"));
    assert_eq!(sound.clone().sound(), sound);
    for break_it in [
        |summary: &mut Summary| summary.items[0].ns = -1,
        |summary: &mut Summary| summary.busy_ns = summary.whole_ns + 1,
        |summary: &mut Summary| summary.measures = vec![summary.measures[0].clone(); 1000],
    ] {
        let mut broken = sound.clone();
        break_it(&mut broken);
        let found = compare(std::slice::from_ref(&sound), &[broken.sound()], &Options::default());
        assert_eq!(found.verdict.state.name(), "cannot judge");
    }
}

#[test]
fn a_summary_is_the_same_from_its_file() {
    let summary = summary(&base(300, "gemm"));
    let text = serde_json::to_string(&summary).expect("JSON");
    assert_eq!(serde_json::from_str::<Summary>(&text).expect("a summary"), summary);
    assert!(text.starts_with(r#"{"schema":"ridgeline.summary.v1""#));
}
