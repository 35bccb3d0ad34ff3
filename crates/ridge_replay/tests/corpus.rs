//! Real captures: the replay with own delays gives every fixture and every capture of the corpus back to the nanosecond,
//! and with class delays it comes as near as the prototype that its rules are from.

use ridge_import::{Imported, Source, import};
use ridge_replay::{Action, Edit, Options, Replay};
use ridge_test::{corpus, files, fixtures};
use ridge_trace::{EventKind, Trace};
use std::path::{Path, PathBuf};

fn open(path: &Path) -> Option<Imported> {
    let name = path.to_string_lossy();
    let bytes = std::fs::read(path).ok()?;
    import(&[Source { name: &name, bytes: &bytes }], None).ok()
}

/// Work rows at every third place, as an edit.
fn some_work(trace: &Trace, action: Action) -> Edit {
    let is_work = |row: &u32| EventKind::from_byte_is_work(trace.events.kind[*row as usize]);
    let rows = (0..trace.events.len() as u32).filter(is_work).step_by(3).collect();
    Edit { rows, action }
}

/// The unedited replay is exact, and taking work away lengthens nothing.
fn holds(path: &Path) -> bool {
    let Some(imported) = open(path) else { return false };
    let options = Options {
        most_rigid: 1.0,
        most_class_error: f64::MAX,
        fewest_steps: 0,
        most_unlinked: 1.0,
        ..Options::default()
    };
    let replay = Replay::new(&imported.trace, &options);
    assert_eq!(replay.baseline().own_error_ns, 0, "{}", path.display());
    for action in [Action::Drop, Action::Scale(0.5), Action::Asynchronous] {
        let saved = replay.apply(&[some_work(&imported.trace, action)]);
        assert!(saved.low_ns >= 0, "{}: {action:?} {saved:?}", path.display());
    }
    assert_eq!(replay.apply(&[]).high_ns, 0, "{}", path.display());
    !imported.trace.events.is_empty()
}

fn captures(folder: PathBuf) -> impl Iterator<Item = PathBuf> {
    [".json", ".json.gz", ".sqlite", ".pb", ".zip"].into_iter().flat_map(move |suffix| files(&folder, suffix))
}

#[test]
fn fixtures_come_back_to_the_nanosecond() {
    let real = ["real/kineto", "real/kineto/v100_dlrm_8rank", "real/xplane", "real/nsys"];
    let replayed = ["chrome", "xplane", "nsys", "nsys-jax"].into_iter().chain(real);
    let replayed: Vec<usize> =
        replayed.map(|format| captures(fixtures(format)).filter(|path| holds(path)).count()).collect();
    assert!(replayed.iter().all(|count| *count > 0), "{replayed:?}");
}

#[test]
fn the_corpus_comes_back_to_the_nanosecond() {
    for format in ["kineto", "xplane", "nsys", "kineto/v100_dlrm_8rank"] {
        let Some(folder) = corpus("the_corpus_comes_back_to_the_nanosecond", format) else { return };
        let folder = captures(folder).filter(|path| !path.to_string_lossy().ends_with(".golden.json"));
        assert!(folder.filter(|path| holds(path)).count() > 0, "{format}");
    }
}

/// What the replay of a capture says, beside what the prototype in Python said of the same capture.
struct Expected {
    folder: &'static str,
    file: &'static str,
    wall_ms: f64,
    /// Error with class delays, percent: ours and the prototype's.
    class_error_pct: (f64, f64),
    /// Rigid share, percent: ours and the prototype's.
    rigid_pct: (f64, f64),
}

const fn row(
    folder: &'static str,
    file: &'static str,
    wall_ms: f64,
    class_error_pct: (f64, f64),
    rigid_pct: (f64, f64),
) -> Expected {
    Expected { folder, file, wall_ms, class_error_pct, rigid_pct }
}

/// A marked step counts from its mark here, from its first call there, so some walls are longer; `block_until_ready` of the
/// attention capture is a wait here.
const TABLE: [Expected; 12] = [
    row("kineto", "a100_ddp_2rank_nccl_rank0.json.gz", 684.4, (0.0, 0.0), (12.0, 12.0)),
    row("kineto", "b200_vllm_eager.json.gz", 87.4, (-0.05, -0.04), (0.0, 0.0)),
    row("kineto", "h100_qwen15_0.5b_infer.json.gz", 49.7, (-0.36, -0.35), (5.0, 5.0)),
    row("kineto", "mi300_resnet_act_ckpt_train.json.gz", 86.6, (-0.07, 0.26), (26.0, 26.0)),
    row("kineto", "mi300_sglang_decode_hipgraph.json.gz", 473.8, (-97.7, -97.8), (98.0, 98.0)),
    row("kineto", "mi300_torch_compile_triton.json.gz", 12.7, (0.0, 0.09), (0.0, 0.0)),
    row("kineto", "v100_resnet50_dataloader_nw0.pt.trace.json.gz", 1065.6, (-0.03, -1.6), (1.0, 4.0)),
    row("kineto/v100_dlrm_8rank", "rank0.json.gz", 14.5, (0.03, -6.5), (11.0, 8.0)),
    row("nsys", "h100_2gpu_1s.sqlite", 969.4, (-0.09, -0.08), (1.0, 1.0)),
    row("xplane", "mi300_gemm.xplane.pb", 9.5, (-0.04, 0.0), (2.0, 0.0)),
    row("xplane", "mi300_te_fused_attn.xplane.pb", 13.1, (-0.02, -10.8), (1.0, 12.0)),
    row("xplane", "nvidia_tf_multi_worker.xplane.pb", 953.4, (0.0, 0.0), (59.0, 57.0)),
];

#[test]
fn unchanged_captures_replay_as_the_prototype_said() {
    for expected in TABLE {
        // Some are among the fixtures; the others are in the corpus alone.
        let ours = fixtures("real").join(expected.folder).join(expected.file);
        let there = || corpus("unchanged_captures_replay_as_the_prototype_said", expected.folder);
        let Some(path) = Some(ours).filter(|path| path.is_file()).or_else(|| Some(there()?.join(expected.file))) else {
            continue;
        };
        let imported = open(&path).expect("an intact capture");
        let replay = Replay::new(&imported.trace, &Options::default());
        let found = replay.baseline();
        check(found.wall_ns as f64 / 1e6, expected.wall_ms, 0.1, expected.file);
        check(100.0 * found.class_error, expected.class_error_pct.0, 0.1, expected.file);
        check(100.0 * found.rigid_share, expected.rigid_pct.0, 1.0, expected.file);
        // Never much worse than the prototype.
        let worse = (100.0 * found.class_error).abs() - expected.class_error_pct.1.abs();
        assert!(worse <= 0.5, "{}: {worse}", expected.file);
        assert!((expected.rigid_pct.0 - expected.rigid_pct.1) <= 5.0, "{}", expected.file);
    }
}

#[track_caller]
fn check(found: f64, expected: f64, within: f64, file: &str) {
    assert!((found - expected).abs() <= within, "{file}: {found} for {expected}");
}

/// A published pair of captures: one program, the second with a loader that takes 45.0 ms of a step rather than 70.8 ms.
/// Its steps fell from 176.5 to 151.7 ms; the prototype said 150.2.
#[test]
fn a_faster_loader_saves_about_what_it_saved() {
    let Some(folder) = corpus("a_faster_loader_saves_about_what_it_saved", "kineto") else { return };
    let imported = open(&folder.join("v100_resnet50_dataloader_nw0.pt.trace.json.gz")).expect("an intact capture");
    let trace = &imported.trace;
    let loads = |row: &u32| trace.name(*row as usize).starts_with("enumerate(DataLoader)");
    let rows: Vec<u32> = (0..trace.events.len() as u32).filter(loads).collect();
    let replay = Replay::new(trace, &Options::default());
    let found = replay.apply(&[Edit { rows, action: Action::HostScale(45.0 / 70.8) }]);
    let step = found.per_step.expect("steps are marked");
    check(step.captured_ns as f64 / 1e6, 176.5, 0.1, "captured");
    check(step.low_ns as f64 / 1e6, 25.4, 0.2, "at least");
    check(step.high_ns as f64 / 1e6, 27.2, 0.2, "at most");
}
