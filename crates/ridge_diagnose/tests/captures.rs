//! Real captures: what their rules say first, which say nothing, and that claims never add to more than there is.

use ridge_analysis::Prepared;
use ridge_diagnose::{Case, Diagnosis, Known, Level, Selection, State, diagnose};
use ridge_import::{Source, import};
use ridge_test::{corpus, every_capture, real};
use std::path::{Path, PathBuf};

/// What the rules say of the captures at `paths`, read as one; `None` where they are none.
fn check(paths: &[PathBuf]) -> Option<Diagnosis> {
    let files: Vec<(String, Vec<u8>)> =
        paths.iter().filter_map(|path| Some((path.display().to_string(), std::fs::read(path).ok()?))).collect();
    let sources: Vec<Source<'_>> = files.iter().map(|(name, bytes)| Source { name, bytes }).collect();
    let imported = import(&sources, None).ok()?;
    let prepared = Prepared::with_sheets(&imported.trace);
    let known = Known::default();
    let case = Case { analysis: prepared.analysis(&imported.trace, &imported.hlo), known: &known };
    Some(diagnose(&case, &Selection::default()))
}

fn causes(found: &Diagnosis) -> Vec<&'static str> {
    found.causes().map(|finding| finding.rule).collect()
}

#[track_caller]
fn first_cause(path: &Path, expected: &str) {
    let found = check(&[path.to_path_buf()]).expect("a capture");
    assert_eq!(causes(&found).first(), Some(&expected), "{}: {:?}", path.display(), causes(&found));
}

#[test]
fn claims_never_add_to_more_than_there_is() {
    let mut read = 0;
    for path in every_capture() {
        let Some(found) = check(std::slice::from_ref(&path)) else { continue };
        read += 1;
        assert!((0.0..=1.000_001).contains(&found.held_share), "{}: {}", path.display(), found.held_share);
        for finding in &found.findings {
            assert!((0.0..=1.000_001).contains(&finding.share), "{}: {}", path.display(), finding.message);
            assert!(!finding.message.is_empty() && !finding.message.ends_with('.'), "{}", finding.message);
            let Some(saving) = &finding.saving else { continue };
            assert!(0 <= saving.low_ns && saving.low_ns <= saving.high_ns, "{}: {saving:?}", path.display());
            assert!(saving.share_high <= 1.000_001, "{}: {saving:?}", path.display());
        }
    }
    assert!(read > 20, "only {read} captures were read");
}

#[test]
fn real_captures_have_their_main_cause_first() {
    let kineto = real("kineto");
    first_cause(&kineto.join("mi300_sglang_decode_hipgraph.json.gz"), "unexplained-wait");
    first_cause(&real("nsys").join("h100_2gpu.sqlite"), "weights-streamed");
    // Elementwise kernels, copies and sums have more than half of its time, each launched by an operator of its own.
    first_cause(&kineto.join("h100_qwen15_0.5b_infer.json.gz"), "unfused-eager");
    let healthy = check(&[kineto.join("mi300_torch_compile_triton.json.gz")]).expect("a capture");
    assert_eq!(causes(&healthy), <[&str; 0]>::default());
    let of_host = check(&[kineto.join("cpu_mlp_3steps.json.gz")]).expect("a capture");
    assert_ne!(of_host.state, State::CannotJudge, "operators on its threads are a processor's work");
}

/// Programs whose cause is known, on a processor: it comes first, or nothing is claimed.
#[test]
fn programs_of_pytorch_on_a_processor_have_their_cause_first() {
    let first = |name: &'static str| {
        let found = check(&[real("torch_cpu").join(format!("{name}.json.gz"))]).expect("a capture");
        assert_ne!(found.state, State::CannotJudge, "{name}");
        let mut loud = found.causes().filter(|finding| finding.level != Level::Info);
        (name, loud.next().map(|finding| finding.rule))
    };
    let found = ["mlp_loader", "cnn", "transformer", "lstm", "compiled"].map(first);
    let expected = [
        ("mlp_loader", Some("data-loading")),
        ("cnn", None),
        ("transformer", None),
        // A cell is called for one element of a sequence after the other.
        ("lstm", Some("small-calls-in-loop")),
        ("compiled", None),
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_slow_rank_of_a_set_is_named() {
    let folder = real("kineto").join("v100_dlrm_8rank");
    let ranks = ridge_test::files(&folder, ".json.gz");
    let found = check(&ranks).expect("a set of ranks");
    let first = found.causes().next().expect("a cause");
    assert_eq!(first.rule, "straggler", "{:?}", causes(&found));
    assert!(first.message.contains("rank 7"), "{}", first.message);
}

/// The healthy pipelines that nsys-ai labels (its `tests/eval/labels`): no idle time of theirs may be called a cause.
#[test]
fn one_percent_of_idle_time_is_no_cause() {
    for (kernels, ns, gap) in [(400_i64, 1_000_000, 10_000), (20, 200_000_000, 2_000_000)] {
        let work = (0..kernels).map(|at| format!("  {} +{ns} gemm id={at}\n", at * (ns + gap) + 20_000));
        let calls = (0..kernels).map(|at| format!("  {} +5000 cudaLaunchKernel launch id={at}\n", at * (ns + gap)));
        let text = format!("thread python\n{}stream 7 on gpu\n{}", calls.collect::<String>(), work.collect::<String>());
        let trace = ridge_test::trace(&text);
        let prepared = Prepared::with_sheets(&trace);
        let known = Known::default();
        let case = Case { analysis: prepared.analysis(&trace, &[]), known: &known };
        let found = diagnose(&case, &Selection::default());
        assert_eq!(causes(&found), <[&str; 0]>::default(), "{kernels}");
    }
}

#[test]
fn captures_of_the_corpus_have_their_main_cause_first() {
    let Some(kineto) = corpus("captures_of_the_corpus_have_their_main_cause_first", "kineto") else { return };
    first_cause(&kineto.join("v100_resnet50_dataloader_nw0.pt.trace.json.gz"), "data-loading");
    first_cause(&kineto.join("b200_vllm_eager.json.gz"), "host-bound-dispatch");
    first_cause(&kineto.join("mi300_resnet_act_ckpt_train.json.gz"), "exposed-collectives");
    // Its host launches so slowly that the device waits three quarters of the time; the exchange comes second.
    first_cause(&kineto.join("a100_ddp_2rank_nccl_rank0.json.gz"), "host-bound-dispatch");
    let ddp = check(&[kineto.join("a100_ddp_2rank_nccl_rank0.json.gz")]).expect("a capture");
    assert!(causes(&ddp).contains(&"exposed-collectives"), "{:?}", causes(&ddp));
    let Some(nsys) = corpus("captures_of_the_corpus_have_their_main_cause_first", "nsys") else { return };
    first_cause(&nsys.join("h100_2gpu_1s.sqlite"), "weights-streamed");
}
