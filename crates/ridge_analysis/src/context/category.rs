//! What kind of work a group is, in the words XLA's users know.
//!
//! An instruction says it itself. A kernel's name says it where a library or a compiler put it there; where it does
//! not, the framework's operator does. Mangled names hold the same words as readable ones, so none is demangled.

use crate::{Analysis, Group};
use aho_corasick::AhoCorasick;
use ridge_trace::{EventKind, StringId};
use std::borrow::Cow;
use std::sync::LazyLock;

/// What a kernel is whose name says nothing.
const UNKNOWN: &str = "kernel, unknown";

/// What is said of work of several kinds.
const MIXED: &str = "mixed";

/// A row of several kinds is said to be of one where it has at least this share of the time.
const NEARLY_ALL: f64 = 0.9;

impl<'a> Analysis<'a> {
    /// What kind of work a group is.
    pub fn category_of(&self, group: &Group) -> Cow<'a, str> {
        of(self, group)
    }
}

/// The category of a group: the instruction's where it is known, else what the kernel's name says, else the operator's.
pub(crate) fn of<'a>(analysis: &Analysis<'a>, group: &Group) -> Cow<'a, str> {
    match group.kind {
        EventKind::Kernel | EventKind::DeviceOp => {}
        other => return Cow::Borrowed(other.name()),
    }
    if let Some((module, instruction)) = analysis.instruction(group.op) {
        let category = module.category(instruction);
        let target = module.instruction(instruction).custom_call_target.as_deref();
        // A call to a library is what the library does.
        return match target.filter(|_| category == "custom-call").map(kernel_category) {
            Some(known) if known != UNKNOWN => Cow::Borrowed(known),
            _ => category,
        };
    }
    let by_name = kernel_category(analysis.text(StringId(group.name)));
    let operator = || analysis.operation(group.op).map(|operation| analysis.text(operation.name));
    Cow::Borrowed(match by_name {
        UNKNOWN => operator().map_or(UNKNOWN, operator_category),
        known => known,
    })
}

/// The category of groups together: the one that nearly all of their time has, else *mixed*; `None` without groups.
pub(crate) fn of_all<'a>(analysis: &Analysis<'a>, groups: &[&Group]) -> Option<Cow<'a, str>> {
    let mut sums: Vec<(Cow<'a, str>, i64)> = Vec::new();
    for group in groups {
        let category = of(analysis, group);
        match sums.iter_mut().find(|(known, _)| *known == category) {
            Some((_, sum)) => *sum = sum.saturating_add(group.self_ns),
            None => sums.push((category, group.self_ns)),
        }
    }
    let all = sums.iter().fold(0_i64, |all, (_, sum)| all.saturating_add(*sum));
    let (category, most) = sums.into_iter().rev().max_by_key(|(_, sum)| *sum)?;
    Some(if most as f64 >= NEARLY_ALL * all as f64 { category } else { Cow::Borrowed(MIXED) })
}

/// What a collective's name has; whatever else it mentions.
const COLLECTIVES: &str = "nccl rccl gloo: all_reduce allreduce all-reduce all_gather allgather all-gather reduce_scatter \
     reducescatter reduce-scatter all_to_all alltoall all-to-all collective-permute cross_device_reduce multimem_ nvshmem";

/// What a name is that has one of these words, in lower case. The first line that matches counts: what is
/// specific stands before what its arguments also mention.
const WORDS: [(&str, &str); 28] = [
    ("collective", COLLECTIVES),
    ("indexing", "kv_indices kv_indptr page_indices"),
    ("cache update", "reshape_and_cache store_kv set_kv_buffer concat_and_cache paged_kv_cache_append appendpagedkv"),
    ("copy kernel", "rocclr_copy memcpy copykernel copy_kernel catarraybatchedcopy recat_copy copydevice"),
    ("memset kernel", "rocclr_fill memset fillfunctor fillbuffer"),
    ("rotary embedding", "rotary rope_ _rope"),
    ("embedding", "embedding split_eb_ pooled_embs bounds_check_indices"),
    (
        "normalization",
        "batch_norm batchnorm bn_fw bn_bw layer_norm layernorm ln_fwd ln_bwd rmsnorm rms_norm groupnorm \
         group_norm instancenorm instance_norm gammabetabackward rowwisemoments gradgammabeta fusedparamscuda \
         internalgradientscuda",
    ),
    (
        "expert routing",
        "moe::dev::routing moe::dev::finalize _routing_ moe_align topkgating moe_sorting moesorting \
         grouped_topk expandinputrows finalizemoe",
    ),
    ("matrix product", "fused_moe ck_moe moe_gemm moegemm gemm_a8w8 gemm_a4w4"),
    ("attention", "fmha sdpa flash_fwd flash_bwd flash:: attn_fwd attn_bwd paged_attention unified_attention"),
    ("quantization", "quant fp8rowwise fp8_qparam"),
    (
        "attention",
        "flash_ flashatt _flash attention attn sage_fwd mha_fwd mha_bwd mla_ batchprefill batchdecode \
         _fwd_grouped_kernel_stage _fwd_kernel_stage",
    ),
    ("softmax", "softmax"),
    (
        "convolution",
        "im2col im2d2col im3d2col col2im wgrad dgrad fprop winograd scudnn igemm_fwd igemm_bwd igemm_wrw \
         bwd_weight bwd_data cask_cudnn fft2d_ miopensp3 implicitgemm implicit_gemm",
    ),
    (
        "matrix product",
        "gemm cijk_ nvjet cutlass gemv dot_ matmul bmm_ splitk xdlops epilogue::impl triton_tem_fused_mm \
         triton_tem_fused_addmm triton_tem_fused_bmm",
    ),
    ("sort", "sort topk top_k onesweep"),
    ("fast Fourier transform", "_fft fft_"),
    ("optimizer", "multi_tensor_apply fusedadam adamw adamfunctor"),
    ("random numbers", "philox threefry rng distribution_ curand dropout"),
    ("loss", "nll_loss nllcriterion crossentropy cross_entropy bce_with_logits"),
    ("data formatting", "transpose nchwtonhwc nhwctonchw permute bucketize_sparse"),
    ("resampling", "upsample interpolate"),
    ("indexing", "index indices gather scatter token_ids clamp_position"),
    ("pooling", "pool"),
    ("reduction", "reduce argmax argmin"),
    ("scan", "scan cumsum cumprod"),
    ("elementwise", "elementwise pointwise act_and_mul silu gelu swiglu scalepackedtensor subtensorop optensor"),
];

/// Finds all words of [`WORDS`] in one pass over a name: there are two hundred, and as many names as a capture has kernels.
struct Lines {
    words: AhoCorasick,
    /// The line of [`WORDS`] that a word stands in.
    line: Vec<usize>,
}

static LINES: LazyLock<Lines> = LazyLock::new(|| {
    let (line, words): (Vec<usize>, Vec<&str>) =
        WORDS.iter().enumerate().flat_map(|(line, (_, words))| words.split(' ').map(move |word| (line, word))).unzip();
    // Only a pattern of gigabytes is refused.
    Lines { words: AhoCorasick::new(words).expect("words of a constant"), line }
});

impl Lines {
    /// The first line that has a word in `name`.
    fn first_in(&self, name: &str) -> Option<usize> {
        self.words.find_overlapping_iter(name).map(|found| self.line[found.pattern().as_usize()]).min()
    }
}

/// What a kernel's name alone says of its work; libraries put it there.
pub fn kernel_category(name: &str) -> &'static str {
    // MTIA's kernels are called as their operators, with the type of what they compute behind.
    if let Some((operator, _)) = name.split_once("-dtype_") {
        return operator_category(operator);
    }
    // On a processor, PyTorch's operators are the work themselves.
    if name.starts_with("aten::") {
        return operator_category(name);
    }
    let name = name.to_ascii_lowercase();
    // Inductor names a kernel after all that it fused, and before that says what kind of loop it is.
    if name.starts_with("triton_poi_") {
        return "elementwise";
    }
    let is_inductor_reduction = name.starts_with("triton_red_") || name.starts_with("triton_per_");
    let convolution = || WORDS.iter().position(|(category, _)| *category == "convolution").filter(|_| convolves(&name));
    let first = LINES.first_in(&name).into_iter().chain(convolution()).min();
    match first.map_or(UNKNOWN, |line| WORDS[line].0) {
        known @ ("normalization" | "softmax") => known,
        _ if is_inductor_reduction => "reduction",
        known => known,
    }
}

/// Whether [`kernel_category`] says that the kernel moves between devices.
pub(crate) fn is_collective(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_inductors = ["triton_poi_", "triton_red_", "triton_per_"].iter().any(|start| name.starts_with(start));
    !is_inductors && COLLECTIVES.split(' ').any(|word| name.contains(word))
}

/// Whether a name speaks of convolutions rather than conversions.
fn convolves(name: &str) -> bool {
    name.match_indices("conv").any(|(at, _)| !["convert", "conversion"].iter().any(|word| name[at..].starts_with(word)))
}

/// What a framework's operator says of the kernels that it launched: `aten::mul`, TensorFlow's `bert/layer_0/einsum/Cast_4`.
fn operator_category(operator: &str) -> &'static str {
    let name = operator.rsplit([':', '/']).next().unwrap_or(operator).to_ascii_lowercase();
    // PyTorch's without their overloads: `aten::mul.out`, `aten::gt.Tensor_out`. XLA's `add.3` is a name like any other.
    let name = if operator.contains("::") { name.split('.').next().unwrap_or_default() } else { &name };
    let name = name.trim_end_matches(|letter: char| letter.is_ascii_digit()).trim_end_matches('_');
    match name {
        // `fc` is Caffe2's fully connected layer.
        "mm" | "addmm" | "bmm" | "baddbmm" | "linear" | "einsum" | "addbmm" | "mv" | "dot" | "fc" => "matrix product",
        "copy" | "to" | "clone" | "contiguous" | "cat" | "stack" => "copy kernel",
        "fill" | "zero" | "zeros" | "ones" | "full" => "memset kernel",
        "sum"
        | "mean"
        | "max"
        | "min"
        | "amax"
        | "amin"
        | "any"
        | "all"
        | "norm"
        | "prod"
        | "var"
        | "std"
        | "vector_norm"
        | "vector_norm_float_order"
        | "min_dim_min"
        | "max_dim_max" => "reduction",
        "add"
        | "sub"
        | "mul"
        | "div"
        | "neg"
        | "exp"
        | "log"
        | "sqrt"
        | "rsqrt"
        | "pow"
        | "tanh"
        | "sigmoid"
        | "relu"
        | "where"
        | "clamp"
        | "eq"
        | "ne"
        | "lt"
        | "le"
        | "gt"
        | "ge"
        | "abs"
        | "masked_fill"
        | "threshold_backward"
        | "cast"
        | "realdiv"
        | "truediv"
        | "biasadd"
        | "addv"
        | "greaterequal"
        | "select"
        | "selectv"
        | "squareddifference"
        | "divide"
        | "log2"
        | "clip"
        | "nan_to_num"
        | "sigmoid_backward"
        | "customized_fba_mul_const" => "elementwise",
        _ if name.starts_with("_foreach") => "optimizer",
        // What it is a part of may say more: `batch_norm/gamma/Assign`.
        _ => match kernel_category(name) {
            UNKNOWN if !operator.starts_with("aten::") => kernel_category(operator),
            known => known,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names as captures have them, some cut after what matters.
    #[test]
    fn libraries_name_their_work() {
        for (category, names) in [
            (
                "collective",
                &[
                    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
                    "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)",
                    "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
                    "void vllm::cross_device_reduce_1stage<c10::BFloat16, 8>(RankData*)",
                    "all-reduce.3",
                ][..],
            ),
            (
                "copy kernel",
                &[
                    "__amd_rocclr_copyBuffer.kd",
                    "void at::native::elementwise_kernel<128, 4, at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)>",
                    "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 2, 64, 64>",
                    "void recat_copy_async_kernel<float>(long const*, long const*, float const*, float*, long, long, long)",
                ],
            ),
            (
                "cache update",
                &[
                    "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, unsigned char, (vllm::Fp8KVCacheDataType)1>",
                    "void (anonymous namespace)::store_kvcache<2048l, 4, false, long>((anonymous namespace)::StoreKVCacheParams)",
                ],
            ),
            (
                "memset kernel",
                &[
                    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>",
                    "__amd_rocclr_fillBufferAligned.kd",
                ],
            ),
            (
                "rotary embedding",
                &[
                    "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*)",
                    "_rope_kernel",
                ],
            ),
            (
                "normalization",
                &[
                    "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>",
                    "MIOpenBatchNormFwdTrainSpatial.kd",
                    "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64ELi8ELb0ELb0ELb1ELi1EEEvPT0_PT_PfS4_S4_S4_diiiiiiib",
                    "_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassINS_27Rmsnorm2dFwdPipelineProblem",
                    "void (anonymous namespace)::groupnorm_kernel_dispatch_down<__hip_bfloat16, 1024u>",
                    "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel<float, float>",
                    "triton_red_fused_add_addmm_mul_native_layer_norm_split_unsqueeze_20",
                ],
            ),
            (
                "expert routing",
                &[
                    "void moe::dev::routing::routingIndicesHistogramKernel<moe::dev::routing::KernelParams>",
                    "void moe::dev::finalize::finalizeKernelVecLoad<moe::dev::finalize::KernelParams<cutlass::bfloat16_t>>",
                ],
            ),
            (
                "quantization",
                &[
                    "void tensorrt_llm::kernels::quantize_with_block_size<(tensorrt_llm::BlockScaleQuantizationType)2>",
                    "void vllm::scaled_fp8_quant_kernel_strided<c10::BFloat16, c10::Float8_e4m3fn>",
                    "quantize_fp4_flashinfer_kernel",
                    "sage_quant_kernel",
                    "void fbgemm_gpu::(anonymous namespace)::_FP8rowwise_to_float_cuda_kernel<float>",
                ],
            ),
            (
                "attention",
                &[
                    "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16",
                    "attn_fwd.kd",
                    "sage_fwd",
                    "_ZN7ck_tile6kentryILi2ENS_38FmhaBatchPrefillWithPagedKVCacheKernelINS_40BlockFmhaBatchPrefillPipeline",
                    "fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext",
                    "void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16, __hip_bfloat16>",
                    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4>>",
                    "aiter::fmha_fwd_hd128_bf16_rtz",
                    "te_fused_attn_forward_ffi",
                ],
            ),
            ("softmax", &["void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float>"]),
            (
                "convolution",
                &[
                    "Im3d2Col.kd",
                    "volta_scudnn_128x64_relu_interior_nn_v1",
                    "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_ws1x1_wr2x2",
                    "igemm_wrw_gtcx3_nhwc_bf16_bx0_ex1_bt64x64x64_wt32x32x8",
                    "void fft2d_c2r_32x32<float, false, false, 0u, false, false>(float*, float2 const*)",
                    "void implicit_convolve_sgemm<float, float, 1024, 6, 7, 3, 3, 5, 1, false, true, true>",
                    "_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS1_11threadblock22ImplicitGemm",
                    "_ZN2ck16tensor_operation6device37kernel_batched_gemm_xdlops_bwd_weightINS_47GridwiseGemm_bk0mk1_bk0nk1",
                    "cask_cudnn::computeOffsetsKernel(cask_cudnn::ComputeOffsetsParams)",
                    "__cudnn$convForward",
                ],
            ),
            (
                "matrix product",
                &[
                    "nvjet_tst_128x256_64x4_1x2_h_bz_coopB_TNT",
                    "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1.kd",
                    "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_16dp256b_rM_TN",
                    "fused_moe_kernel",
                    "_ZN5aiter8ck_moe_stage1_gemmE",
                    "_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1_swiglu",
                    "void epilogue::impl::globalKernel<float, float, float, true, true>(int, int, long, float*)",
                    "void splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float>",
                    "__cublas$gemm",
                ],
            ),
            (
                "sort",
                &["void cub::DeviceRadixSortOnesweepKernel<float>", "void at::native::bitonicSortKVInPlace<2, -1, 16>"],
            ),
            ("fast Fourier transform", &["void vector_fft<256u, EPT<16u>, 1u, float>"]),
            ("optimizer", &["void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, float>"]),
            ("random numbers", &["cu_threefry2x32"]),
            (
                "embedding",
                &[
                    "void split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel_cta_per_row_1<c10::Half, float>",
                    "void permute_pooled_embs_kernel<float>(float const*, long const*)",
                ],
            ),
            ("loss", &["void at::native::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>"]),
            (
                "data formatting",
                &[
                    "batched_transpose_16x32_half",
                    "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (cudnnKernelDataType_t)2>",
                    "transpose_CNHW2NCHW_V2_2D_WG_off64",
                ],
            ),
            (
                "indexing",
                &["create_flashinfer_kv_indices_triton", "void at::native::vectorized_gather_kernel<16, long>"],
            ),
            ("resampling", &["void at::native::(anonymous namespace)::upsample_nearest2d_out_frame<c10::BFloat16>"]),
            ("pooling", &["void at::native::(anonymous namespace)::max_pool_backward_nchw<float, float>"]),
            ("scan", &["void cub::DeviceScanKernel<cub::DeviceScanPolicy<int>::Policy600, int*, int*>"]),
            (
                "reduction",
                &[
                    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>",
                    "triton_red_fused_abs_amax_transpose_view_32",
                ],
            ),
            (
                "elementwise",
                &[
                    "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>",
                    "triton_poi_fused__scaled_dot_product_flash_attention_cat_transpose_view_10",
                    "_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5_EEEEvPS3_PS4_i",
                    "SubTensorOpWithScalar1d",
                ],
            ),
            ("matrix product", &["fc-dtype_Float", "batch_matmul-dtype_Float"]),
            (
                "reduction",
                &["vector_norm_float_order-dtype_Float", "reduce_sum-dtype_Double", "max_dim_max-dtype_Long"],
            ),
            ("embedding", &["split_eb_bwd_rowwise_adagrad-dtype_Half", "bounds_check_indices-dtype_Long"]),
            ("normalization", &["layer_norm_backward-dtype_Float", "native_layer_norm-dtype_Float"]),
            ("loss", &["bce_with_logits-dtype_Float"]),
            ("copy kernel", &["aten::cat.out-dtype_Float-extraKey_15"]),
            (
                "elementwise",
                &[
                    "aten::mul.out-dtype_Float",
                    "customized_fba_mul_const-dtype_Float",
                    "aten::gt.Tensor_out-dtype_Bool",
                ],
            ),
            ("data formatting", &["permute_2d_sparse_data-dtype_Int"]),
            (UNKNOWN, &["loop_add_kernel", "wrapped_convert", "triton__0d1d2d3d4d5d", "pe_exe", "merge"]),
        ] {
            for name in names {
                assert_eq!(kernel_category(name), category, "{name}");
                assert_eq!(is_collective(name), category == "collective", "{name}");
            }
        }
    }

    #[test]
    fn operators_name_what_their_kernels_do_not() {
        for (operator, category) in [
            ("aten::addmm", "matrix product"),
            ("aten::copy_", "copy kernel"),
            ("replica_4/bert_span_labeler/bert_encoder_1/transformer/layer_0/output/einsum/Einsum/Cast", "elementwise"),
            ("gradient_tape/truediv_2", "elementwise"),
            ("replica_6/transformer/layer_13/self_attention/dropout_3/dropout/GreaterEqual", "elementwise"),
            ("replica_6/transformer/dropout_3/AddV2", "elementwise"),
            ("replica_6/batch_norm/gamma/Assign", "normalization"),
            ("aten::_foreach_add_", "optimizer"),
            ("aten::miopen_convolution", "convolution"),
            ("aten::_scaled_dot_product_flash_attention", "attention"),
            ("my_extension::run", UNKNOWN),
        ] {
            assert_eq!(operator_category(operator), category, "{operator}");
        }
    }
}
