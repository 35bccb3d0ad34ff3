//! Names of regions in recordings of one program at two sizes, where XLA compiles it in two ways.

use expect_test::{Expect, expect};
use ridgeline::{OpenOptions, Session};
use std::collections::BTreeSet;
use std::path::Path;

/// Every region of an operation of MBIRJAX at one size, the longest first.
fn names(operation: &str, size: u32) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mbirjax");
    let path = folder.join(format!("{operation}_{size}.xplane.pb.gz"));
    let session = Session::open(&[path], &OpenOptions::default()).expect("a capture");
    session.region_names()
}

/// What the regions are called at 32³ and at 64³: in both, and in one alone.
#[track_caller]
fn check(operation: &str, expected: Expect) {
    let (small, large) = (names(operation, 32), names(operation, 64));
    let unique = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
    let (one, other) = (unique(&small), unique(&large));
    assert_eq!((one.len(), other.len()), (small.len(), large.len()), "no two regions have one name");
    assert_eq!(small[0], large[0], "the longest region");
    let list = |title: &str, names: &mut dyn Iterator<Item = &String>| -> String {
        std::iter::once(format!("{title}\n")).chain(names.map(|name| format!("  {name}\n"))).collect()
    };
    let told = [
        list("both", &mut one.intersection(&other)),
        list("32 alone", &mut one.difference(&other)),
        list("64 alone", &mut other.difference(&one)),
    ];
    expected.assert_eq(&told.concat());
}

#[test]
fn the_median_filter_has_the_same_regions_at_both_sizes() {
    check(
        "median_filter3d",
        expect![[r#"
        both
          filter_one_block:646 sort
          jit__pad: copy
          jit_iota: copy
          jit_reshape: copy
          median_filter3d:619 concatenate
        32 alone
        64 alone
    "#]],
    );
}

#[test]
fn back_projection_has_the_same_regions_at_both_sizes() {
    check(
        "parallel_back_project",
        expect![[r#"
        both
          _jit_compute_scatter_centers:185 gather
          _sharded_back_project_setup:2023 add
          _sharded_back_project_setup:2023 iota
          _sharded_back_project_setup:2023 mul
          _sparse_back_project:920 gather
          back_project:1459 gt
          back_project:1459 lt
          back_project:1459 select_n
          jit_convert_element_type: copy
          jit_divmod: select_n
          jit_squeeze: copy
          jit_stage: copy
        32 alone
        64 alone
    "#]],
    );
}

#[test]
fn forward_projection_has_the_same_regions_at_both_sizes() {
    check(
        "parallel_forward_project",
        expect![[r#"
        both
          _jit_compute_scatter_centers:185 gather
          dictcomp:1580 iota
          get_voxels_at_indices:2706 add
          get_voxels_at_indices:2706 gather
          get_voxels_at_indices:2706 lt
          get_voxels_at_indices:2706 select_n
          horizontal_fan_project:266 scatter-add
          jit__broadcast_arrays: copy
          jit_broadcast_in_dim: copy
          jit_broadcast_in_dim: copy #2
          jit_reshape: copy
          jit_squeeze: copy
          jit_stage: copy
        32 alone
        64 alone
    "#]],
    );
}
