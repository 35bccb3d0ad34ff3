//! What a CSV reader gets.

mod common;

use common::{no_kernels, operations};
use expect_test::expect;
use ridge_report::Listing;
use ridge_report::csv::table;

#[test]
fn raw_values_under_keys() {
    expect![[r#"
        op,total_ns,share,count,category,median_ns,bytes,rate,async
        jit(recon)/jit(main)/while/body/cone_beam_projector/scatter-add/very_long_fusion_name.412,14344140,0.92,40,fusion,358603,1073741824,3350000000000,true
        三角形の投影 größe,912000,0.059,1204,loop fusion,757,9007199254740993,,false
        evil\x1b[2J\nname,999,0.000064,1,,999,,,
        dot.1,,,0,dot,,17,12,false
    "#]].assert_eq(&table(&Listing::whole(operations())));
}

#[test]
fn an_empty_table_has_its_header() {
    expect![[r#"
        kernel,total_ns
    "#]]
    .assert_eq(&table(&Listing::whole(no_kernels())));
}
