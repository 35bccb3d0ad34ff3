//! Event by event, what a replay moves.

use ridge_replay::{Action, Edit, Moved, Options, Replay};
use ridge_trace::Trace;

/// Four steps that launch a kernel and wait for it.
const TRACE: &str = "
    thread python
      0 +500 train step=1
      0 +5 cudaLaunchKernel launch id=1
      10 +110 cudaStreamSynchronize
      500 +300 train step=2
      500 +5 cudaLaunchKernel launch id=2
      510 +110 cudaStreamSynchronize
      800 +300 train step=3
      800 +5 cudaLaunchKernel launch id=3
      810 +110 cudaStreamSynchronize
      1100 +300 train step=4
      1100 +5 cudaLaunchKernel launch id=4
      1110 +110 cudaStreamSynchronize
    stream 7 on gpu
      8 +100 gemm id=1
      508 +100 gemm id=2
      808 +100 gemm id=3
      1108 +100 gemm id=4
";

/// Name, captured and replayed times of the events that begin in the last step.
fn last(events: &[Moved], trace: &Trace) -> Vec<String> {
    let line =
        |event: &Moved| format!("{} {:?} -> {:?}", trace.name(event.row as usize), event.captured, event.replayed);
    events.iter().filter(|event| event.captured.0 >= 1100).map(line).collect()
}

#[test]
fn without_edits_everything_is_when_it_was_and_with_one_what_waits_comes_sooner() {
    let trace = ridge_test::trace(TRACE);
    let replay = Replay::new(&trace, &Options::default());
    let same = replay.retimed(&[]).expect("a timeline");
    assert!(same.events.iter().chain(&same.steps).all(|event| event.captured == event.replayed && !event.is_gone));
    let gemms: Vec<u32> = (0..trace.events.len() as u32).filter(|row| trace.name(*row as usize) == "gemm").collect();
    let half = replay.retimed(&[Edit { rows: gemms.clone(), action: Action::Scale(0.5) }]).expect("a timeline");
    let steps: Vec<(i64, i64)> = half.steps.iter().map(|step| step.replayed).collect();
    assert_eq!(steps, [(0, 450), (450, 700), (700, 950), (950, 1200)]);
    assert_eq!(
        last(&half.events, &trace),
        [
            "cudaLaunchKernel (1100, 1105) -> (950, 955)",
            "cudaStreamSynchronize (1110, 1220) -> (960, 1020)",
            "gemm (1108, 1208) -> (958, 1008)",
        ]
    );
    let gone = replay.retimed(&[Edit { rows: gemms, action: Action::Drop }]).expect("a timeline");
    assert_eq!(gone.events.iter().filter(|event| event.is_gone).count(), 4);
}

#[test]
fn what_gets_no_number_gets_no_timeline() {
    let one = "thread python\n 0 +500 train step=1\n 10 +5 cudaLaunchKernel launch id=1\nstream 7 on gpu\n 20 +100 gemm id=1\n";
    let trace = ridge_test::trace(one);
    let replay = Replay::new(&trace, &Options::default());
    let edit = [Edit { rows: vec![2], action: Action::Drop }];
    assert!(replay.apply(&edit).refused.is_some());
    assert_eq!(replay.retimed(&edit).err(), replay.apply(&edit).refused);
}
