//! What GitHub renders.

mod common;

use common::full_report;
use expect_test::expect;
use ridge_report::markdown::render;

#[test]
fn a_full_report() {
    expect![[r#"
        > **lost:** events could not be read (host.xplane.pb, byte 1,204, 3 times)

        > **partial:** 37 events carry no operation

        ### GPU 0, H200

        | | | share |
        |---|---:|---:|
        | Wall time | 24.1 ms |  |
        | Device busy | 14.3 ms | 59.5% |
        | Idle | 9.77 ms | 40.5% |
        | Copies | 3.1 µs | \<0.1% |
        | Kernels | 5,979,302 |  |
        | Peak memory | 1.08 GiB |  |
        | Intensity | 0.25 |  |

        ### Versions

        | | | share |
        |---|---:|---:|
        | jax | 0.10.2 |  |
        | XLA\_FLAGS | --xla\_gpu\_enable\_command\_buffer= --xla\_dump\_to=/tmp/dump --xla\_gpu\_autotune\_level=4 --xla\_dump\_hlo\_as\_text |  |

        ### Operations

        | Operation | Total | Share | Count | Category | Median | Bytes | Bandwidth | Async |
        |---|---:|---:|---:|---|---:|---:|---:|---|
        | jit(recon)/jit(main)/while/body/cone\_beam\_projector/scatter-add/very\_long\_fusion\_name.412 | 14.3 ms | 92.0% | 40 | fusion | 359 µs | 1 GiB | 3.35 TB/s | yes |
        | 三角形の投影 größe | 912 µs | 5.9% | 1,204 | loop fusion | 757 ns | 8,192 TiB | – | no |
        | evil\\x1b\[2J\\nname | 999 ns | \<0.1% | 1 | – | 999 ns | – | – | – |

        3 of 4 rows shown

        ### Kernels

        | Kernel | Total |
        |---|---:|

        > **info:** clocks of 2 hosts were aligned by their first collective
    "#]].assert_eq(&render(&full_report()));
}
