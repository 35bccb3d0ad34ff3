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
    // The first that matches: the specific stand before what their template arguments also mention.
    const WORDS: [(&str, &[&str]); 15] = [
        (
            "collective",
            &["nccl", "rccl", "all_reduce", "allreduce", "all_gather", "reduce_scatter", "cross_device_reduce"],
        ),
        ("copy kernel", &["__amd_rocclr_copy", "memcpy", "CopyKernel", "direct_copy_kernel", "CatArrayBatchedCopy"]),
        ("memset kernel", &["__amd_rocclr_fill", "memset", "FillFunctor"]),
        ("attention", &["flash", "fmha", "sdpa", "attention"]),
        (
            "normalization",
            &["batch_norm", "batchnorm", "bn_fw", "bn_bw", "layer_norm", "LayerNorm", "RMSNorm", "rms_norm"],
        ),
        ("softmax", &["softmax", "SoftMax", "Softmax"]),
        ("convolution", &["conv", "Im2Col", "Im3d2Col", "wgrad", "dgrad", "fprop", "winograd", "scudnn"]),
        ("matrix product", &["gemm", "Cijk_", "nvjet", "cutlass", "gemv", "dot_", "matmul"]),
        ("sort", &["RadixSort", "MergeSort", "radix_sort", "sort", "TopK", "topk"]),
        ("optimizer", &["multi_tensor_apply", "FusedAdam", "adam"]),
        ("random numbers", &["Philox", "philox", "threefry", "rng", "distribution_elementwise"]),
        ("indexing", &["index", "gather", "scatter", "embedding"]),
        ("pooling", &["pool"]),
        ("reduction", &["reduce", "Reduce", "triton_red_", "triton_per_"]),
        ("elementwise", &["elementwise", "triton_poi_"]),
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
            ("void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>", "elementwise"),
            ("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>", "reduction"),
            ("void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>", "normalization"),
            ("volta_scudnn_128x64_relu_interior_nn_v1", "convolution"),
            ("triton_poi_fused_add_relu_0", "elementwise"),
            ("loop_add_kernel", "kernel, unknown"),
        ] {
            assert_eq!(kernel_category(name), category, "{name}");
        }
    }
}
