//! What multiplies matrices in a kernel, as the names of libraries say it for certain.

use crate::case::{Case, Work};
use crate::finding::Finding;
use crate::words::list;
use ridge_table::Subject;
use ridge_trace::Device;

/// What a kernel of matrix products or convolutions computes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Product {
    /// 32-bit numbers in ordinary arithmetic.
    PlainF32,
    /// 16-bit numbers in ordinary arithmetic.
    PlainHalf,
    /// Units for matrix products.
    Matrix,
}

/// Words of kernels that use units for matrix products: instructions and the families that are built on them.
const MATRIX: [&str; 22] = [
    "nvjet",
    "gmma",
    "wgmma",
    "tensorop",
    "tf32",
    "s884",
    "h884",
    "i8816",
    "s1688",
    "h1688",
    "s16816",
    "h16816",
    "s161616",
    "h161616",
    "s168",
    "wmma",
    "imma",
    "hmma",
    "xmma_gemm_bf16",
    "xmma_gemm_f16",
    "mfma",
    "tcgen05",
];

/// Words of kernels that multiply 32-bit numbers in ordinary arithmetic: cuBLAS, CUTLASS, cuDNN, MAGMA. The last two are
/// the gradients of convolutions by cuDNN's oldest engines, which are templates over the type of the numbers.
const PLAIN_F32: [&str; 7] = [
    "_sgemm",
    "simt_sgemm",
    "_scudnn",
    "convolve_sgemm",
    "gemm_f32f32_f32f32_f32",
    "dgrad_engine<float",
    "wgrad_alg0_engine<float",
];

/// The same of 16-bit numbers.
const PLAIN_HALF: [&str; 2] = ["simt_hgemm", "volta_hgemm"];

/// Whether a device is none of AMD's, whose capability has the same numbers and another meaning.
pub(crate) fn is_nvidia(device: &Device) -> bool {
    let said = [&device.vendor, &device.model].map(|text| text.as_deref().unwrap_or_default().to_ascii_lowercase());
    !["amd", "advanced micro", "gfx", "instinct", "radeon"]
        .iter()
        .any(|word| said.iter().any(|text| text.contains(word)))
}

/// Below this part of the time products are not worth a change of types, sizes or precision.
const LEAST: f64 = 0.02;
/// The part that goes: sheets say seven eighths, memory and small sizes leave more.
const GONE: f32 = 0.5;

/// Products in ordinary arithmetic that tensor cores could do, most time first.
#[derive(Debug)]
pub(crate) struct Plain<'a> {
    /// The work.
    pub(crate) works: Vec<Work<'a>>,
    /// Their time, nanoseconds.
    pub(crate) ns: i64,
}

impl<'a> Plain<'a> {
    /// The work that `is_plain`; `None` where it is too little to speak of.
    pub(crate) fn of(case: &Case<'a>, is_plain: impl Fn(&Work<'a>) -> bool) -> Option<Plain<'a>> {
        let mut works: Vec<Work<'a>> = case.work().filter(|work| is_plain(work)).collect();
        works.sort_by_key(|work| std::cmp::Reverse(work.row.ns));
        let ns = works.iter().fold(0_i64, |sum, work| sum.saturating_add(work.row.ns));
        (!works.is_empty() && case.share(ns) >= LEAST).then_some(Plain { works, ns })
    }

    /// A finding that says `message` of them.
    pub(crate) fn finding(&self, case: &Case<'a>, message: String) -> Finding {
        let longest = self.works.first();
        Finding::new(message)
            .at(longest.and_then(|work| case.line_of(work)))
            .about(longest.and_then(|work| work.row.example).map(Subject::Event))
            .claims(self.works.iter().map(|work| (work.at, GONE)))
    }

    /// Where most of the time is.
    pub(crate) fn most_in(&self) -> String {
        let names: Vec<&str> = self.works.iter().map(|work| work.name).collect();
        format!("most of it in {}", list(&names, 2))
    }
}

/// What `name` says; `None` where it leaves a doubt.
pub(crate) fn product(name: &str) -> Option<Product> {
    let name = name.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if name.starts_with("cijk_") || name.contains(" cijk_") {
        // Tensile writes the matrix instruction into the name, and the types before it.
        let is_half = ["_hbh", "_bbs", "_hhs", "_hsh", "_bss", "_hss"].iter().any(|types| name.contains(types));
        return match () {
            () if name.contains("_mi16x16") || name.contains("_mi32x32") || name.contains("_mi4x4") => {
                Some(Product::Matrix)
            }
            () if is_half && name.contains("_mt") => Some(Product::PlainHalf),
            () => None,
        };
    }
    match () {
        () if has(&MATRIX) => Some(Product::Matrix),
        () if has(&PLAIN_HALF) => Some(Product::PlainHalf),
        () if has(&PLAIN_F32) => Some(Product::PlainF32),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names as captures have them.
    #[test]
    fn names_say_what_multiplies() {
        for (name, expected) in [
            ("ampere_sgemm_128x64_tn", Some(Product::PlainF32)),
            ("void cutlass::Kernel<cutlass_80_simt_sgemm_128x128_8x5_nn_align1>", Some(Product::PlainF32)),
            ("volta_scudnn_128x64_relu_interior_nn_v1", Some(Product::PlainF32)),
            (
                "void implicit_convolve_sgemm<float, float, 1024, 6, 7, 3, 3, 5, 1, false, true, true>",
                Some(Product::PlainF32),
            ),
            ("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3", Some(Product::PlainF32)),
            ("void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, true>(int, int)", Some(Product::PlainF32)),
            (
                "void cudnn::detail::wgrad_alg0_engine<float, 128, 6, 8, 3, 3, 5, true, 512>(int)",
                Some(Product::PlainF32),
            ),
            ("void cudnn::detail::dgrad_engine<__half, 512, 6, 5, 3, 3, 3, true>(int, int)", None),
            (
                "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16_stage4_warpsize2x2x1_tensor16x8x8",
                Some(Product::Matrix),
            ),
            ("ampere_sgemm_tf32_128x64", Some(Product::Matrix)),
            ("cutlass_80_tensorop_s1688gemm_128x128_32x3_nt_align4", Some(Product::Matrix)),
            ("volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", Some(Product::Matrix)),
            ("nvjet_tst_128x256_64x4_1x2_h_bz_coopB_TNT", Some(Product::Matrix)),
            ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_gmma", Some(Product::Matrix)),
            ("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1.kd", Some(Product::Matrix)),
            ("Cijk_Ailk_Bljk_SB_MT32x32x8_SE", None),
            ("void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4>", None),
            ("triton_tem_fused_mm_3", None),
        ] {
            assert_eq!(product(name), expected, "{name}");
        }
    }
}
