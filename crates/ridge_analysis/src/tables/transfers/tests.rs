//! The tables of transfers on small traces.

use super::sections;
use crate::{Analysis, Ask, Ceiling, Ceilings, Limit, Prepared, Topic};
use expect_test::{Expect, expect};
use ridge_hlo::HloModule;
use ridge_table::Basis;
use ridge_test::{render, render_sections};

/// A link of 10 bytes per nanosecond both ways, and a memory of 100.
fn ceilings() -> Ceilings {
    let entry = |limit, value| Ceiling { limit, value, basis: Basis::Sheet, source: "a test".to_owned() };
    Ceilings {
        device: "gpu".to_owned(),
        entries: vec![entry(Limit::HostToDevice, 1e10), entry(Limit::DeviceToHost, 1e10), entry(Limit::Memory, 1e11)],
        cache_bytes: None,
        notes: Vec::new(),
    }
}

fn asked<T>(text: &str, hlo: &[&str], ask: impl FnOnce(&Analysis<'_>) -> T) -> T {
    let trace = ridge_test::trace(text);
    let hlo: Vec<HloModule> =
        hlo.iter().map(|text| HloModule::from_text(text).expect("HLO text of the test")).collect();
    let ceilings = vec![ceilings(); trace.devices.len()];
    let prepared = Prepared::with_ceilings(ceilings);
    let analysis = prepared.analysis(&trace, &hlo);
    ask(&analysis)
}

#[track_caller]
fn check(text: &str, by: &str, columns: &[&str], expected: Expect) {
    expected.assert_eq(&asked(text, &[], |analysis| {
        render(&analysis.table(Topic::Transfers, by).expect("a view"), columns)
    }));
}

/// Two steps that each bring in the same batch and read a loss back; weights go in once before.
const TRAINING: &str = "
    thread python
      0 +20 load annotation
        1 +10 cudaMemcpy launch id=1
      100 +100 train step=1
        101 +60 \"$train.py:9 step\" python
          105 +5 aten::copy_ operator
            106 +2 cudaMemcpyAsync launch id=2
          120 +2 cudaLaunchKernel launch id=3
          150 +5 cudaMemcpyAsync launch id=4
      200 +100 train step=2
        201 +60 \"$train.py:9 step\" python
          205 +5 aten::copy_ operator
            206 +2 cudaMemcpyAsync launch id=5
          220 +2 cudaLaunchKernel launch id=6
          250 +5 cudaMemcpyAsync launch id=7
    stream 1 on gpu
      130 +20 gemm op=dot.1 id=3
      230 +20 gemm op=dot.1 id=6
    stream 2 on gpu
      2 +8 MemcpyH2D h2d bytes=65536 id=1
      110 +30 MemcpyH2D h2d bytes=8192 id=2 async=1
      155 +5 MemcpyD2H d2h bytes=4 id=4
      210 +30 MemcpyH2D h2d bytes=8192 id=5 async=1
      255 +5 MemcpyD2H d2h bytes=4 id=7
      270 +4 Memset memset bytes=1024
      280 +10 MemcpyD2D d2d bytes=500";

#[test]
fn facts_over_all() {
    let text = asked(TRAINING, &[], |analysis| render_sections(&sections(analysis, &Ask::default())));
    expect![[r#"
        Transfers
          transfers            6
          bytes                82428
          total_ns             88
          bytes_per_sec        Real(936681818181.8182, BytesPerSec)
          copying_ns           88
          overlapped_ns        20  0.227
          exposed_ns           68  0.773
          tiny                 3  0.5
          synchronous          1  0.167
          again_bytes          8196  0.099
          memsets              1
          memsets_ns           4
          memset_bytes         1024
    "#]]
    .assert_eq(&text);
}

#[test]
fn directions_with_their_links() {
    check(
        TRAINING,
        "direction",
        &[
            "direction",
            "from",
            "to",
            "transfers",
            "bytes",
            "total_ns",
            "exposed_ns",
            "bytes_per_sec",
            "link_bytes_per_sec",
            "link_share",
            "median_bytes",
            "tiny",
            "synchronous",
        ],
        expect![[r#"
            direction         from    to      transfers  bytes  total_ns  exposed_ns  bytes_per_sec      link_bytes_per_sec  link_share  median_bytes  tiny  synchronous
            host to device    pinned  device  3          81920  68        48          1204705882352.941  10000000000         120.471     8192          0     1
            device to host    pinned  device  2          8      10        10          800000000          10000000000         0.08        4             2     0
            device to device  pinned  device  1          500    10        10          50000000000        50000000000         1           500           1     0
        "#]],
    );
}

#[test]
fn sizes_in_powers_of_two() {
    check(
        TRAINING,
        "size",
        &["direction", "from_bytes", "below_bytes", "transfers", "bytes", "total_ns"],
        expect![[r#"
            direction         from_bytes  below_bytes  transfers  bytes  total_ns
            host to device    8192        16384        2          16384  60
            host to device    65536       131072       1          65536  8
            device to host    4           8            2          8      10
            device to device  256         512          1          500    10
        "#]],
    );
}

#[test]
fn who_asked() {
    check(
        TRAINING,
        "cause",
        &["direction", "range", "source", "call", "around", "transfers", "bytes", "synchronous"],
        expect![[r#"
            direction         range  source            call             around            transfers  bytes  synchronous
            host to device    train  $train.py:9 step  cudaMemcpyAsync  aten::copy_       2          16384  0
            device to host    train  $train.py:9 step  cudaMemcpyAsync  $train.py:9 step  2          8      0
            device to device  -      -                 -                -                 1          500    0
            host to device    load   -                 cudaMemcpy       -                 1          65536  1
        "#]],
    );
}

#[test]
fn the_same_again_in_every_step() {
    check(
        TRAINING,
        "repeat",
        &["direction", "each_bytes", "range", "transfers", "again_bytes", "per_step"],
        expect![[r#"
            direction       each_bytes  range  transfers  again_bytes  per_step
            host to device  8192        train  2          8192         1
            device to host  4           train  2          4            1
            * with the same direction, size and cause; a capture doesn't show whether their content was the same
        "#]],
    );
}

#[test]
fn copies_that_never_leave_the_device() {
    let module = "HloModule m
        fused_transpose {
          p = f32[4,8] parameter(0)
          b = f32[8,4] bitcast(p)
          ROOT t = f32[4,8] transpose(b), dimensions={1,0}
        }
        fused_add {
          p = f32[4,8] parameter(0)
          t = f32[8,4] transpose(p), dimensions={1,0}
          ROOT a = f32[8,4] add(t, t)
        }
        ENTRY e {
          x = f32[4,8] parameter(0)
          c = f32[4,8] copy(x)
          tf = f32[4,8] fusion(c), kind=kLoop, calls=fused_transpose
          ROOT af = f32[8,4] fusion(tf), kind=kLoop, calls=fused_add
        }";
    let hlo = HloModule::from_text(module).expect("HLO text of the test");
    let at = |name: &str| hlo.instruction_named(name).expect("it is in the module").0;
    let text = format!(
        "module m 1 hlo=0
         stream 1 on gpu
           0 +10 copy_kernel op=c in=m at={}
           10 +30 transpose_kernel op=tf in=m at={}
           40 +30 add_kernel op=af in=m at={}
           70 +5 __amd_rocclr_copyBuffer.kd
           80 +20 MemcpyD2D d2d bytes=64",
        at("c"),
        at("tf"),
        at("af")
    );
    let found = asked(&text, &[module], |analysis| {
        render(
            &analysis.table(Topic::Transfers, "layout").expect("a view"),
            &["op", "module", "what", "self_ns", "self_share", "result_bytes"],
        )
    });
    expect![[r#"
        op                          module  what              self_ns  self_share  result_bytes
        tf                          m       transpose fusion  30       0.316       128
        MemcpyD2D                   -       device to device  20       0.211       -
        c                           m       copy              10       0.105       128
        __amd_rocclr_copyBuffer.kd  -       copy kernel       5        0.053       -
    "#]]
    .assert_eq(&found);
}

#[test]
fn nothing_was_copied() {
    check("stream 1 on gpu\n  0 +5 a", "repeat", &["direction"], expect![["direction\n"]]);
    check("", "cause", &["direction"], expect![["direction\n"]]);
}

#[test]
fn a_processor_says_why_nothing_is_copied() {
    let why = |text| {
        let sections = asked(text, &[], |analysis| render_sections(&sections(analysis, &Ask::default())));
        sections
            .lines()
            .find(|line| line.contains("why_none"))
            .map(|line| line.split_once("  a ").expect("words").1.to_owned())
    };
    let of_processor = why("lane 0 on /device:CPU:0\n  0 +10 dot.1 op=dot.1");
    let said = "CPU computes in the host's own memory: there is nothing to copy";
    assert_eq!(of_processor.as_deref(), Some(said));
    assert_eq!(why("stream 7 on /device:GPU:0\n  0 +10 gemm op=dot.1"), None);
}
