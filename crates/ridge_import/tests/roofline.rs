//! Rooflines of real captures.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and take the time")]

use expect_test::{Expect, expect};
use ridge_analysis::{Analysis, Prepared, Topic};
use ridge_import::{Source, import};
use ridge_test::{real, real_files, render};
use std::path::Path;

/// Made from a schema: every kernel takes 50 µs, whatever its work, so that many are faster than any device.
const SYNTHETIC: &str = "nvidia_like";

fn analyzed<T>(path: &Path, ask: impl FnOnce(&Analysis<'_>) -> T) -> T {
    let bytes = std::fs::read(path).expect("a real capture");
    let name = path.display().to_string();
    let imported = import(&[Source { name: &name, bytes: &bytes }], None).expect("an intact capture");
    ask(&Prepared::with_sheets(&imported.trace).analysis(&imported.trace, &imported.hlo))
}

#[track_caller]
fn check(capture: &str, by: &str, columns: &[&str], expected: Expect) {
    let path = real("xplane").join(format!("{capture}.xplane.pb"));
    analyzed(&path, |analysis| {
        expected.assert_eq(&render(&analysis.table(Topic::Roofline, by).expect("a view").top(8), columns))
    });
}

#[test]
fn a_convolution_of_two_kernels_has_the_rate_of_its_executions() {
    // 32 715 571 200 operations in each of 40 executions, 12 547 696 ns: 104 292 GFLOP/s, not twice that.
    check(
        "mi300_conv_08",
        "op",
        &["op", "self_ns", "flops", "flops_per_sec", "bytes_per_sec", "intensity", "bound", "headroom", "roof"],
        expect![[r#"
            op                        self_ns   flops          flops_per_sec        bytes_per_sec      intensity  bound    headroom  roof
            input_transpose_fusion    14344140  0              0                    3190302827496.106  0          memory   1.661     -
            cudnn-conv.1              12547696  1308622848000  104291883386400.156  1845986705447.757  56.497     memory   2.867     bf16.matrix
            (unattributed)            563521    -              -                    -                  -          unknown  -         -
            input_transpose_fusion.1  488200    0              0                    1047072511265.875  0          launch   12.205    -
            loop_transpose_fusion     193520    0              0                    270921868540.719   0          launch   4.838     -
            * the work of 2.1% of the time is unknown: kernels of no known operation (2.0%), parts of executions that are counted elsewhere (0.1%)
            * AMD Instinct MI300X: the capture reports 2.66 TB/s of memory bandwidth, the data sheet 5.3 TB/s; the data sheet is used
        "#]],
    );
}

#[test]
fn library_products_and_attention_have_their_work() {
    let columns = ["op", "self_ns", "flops_per_sec", "intensity", "xla_intensity", "bound", "headroom", "roof"];
    check(
        "mi300_gemm",
        "op",
        &columns,
        expect![[r#"
            op                 self_ns  flops_per_sec        intensity  xla_intensity  bound    headroom  roof
            custom-call.1      1833003  899762543576851.625  2048       1579.181       compute  1.453     bf16.matrix
            custom-call.1      552961   745652695969516.75   780.19     630.154        compute  1.753     bf16.matrix
            custom-call.1      449280   917728054700854.625  1365.333   819.2          compute  1.425     bf16.matrix
            custom-call.1      352280   585211849120018.125  910.222    481.882        compute  2.234     bf16.matrix
            (unattributed)     60240    -                    -          -              unknown  -         -
            custom-call.1      31360    205435297959183.656  341.333    204.8          compute  6.364     bf16.matrix
            wrapped_broadcast  29600    0                    0          0              memory   7.586     -
            copy.1             27640    0                    0          0              launch   2.303     -
            * the work of 1.7% of the time is unknown: kernels of no known operation (1.7%)
            * AMD Instinct MI300X: the capture reports 2.66 TB/s of memory bandwidth, the data sheet 5.3 TB/s; the data sheet is used
            * 8 of 17 rows shown
        "#]],
    );
    check(
        "mi300_te_fused_attn",
        "op",
        &columns,
        expect![[r#"
            op                             self_ns  flops_per_sec        intensity  xla_intensity  bound    headroom  roof
            te_fused_attn_backward_ffi.18  2330620  185004183951051.625  641.247    512.399        compute  12.853    bf16.matrix
            te_fused_attn_backward_ffi.12  2315140  186241199754658.438  641.247    512.399        compute  12.767    bf16.matrix
            te_fused_attn_forward_ffi.10   1069529  162198887024101.25   514.988    514.988        compute  13.55     bf16.matrix
            te_fused_attn_forward_ffi.15   1026290  169032547759405.219  514.988    514.988        compute  13.002    bf16.matrix
            gemm_fusion_dot                857328   601165569676949.75   423.724    512            compute  4.186     bf16.matrix
            gemm_fusion_dot.3              855927   602149570605904.5    423.724    512            compute  4.179     bf16.matrix
            gemm_fusion_dot.6              835887   616585825021803.125  384        512            compute  4.082     bf16.matrix
            gemm_fusion_dot.7              593445   868481620908424.5    472.615    512            compute  2.898     bf16.matrix
            * AMD Instinct MI355X: the capture reports 4.1 TB/s of memory bandwidth, the data sheet 8 TB/s; the data sheet is used
            * 8 of 20 rows shown
        "#]],
    );
}

#[test]
fn no_operation_is_faster_than_its_roof() {
    let real =
        real_files("xplane", ".xplane.pb").into_iter().filter(|path| !path.to_string_lossy().contains(SYNTHETIC));
    let mut known = 0;
    for path in real {
        for by in ["op", "kernel", "module"] {
            analyzed(&path, |analysis| {
                let table = analysis.table(Topic::Roofline, by).expect("a view");
                if table.batch.column_by_name("headroom").is_none() {
                    return;
                }
                let text = render(&table, &["headroom"]);
                for headroom in text.lines().filter_map(|line| line.trim().parse::<f64>().ok()) {
                    known += 1;
                    assert!(headroom >= 1.0, "{} {}: {headroom}", path.display(), by);
                }
            });
        }
    }
    assert!(known > 50, "{known} headrooms in all");
}
