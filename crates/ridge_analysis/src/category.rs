//! What kind of work a group is, in the words XLA's users know.

use crate::{Analysis, Group};
use ridge_trace::{EventKind, StringId};
use std::borrow::Cow;

/// The category of a group: the instruction's where it is known, else what the kernel's name says.
pub(crate) fn of<'a>(analysis: &Analysis<'a>, group: &Group) -> Cow<'a, str> {
    match group.kind {
        EventKind::Kernel | EventKind::DeviceOp => {}
        other => return Cow::Borrowed(other.name()),
    }
    if let Some((module, instruction)) = analysis.instruction(group.op) {
        return module.category(instruction);
    }
    Cow::Borrowed(kernel_category(analysis.text(StringId(group.name))))
}

/// What a kernel's name alone says of its work; libraries put it there.
pub fn kernel_category(name: &str) -> &'static str {
    const WORDS: [(&str, &[&str]); 9] = [
        ("collective", &["nccl", "rccl"]),
        ("copy kernel", &["__amd_rocclr_copy", "memcpy", "CopyKernel"]),
        ("memset kernel", &["__amd_rocclr_fill", "memset"]),
        ("attention", &["flash", "fmha", "sdpa", "attention"]),
        ("convolution", &["conv", "Im2Col", "Im3d2Col", "wgrad", "dgrad", "fprop", "winograd"]),
        ("matrix product", &["gemm", "Cijk_", "nvjet", "cutlass", "gemv", "dot_", "matmul"]),
        ("sort", &["RadixSort", "MergeSort", "radix_sort", "sort"]),
        ("reduction", &["reduce", "Reduce"]),
        ("random numbers", &["Philox", "philox", "threefry", "rng"]),
    ];
    let found = WORDS.iter().find(|(_, words)| words.iter().any(|word| name.contains(word)));
    found.map_or("kernel, unknown", |(category, _)| category)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_name_their_work() {
        for (name, category) in [
            ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "collective"),
            ("__amd_rocclr_copyBuffer.kd", "copy kernel"),
            ("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16", "attention"),
            ("Im3d2Col.kd", "convolution"),
            ("nvjet_tst_128x256_64x4_1x2_h_bz_coopB_TNT", "matrix product"),
            ("void cub::DeviceRadixSortOnesweepKernel<float>", "sort"),
            ("loop_add_kernel", "kernel, unknown"),
        ] {
            assert_eq!(kernel_category(name), category, "{name}");
        }
    }
}
