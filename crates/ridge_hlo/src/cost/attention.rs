//! Fused attention: XLA's calls to cuDNN and those of Transformer Engine.
//!
//! Scores are queries times keys and the output is scores times values: two products over all pairs of positions. The
//! backward pass makes five: the scores again, and the gradients of values, scores, queries and keys (Dao,
//! "FlashAttention-2", arXiv 2307.08691, section 3.2). Under a causal mask half of the pairs are worked on, which is how
//! that paper counts; others report the whole.

use serde_json::Value;

use super::work::times;
use super::{Assumption, Cost, Costing, OpKind, sizes};
use crate::{BackendConfig, ElementType, Instruction};

/// What attention works on.
struct Attention {
    /// Pairs of positions over batch and heads.
    pairs: f64,
    /// Extent of a query and a key.
    key_extent: f64,
    /// Extent of a value.
    value_extent: f64,
    is_causal: bool,
}

/// Which pass it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    Forward,
    Backward,
}

/// Whether a target is fused attention.
pub(super) fn is_attention(target: &str) -> bool {
    target.starts_with("__cudnn$fmha") || target.starts_with("te_fused_attn_")
}

impl Costing<'_> {
    /// Fused attention, either pass.
    pub(super) fn attention(&self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        let target = instruction.custom_call_target.as_deref()?.to_ascii_lowercase();
        let pass = if target.contains("backward") { Pass::Backward } else { Pass::Forward };
        let first = self.operand_shape(instruction, 0)?;
        let attention = match target.starts_with("te_") {
            true => transformer_engine(&instruction.backend_config)?,
            false => cudnn(&instruction.backend_config, sizes::elements(first))?,
        };
        attention.add_to(cost, pass, first.element_type);
        Some(())
    }
}

impl Attention {
    fn add_to(&self, cost: &mut Cost, pass: Pass, element_type: ElementType) {
        let pairs = if self.is_causal { self.pairs / 2.0 } else { self.pairs };
        if self.is_causal {
            cost.assumptions.add(Assumption::CausalMask);
        }
        let (with_keys, with_values) = if pass == Pass::Forward { (1.0, 1.0) } else { (3.0, 2.0) };
        let per_pair = with_keys * self.key_extent + with_values * self.value_extent;
        cost.work.add_matrix(element_type, times(pairs, per_pair));
        // The softmax: a scaling, a maximum, a difference, an exponential and a sum, in single precision.
        let single = ElementType::F32;
        cost.work.add(OpKind::Multiply, single, pairs);
        cost.work.add(OpKind::Add, single, pairs);
        cost.work.add(OpKind::Transcendental, single, pairs);
        match pass {
            Pass::Forward => {
                cost.work.add(OpKind::Compare, single, pairs);
                cost.work.add(OpKind::Add, single, pairs);
            }
            // The gradient of a score: the score times the difference of two numbers.
            Pass::Backward => {
                cost.work.add(OpKind::Multiply, single, pairs);
                cost.work.add(OpKind::Add, single, pairs);
            }
        }
    }
}

/// Transformer Engine says all in the attributes of its calls (`transformer_engine/jax/csrc/extensions/attention.cpp`).
fn transformer_engine(config: &BackendConfig) -> Option<Attention> {
    let number = |key: &str| config.attribute(key)?.split(':').next()?.trim().parse::<f64>().ok().filter(|n| *n >= 0.0);
    let head_extent = number("qk_head_dim").or_else(|| number("head_dim"));
    let pairs = [number("input_batch")?, number("attn_heads")?, number("q_max_seqlen")?, number("kv_max_seqlen")?];
    Some(Attention {
        pairs: pairs.into_iter().fold(1.0, times),
        key_extent: head_extent?,
        value_extent: number("v_head_dim").or(head_extent)?,
        // NVTE_Mask_Type: 0 none, 1 padding, 2 causal, 3 padding causal, 4 and 5 the same aligned at the end.
        is_causal: number("mask_type")? >= 2.0,
    })
}

/// XLA's calls say the shape of the scores; the extent of a head follows from the queries, the first operand.
fn cudnn(config: &BackendConfig, query_elements: f64) -> Option<Attention> {
    let config = config.value("/cudnn_fmha_backend_config")?;
    let dimensions = config.pointer("/intermediate_tensor_shape/dimensions")?.as_array()?;
    let extent = |value: &Value| value.as_f64().or_else(|| value.as_str()?.parse().ok()).filter(|n: &f64| *n >= 0.0);
    let extents: Vec<f64> = dimensions.iter().map(extent).collect::<Option<_>>()?;
    let [batch, heads, queries, keys] = extents[..] else { return None };
    let head_extent = query_elements / times(times(batch, heads), queries).max(1.0);
    let mask = config.get("mask_type").and_then(Value::as_str).unwrap_or_default();
    Some(Attention {
        pairs: [batch, heads, queries, keys].into_iter().fold(1.0, times),
        key_extent: head_extent,
        value_extent: head_extent,
        is_causal: mask.contains("CAUSAL"),
    })
}
