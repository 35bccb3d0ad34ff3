//! What is exported as a Chrome or Perfetto trace opens again, with the same device work.

use ridge_export::{Form, Privacy, export};
use ridgeline::{OpenOptions, Session, Topic, Trace};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What must come back: self time by device, kind and operation, bytes by direction, steps.
fn work(session: &Session) -> Vec<String> {
    let trace = session.trace();
    let own = self_times(trace);
    let mut lines: BTreeMap<String, (u64, i64, u64)> = BTreeMap::new();
    for track in trace.device_tracks() {
        let device = track.device.map(|row| &trace.devices[row as usize]);
        let device = device.map_or(String::new(), |device| format!("{} {:?}", device.plane, device.model));
        let device = format!("{device} {:?}", track.kind);
        for row in track.rows.clone().map(|row| row as usize) {
            let kind = trace.events.kind(row);
            if !kind.is_device_work() {
                continue;
            }
            let operation = trace.operation(row).map_or("", |operation| trace.strings.get(operation.name));
            let sums = lines.entry(format!("{device} {} {operation}", kind.name())).or_default();
            let bytes = trace.transfer(row).map_or(0, |transfer| transfer.bytes);
            *sums = (sums.0 + 1, sums.1 + own[row], sums.2 + bytes);
        }
    }
    let steps = trace.steps.iter().map(|step| format!("step {} {}", step.number, trace.name(step.event as usize)));
    let lines = lines.into_iter().map(|(line, sums)| format!("{line}: {sums:?}"));
    lines.chain(steps).collect()
}

/// The time of every event less that of what is directly inside it.
fn self_times(trace: &Trace) -> Vec<i64> {
    let mut own = trace.events.dur_ns.to_vec();
    for (row, &parent) in trace.events.parent.iter().enumerate() {
        if let Some(outer) = own.get_mut(parent as usize) {
            *outer -= trace.events.dur_ns[row];
        }
    }
    own
}

fn open(path: &Path) -> Session {
    Session::open(&[path.to_owned()], &OpenOptions::default()).expect("a capture")
}

fn check(path: PathBuf) {
    let session = open(&path);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let copy = folder.path().join("copy.json");
    let mut file = std::fs::File::create(&copy).expect("a file");
    let programs = |module: usize| session.program_text(module);
    export(session.trace(), &programs, Form::Chrome, Privacy::Removed, &mut file, &mut |_| {}).expect("written");
    let again = open(&copy);
    assert_eq!(work(&again), work(&session), "{}", path.display());
    for (topic, by) in ANSWERS {
        assert_eq!(answer(&again, topic, by), answer(&session, topic, by), "{} --by {by}", path.display());
    }
    let copy = folder.path().join("copy.pftrace");
    let mut file = std::fs::File::create(&copy).expect("a file");
    export(session.trace(), &programs, Form::Perfetto, Privacy::Removed, &mut file, &mut |_| {}).expect("written");
    assert_eq!(work(&open(&copy)), work(&session), "{} by Perfetto", path.display());
}

/// What is asked of a capture and of its copy: categories, shapes of launches, FLOPs and bytes.
const ANSWERS: [(Topic, &str); 6] = [
    (Topic::Time, "op"),
    (Topic::Time, "category"),
    (Topic::Time, "kernel"),
    (Topic::Time, "module"),
    (Topic::Transfers, "direction"),
    (Topic::Roofline, "op"),
];

/// The rows of a table, in an order of their own where several are equal in what they are sorted by.
fn answer(session: &Session, topic: Topic, by: &str) -> Result<Vec<String>, String> {
    let table = session.table(topic, by).map_err(|error| error.to_string())?;
    let schema = table.batch.schema();
    let columns: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let mut lines: Vec<String> = ridge_test::render(&table, &columns).lines().map(str::to_owned).collect();
    lines.sort();
    Ok(lines)
}

#[test]
fn pytorch_traces() {
    for name in ["train.json", "torch_mlp.json", "jax_steps.json"] {
        check(ridge_test::fixtures("chrome").join(name));
    }
}

#[test]
fn cpu_and_tpu_operations() {
    for name in ["train_steps.xplane.pb", "data_loops.xplane.pb", "tpu_host_offload.xplane.pb"] {
        check(ridge_test::fixtures("xplane").join(name));
    }
}

#[test]
fn nsight_systems() {
    check(ridge_test::fixtures("nsys").join("old_schema.sqlite"));
    check(ridge_test::fixtures("nsys-jax").join("one_process.zip"));
}

#[test]
fn nvidia_and_amd_gpus() {
    for name in ["nvidia_like.xplane.pb", "mi300_gemm.xplane.pb"] {
        check(ridge_test::real("xplane").join(name));
    }
}
