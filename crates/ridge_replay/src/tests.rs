//! Small captures and what edits of them save.

use crate::edges::Family;
use crate::graph::Graph;
use crate::overlay::Overlay;
use crate::pass::Delays;
use crate::{Action, Edit, OnPath, Options, PathPart, Prediction, Reason, Replay};
use ridge_test::trace;
use ridge_trace::Trace;

/// One launch, one wait; rows: 0 and 1 the thread's, 2 the stream's.
const LAUNCH_AND_WAIT: &str = "
    thread python
      0 +5000 cudaLaunchKernel launch id=1
      10000 +100000 cudaStreamSynchronize
    stream 7 on gpu
      8000 +100000 gemm id=1
";

/// The two kernels of two streams; the second stream was told to wait for the first.
const TWO_STREAMS: &str = "
    thread python
      0 +5000 cudaLaunchKernel launch id=1
      6000 +1000 cudaStreamWaitEvent
      8000 +5000 cudaLaunchKernel launch id=2
      20000 +92000 cudaDeviceSynchronize
    stream 7 on gpu
      8000 +50000 first id=1
    stream 8 on gpu
      60000 +50000 second id=2
";

fn edit(rows: &[u32], action: Action) -> Edit {
    Edit { rows: rows.to_vec(), action }
}

/// What `edits` leave of the wall with own delays; the unedited replay must be exact.
#[track_caller]
fn wall_after(trace: &Trace, edits: &[Edit]) -> i64 {
    let replay = Replay::new(trace, &Options::default());
    assert_eq!(replay.baseline().own_error_ns, 0);
    let times = replay.graph.pass(Delays::Own, &Overlay::of(edits, &replay.graph, trace));
    let first = replay.graph.nodes.start.iter().min().copied().unwrap_or(0);
    times.iter().max().copied().unwrap_or(0) - first
}

#[track_caller]
fn check(text: &str, edits: &[(&[u32], Action)], expected_ns: i64) {
    let trace = trace(text);
    let edits: Vec<Edit> = edits.iter().map(|(rows, action)| edit(rows, *action)).collect();
    assert_eq!(wall_after(&trace, &edits), expected_ns);
}

#[test]
fn a_wait_ends_when_its_work_does() {
    check(LAUNCH_AND_WAIT, &[], 110_000);
    // The kernel takes half: its launch, half of it, the return.
    check(LAUNCH_AND_WAIT, &[(&[2], Action::Scale(0.5))], 60_000);
    // Without work the wait costs what it cost after the work's end.
    check(LAUNCH_AND_WAIT, &[(&[2], Action::Drop)], 12_000);
}

#[test]
fn a_wait_is_for_work_that_ends_near_its_end() {
    // The call returns 25 µs after the work: it waited. 60 µs after it: it did something else.
    let ends_at = |end: i64| LAUNCH_AND_WAIT.replace("8000 +100000", &format!("8000 +{}", end - 8000));
    check(&ends_at(85_000), &[(&[2], Action::Drop)], 35_000);
    check(&ends_at(50_000), &[(&[2], Action::Drop)], 110_000);
}

#[test]
fn a_call_that_does_not_wait_leaves_the_work_to_end_alone() {
    check(LAUNCH_AND_WAIT, &[(&[1], Action::Unsync)], 108_000);
    check(LAUNCH_AND_WAIT, &[(&[1], Action::Unsync), (&[2], Action::Scale(0.5))], 58_000);
}

#[test]
fn calls_go_with_what_they_launched() {
    check(LAUNCH_AND_WAIT, &[(&[0], Action::DropCall)], 7_000);
}

#[test]
fn the_host_between_calls_is_scaled_within_the_rows() {
    let text = "
        thread python
          0 +100000 loop
          0 +5000 cudaMalloc
          60000 +20000 load
          95000 +5000 cudaMalloc
    ";
    check(text, &[], 100_000);
    check(text, &[(&[2], Action::HostScale(0.0))], 80_000);
    check(text, &[(&[0], Action::HostScale(0.5))], 55_000);
}

#[test]
fn work_on_another_stream_is_waited_for() {
    check(TWO_STREAMS, &[], 112_000);
    check(TWO_STREAMS, &[(&[4], Action::Scale(0.5))], 87_000);
    check(TWO_STREAMS, &[(&[4], Action::Scale(0.5)), (&[5], Action::Scale(0.5))], 62_000);
}

#[test]
fn work_off_the_path_with_slack_saves_nothing() {
    let text = "
        thread python
          0 +5000 cudaLaunchKernel launch id=1
          6000 +5000 cudaLaunchKernel launch id=2
          20000 +100000 cudaDeviceSynchronize
        stream 7 on gpu
          8000 +10000 short id=1
        stream 8 on gpu
          14000 +104000 long id=2
    ";
    check(text, &[(&[3], Action::Drop)], 120_000);
    check(text, &[(&[3], Action::Scale(2.0))], 120_000);
}

#[test]
fn a_copy_that_its_call_waits_for_can_be_asynchronous() {
    let text = "
        thread python
          0 +50000 cudaMemcpy launch id=1
          60000 +10000 cudaMalloc
        stream 7 on gpu
          10000 +38000 Memcpy h2d id=1
    ";
    check(text, &[], 70_000);
    check(text, &[(&[2], Action::Asynchronous)], 48_000);
}

#[test]
fn merged_calls_launch_at_once() {
    let text = "
        thread python
          0 +5000 cudaLaunchKernel launch id=1
          50000 +5000 cudaLaunchKernel launch id=2
          100000 +5000 cudaLaunchKernel launch id=3
        stream 7 on gpu
          6000 +1000 k id=1
          56000 +1000 k id=2
          106000 +1000 k id=3
    ";
    // The others' work is launched where the first call ends, and queues.
    check(text, &[(&[0, 1, 2], Action::Merge)], 13_000);
}

#[test]
fn a_graph_is_launched_once_and_runs_in_order() {
    let text = "
        thread python
          0 +5000 cudaGraphLaunch launch id=1
        stream 7 on gpu
          8000 +1000 a id=1
          10000 +1000 b id=1
          12000 +1000 c id=1
    ";
    check(text, &[(&[2], Action::Drop)], 11_000);
}

#[test]
fn operations_of_a_processor_are_part_of_the_loop_around_them() {
    let text = "
        thread python
          0 +100000 Execute as=run
          100000 +20000 cudaMalloc
        lane 0 on cpu
          10000 +80000 while.1 by=run
          10000 +20000 add by=run
          40000 +20000 add by=run
    ";
    check(text, &[], 120_000);
    check(text, &[(&[3, 4], Action::Scale(0.5))], 100_000);
    check(text, &[(&[2], Action::Drop)], 40_000);
}

#[test]
fn removing_never_lengthens_and_edits_join() {
    for text in [LAUNCH_AND_WAIT, TWO_STREAMS] {
        let trace = trace(text);
        let rows: Vec<u32> = (0..trace.events.len() as u32).collect();
        let whole = wall_after(&trace, &[]);
        for set in 0_u32..1 << rows.len() {
            let chosen: Vec<u32> = rows.iter().copied().filter(|row| set & (1 << row) != 0).collect();
            let fewer: Vec<u32> = chosen.iter().copied().skip(1).collect();
            for action in [Action::Drop, Action::DropCall, Action::Unsync, Action::Asynchronous, Action::Merge] {
                let left = wall_after(&trace, &[edit(&chosen, action)]);
                assert!(left <= whole, "{action:?} of {chosen:?}");
                assert!(action == Action::Merge || left <= wall_after(&trace, &[edit(&fewer, action)]));
            }
        }
    }
}

#[test]
fn a_thread_that_waits_without_a_call_is_found_by_its_gaps() {
    let (mut thread, mut stream, mut at) = (String::from("thread python\n"), String::from("stream 7 on gpu\n"), 0);
    for step in 0..20 {
        let work = 50_000 + 7_000 * (step % 5);
        thread += &format!("{at} +5000 cudaLaunchKernel launch id={}\n", step + 1);
        stream += &format!("{} +{work} gemm id={}\n", at + 8000, step + 1);
        at += 8000 + work + 3000;
    }
    let trace = trace(&(thread + &stream));
    let whole = wall_after(&trace, &[]);
    let half: i64 = (0..20).map(|step| (50_000 + 7_000 * (step % 5)) / 2).sum();
    assert_eq!(wall_after(&trace, &[edit(&work(&trace), Action::Scale(0.5))]), whole - half);
}

#[test]
fn a_launch_that_waits_for_room_in_the_queue_waits_for_work() {
    let (mut thread, mut stream, mut at) = (String::from("thread python\n"), String::from("stream 7 on gpu\n"), 0);
    let began = |work: i64| 5000 + 20_000 * work;
    for launch in 0..1300 {
        let room = if launch < 1024 { 0 } else { began(launch - 1024) + 500 };
        let took = (room - at).max(1000);
        thread += &format!("{at} +{took} cudaLaunchKernel launch id={}\n", launch + 1);
        stream += &format!("{} +20000 gemm id={}\n", began(launch), launch + 1);
        at += took + 1000;
    }
    let trace = trace(&(thread + &stream));
    let graph = Graph::new(&trace, None);
    let waits = graph.edges.family.iter().filter(|family| **family == Family::FullQueue).count();
    assert!((100..200).contains(&waits), "{waits}");
    // The last call waits for the device, which is twice as fast.
    let last = |edits: &[Edit]| {
        let times = graph.pass(Delays::Own, &Overlay::of(edits, &graph, &trace));
        times[2 * 1299 + 1]
    };
    let (before, after) = (last(&[]), last(&[edit(&work(&trace), Action::Scale(0.5))]));
    assert!(after < before * 6 / 10, "{before} {after}");
}

#[test]
fn a_worker_that_fills_a_gap_in_every_step_is_waited_for() {
    let (mut main, mut worker) = (String::from("thread main\n"), String::from("thread worker\n"));
    for step in 0..4 {
        let at = step * 100_000;
        main += &format!("{at} +90000 train step={step}\n");
        main += &format!("{} +5000 cudaMalloc\n{} +5000 cudaMalloc\n", at + 1000, at + 80_000);
        worker += &format!("{} +30000 cudaMalloc\n{} +30000 cudaMalloc\n", at + 10_000, at + 42_000);
    }
    let trace = trace(&(main + &worker));
    let calls: Vec<u32> =
        (0..trace.events.len() as u32).filter(|row| trace.events.dur_ns[*row as usize] == 30_000).collect();
    let whole = wall_after(&trace, &[]);
    assert_eq!(wall_after(&trace, &[edit(&calls, Action::Scale(0.5))]), whole - 4 * 30_000);
}

#[test]
fn times_beyond_all_sense_are_no_reason_to_stop() {
    let (least, most) = (i64::MIN, i64::MAX);
    let text = format!(
        "thread python
           {least} +{most} train step=1
           {least} +{most} cudaLaunchKernel launch id=1
           -5 +{most} cudaMemcpy launch id=2
           {most} +{most} cudaDeviceSynchronize
         stream 7 on gpu
           {least} +{most} k id=1
           0 +{most} k id=2
           0 +{most} k id=2
           {most} +{most} k id=1
         lane 0 on cpu
           {least} +{most} while
           {least} +{most} add"
    );
    let trace = trace(&text);
    let replay = Replay::new(&trace, &Options { fewest_steps: 0, most_rigid: 1.0, ..Options::default() });
    let rows: Vec<u32> = (0..trace.events.len() as u32).collect();
    let wall = replay.baseline().wall_ns;
    assert!(wall > 0, "{wall}");
    for action in [Action::Drop, Action::Scale(9e9), Action::HostScale(2.0), Action::Merge, Action::Asynchronous] {
        let saved = replay.apply(&[edit(&rows, action)]);
        assert!(saved.low_ns <= saved.high_ns && saved.high_ns <= wall, "{action:?}: {saved:?} of {wall}");
    }
    assert_eq!(replay.apply(&[]).high_ns, 0);
}

/// Numbers that look random and are the same each time (Knuth's linear congruence).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Threads and streams with any calls and any links, possible or not.
fn any_capture(numbers: &mut Numbers) -> String {
    const CALLS: [&str; 6] = [
        "cudaLaunchKernel launch",
        "cudaMemcpy launch",
        "cudaStreamWaitEvent",
        "cudaStreamSynchronize",
        "cudaDeviceSynchronize",
        "cudaFree",
    ];
    let mut text = String::new();
    let lanes = ["thread a", "thread b", "stream 7 on gpu", "stream 8 on gpu", "lane 0 on cpu"];
    for lane in lanes {
        text += &format!("{lane}\n");
        let mut at = numbers.below(50_000);
        for _ in 0..numbers.below(14) {
            let (took, id) = (numbers.below(90_000), numbers.below(12) + 1);
            let call = CALLS[numbers.below(6) as usize];
            text += &match lane.starts_with("thread") {
                true => format!("{at} +{took} {call} id={id}\n"),
                false => format!("{at} +{took} k id={id}\n"),
            };
            at += numbers.below(100_000);
        }
    }
    text
}

#[test]
fn any_capture_comes_back_and_removing_never_lengthens() {
    let mut numbers = Numbers(7);
    let actions = [
        Action::Drop,
        Action::Scale(0.3),
        Action::HostScale(0.0),
        Action::DropCall,
        Action::Unsync,
        Action::Merge,
        Action::Asynchronous,
    ];
    for _ in 0..300 {
        let text = any_capture(&mut numbers);
        let trace = trace(&text);
        let whole = wall_after(&trace, &[]);
        let mut edits = Vec::new();
        let mut left = whole;
        for _ in 0..3 {
            let rows: Vec<u32> = (0..trace.events.len() as u32).filter(|_| numbers.below(3) == 0).collect();
            edits.push(edit(&rows, actions[numbers.below(7) as usize]));
            let now = wall_after(&trace, &edits);
            assert!(now <= left, "{now} > {left}: {edits:?} of\n{text}");
            left = now;
        }
    }
}

/// A training loop on one thread with a kernel of each step on the device.
fn steps(count: i64, marked: bool) -> String {
    let mut thread = String::from("thread python\n");
    let mut stream = String::from("stream 7 on gpu\n");
    for step in 0..count {
        let at = step * 100_000;
        if marked {
            thread += &format!("{at} +90000 train step={step}\n");
        }
        thread += &format!("{} +5000 cudaLaunchKernel launch id={}\n", at + 1000, step + 1);
        thread += &format!("{} +78000 cudaStreamSynchronize\n", at + 10_000);
        stream += &format!("{} +78000 gemm id={}\n", at + 8000, step + 1);
    }
    thread + &stream
}

fn work(trace: &Trace) -> Vec<u32> {
    (0..trace.events.len() as u32).filter(|row| trace.name(*row as usize) == "gemm").collect()
}

#[track_caller]
fn predicted(text: &str, action: Action) -> Prediction {
    let trace = trace(text);
    let replay = Replay::new(&trace, &Options::default());
    replay.apply(&[edit(&work(&trace), action)])
}

#[test]
fn a_prediction_gives_a_range_and_each_step() {
    let found = predicted(&steps(10, true), Action::Scale(0.5));
    assert_eq!(found.refused, None);
    let step = found.per_step.expect("steps are marked");
    assert_eq!(step.captured_ns, 90_000);
    assert!(step.low_ns <= 39_000 && 39_000 <= step.high_ns, "{step:?}");
    assert!(found.low_ns <= 390_000 && 390_000 <= found.high_ns, "{found:?}");
    let slower = predicted(&steps(10, true), Action::Scale(2.0));
    assert!(slower.high_ns < 0, "{slower:?}");
}

#[test]
fn a_step_saves_no_more_than_it_takes() {
    // The last step takes a hundred times as long, so what the steps save scatters by more than one of the others takes.
    let long = steps(10, true)
        .replace("900000 +90000 train", "900000 +9012000 train")
        .replace("910000 +78000", "910000 +9000000")
        .replace("908000 +78000", "908000 +9000000");
    let found = predicted(&long, Action::Drop);
    assert_eq!(found.refused, None);
    let step = found.per_step.expect("steps are marked");
    assert_eq!((step.captured_ns, step.high_ns), (90_000, 90_000), "{step:?}");
}

#[test]
fn refuses_where_it_cannot_tell() {
    let refused = |text: &str| predicted(text, Action::Drop).refused;
    assert_eq!(refused(&steps(10, false)), None);
    assert_eq!(refused(&steps(2, true)), Some(Reason::FewSteps(2)));
    assert_eq!(refused(""), Some(Reason::Nothing));
    // The copy waits for work that is not in the capture.
    let rigid = "
        thread python
          0 +5000 cudaLaunchKernel launch id=1
          10000 +90000000 cudaMemcpy launch id=2
        stream 7 on gpu
          8000 +1000 gemm id=1
          90000000 +5000 Memcpy h2d id=2
    ";
    assert!(matches!(refused(rigid), Some(Reason::Rigid(share)) if share > 0.9), "{:?}", refused(rigid));
    // A device's own trace: nobody launched what it holds.
    let launched_unseen = "
        stream 7 on gpu
          8000 +1000 gemm id=1
          90000000 +5000 gemm id=2
    ";
    assert_eq!(refused(launched_unseen), Some(Reason::NoLaunches));
    let unlinked = steps(10, true).replace("gemm id=", "gemm id=9");
    assert!(predicted(&unlinked, Action::Drop).refused.is_some());
    let trace = trace(&steps(10, true));
    let replay = Replay::new(&trace, &Options::default());
    assert_eq!(replay.apply(&[edit(&[4_000_000_000], Action::Drop)]).refused, Some(Reason::NothingEdited));
}

#[test]
fn a_device_clock_that_runs_ahead_is_corrected() {
    let mut text = String::from("thread python\n");
    let mut stream = String::from("stream 7 on gpu\n");
    for step in 0..20 {
        let at = step * 100_000;
        text += &format!("{at} +5000 cudaLaunchKernel launch id={}\n", step + 1);
        text += &format!("{} +60000 cudaStreamSynchronize\n", at + 10_000);
        // It seems to end 5 µs after the call that waited for it.
        stream += &format!("{} +60000 gemm id={}\n", at + 15_000, step + 1);
    }
    let trace = trace(&(text + &stream));
    let graph = Graph::new(&trace, None);
    let first = graph.nodes.lanes.iter().find(|lane| !lane.is_thread()).expect("the stream").range().start;
    assert_eq!(graph.nodes.start[first], 15_000 - 7_000);
}

#[test]
fn all_streams_of_a_device_share_its_clock() {
    let mut text = String::from("thread python\n");
    let mut streams = String::new();
    for step in 0..300 {
        let at = step * 100_000;
        text += &format!("{at} +5000 cudaLaunchKernel launch id={}\n", step + 1);
        text += &format!("{} +60000 cudaStreamSynchronize\n", at + 10_000);
        streams += &format!("stream {step} on gpu\n{} +60000 gemm id={}\n", at + 15_000, step + 1);
    }
    let trace = trace(&(text + &streams));
    let nodes = Graph::new(&trace, None).nodes;
    let moved = nodes.lanes.iter().filter(|lane| !lane.is_thread()).map(|lane| {
        let event = lane.range().start;
        nodes.start[event] - trace.events.start_ns[nodes.row[event] as usize]
    });
    assert_eq!(moved.collect::<Vec<i64>>(), [-7_000; 300]);
}

#[test]
fn the_clock_of_a_device_that_processes_share_is_corrected_once() {
    let of_process = |first: u64| {
        let (mut text, mut stream) = (String::from("thread python\n"), String::from("stream 7 on gpu\n"));
        for step in 0..20 {
            let (at, id) = (step * 100_000, first + step);
            text += &format!("{at} +5000 cudaLaunchKernel launch id={id}\n");
            text += &format!("{} +60000 cudaStreamSynchronize\n", at + 10_000);
            stream += &format!("{} +60000 gemm id={id}\n", at + 15_000);
        }
        text + &stream
    };
    let mut trace = trace(&format!("{}process worker\n{}", of_process(1), of_process(100)));
    let streams = trace.tracks.iter_mut().filter(|track| track.device.is_some());
    streams.for_each(|track| track.device = Some(0));
    let nodes = Graph::new(&trace, None).nodes;
    let moved = nodes.lanes.iter().filter(|lane| !lane.is_thread()).map(|lane| {
        let event = lane.range().start;
        nodes.start[event] - trace.events.start_ns[nodes.row[event] as usize]
    });
    assert_eq!(moved.collect::<Vec<i64>>(), [-7_000; 2]);
}

#[test]
fn dependencies_in_a_circle_are_left_out() {
    // The first call ends after work that follows the second call's.
    let trace = trace(
        "thread a
           0 +30000 cudaMemcpy launch id=1
           40000 +10000 cudaMemcpy launch id=2
         stream 7 on gpu
           100 +100 Memcpy h2d id=2
           300 +100 Memcpy h2d id=1",
    );
    let replay = Replay::new(&trace, &Options::default());
    assert_eq!((replay.baseline().own_error_ns, replay.baseline().left_out > 0), (0, true));
}

#[test]
fn the_path_goes_through_what_was_waited_for_without_a_gap() {
    let trace = ridge_test::trace(
        "thread python
           0 +5 cudaLaunchKernel launch id=1
           10 +100 cudaStreamSynchronize
         stream 7 on gpu
           8 +100 gemm id=1
         stream 8 on gpu
           20 +10 aside",
    );
    let replay = Replay::new(&trace, &Options::default());
    let path = replay.critical_path();
    assert!(path.windows(2).all(|two| two[0].until_ns == two[1].from_ns), "{path:?}");
    assert_eq!((path[0].from_ns, path.last().map(|part| part.until_ns)), (0, Some(110)));
    let gemm = PathPart { row: 2, from_ns: 8, until_ns: 108, what: OnPath::Device };
    assert!(path.contains(&gemm) && path.iter().all(|part| part.row != 3), "{path:?}");
    let device: i64 =
        path.iter().filter(|part| part.what == OnPath::Device).map(|part| part.until_ns - part.from_ns).sum();
    assert!((replay.baseline().path.device - device as f64 / 110.0).abs() < 1e-9, "{:?}", replay.baseline());
}
