//! `ridgeline export --to pgle`.

mod run;

use expect_test::expect;
use run::run;
use std::path::Path;

fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name).display().to_string()
}

#[test]
fn instructions_have_their_mean_time_under_the_fingerprint_of_their_module() {
    let ran = run(&["export", &fixture("real/xplane/nvidia_like.xplane.pb"), "--to", "pgle", "-o", "-"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    expect![[r#"
        costs { name: "20b15bb4d22509627544b0d7babedd30::custom-call.1" cost_us: 50.000 }
        costs { name: "20b15bb4d22509627544b0d7babedd30::gemm_fusion_dot" cost_us: 50.000 }
        costs { name: "20b15bb4d22509627544b0d7babedd30::gemm_fusion_dot.1" cost_us: 50.000 }
        costs { name: "20b15bb4d22509627544b0d7babedd30::gemm_fusion_dot.3" cost_us: 50.000 }
        costs { name: "20b15bb4d22509627544b0d7babedd30::gemm_fusion_dot.6" cost_us: 50.000 }
        costs { name: "20b15bb4d22509627544b0d7babedd30::gemm_fusion_dot.7" cost_us: 50.000 }"#]]
    .assert_eq(&ran.stdout.lines().take(6).collect::<Vec<_>>().join("\n"));
    let stats = run(&["stats", &fixture("real/xplane/nvidia_like.xplane.pb"), "--by", "op", "-f", "csv"]).stdout;
    for line in ran.stdout.lines() {
        let (name, cost) = line.split_once(" cost_us: ").expect("a cost");
        let name = name.split_once("::").map_or(name, |(_, name)| name).trim_end_matches('"');
        let cost: f64 = cost.trim_end_matches(" }").parse().expect("a number");
        assert!(cost > 0.0 && stats.contains(name), "{line}");
    }
}

#[test]
fn modules_of_processors_are_refused() {
    let ran = run(&["export", &fixture("nsys/two_processes.sqlite"), "--to", "pgle", "-o", "-"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.contains("fingerprint"), "{}", ran.stderr);
}
