//! What of a program is its backward pass, as JAX names operations.

use super::site::{Product, Site};
use ridge_hlo::InstructionId;
use rustc_hash::FxHashMap;

/// Whether an instruction is part of a backward pass.
pub(super) fn goes_back(site: &Site<'_, '_>, id: InstructionId) -> bool {
    site.module.op_name_in_fusion(id).contains("transpose(")
}

/// A layer: its scope, without the operation, and the extents of its products, which are the same three in both passes.
type Layer = (String, [u64; 3]);

/// The products of the backward pass that belong to those of `old`, with the part of them that is needed.
pub(super) fn gradients(site: &Site<'_, '_>, old: &[(InstructionId, f64)]) -> Vec<(InstructionId, f64)> {
    let ran = |product: Product| Some((site.ran(product.at)?, product));
    let products: FxHashMap<InstructionId, Product> = site.products().into_iter().filter_map(ran).collect();
    let known = |(id, part): &(InstructionId, f64)| Some((layer(site, products.get(id)?)?, *part));
    let layers: FxHashMap<Layer, f64> = old.iter().filter_map(known).collect();
    let back = products.iter().filter(|(_, product)| goes_back(site, product.at));
    let mut found: Vec<(InstructionId, f64)> =
        back.filter_map(|(carrier, product)| Some((*carrier, *layers.get(&layer(site, product)?)?))).collect();
    found.sort_unstable_by_key(|(id, _)| *id);
    found
}

fn layer(site: &Site<'_, '_>, product: &Product) -> Option<Layer> {
    let name = site.module.op_name_in_fusion(product.at);
    let (scope, _) = name.rsplit_once('/')?;
    let mut extents = [product.m, product.n, product.k].map(|extent| extent as u64);
    extents.sort_unstable();
    Some((scope.replace("transpose(", "").replace("jvp(", "").replace(')', ""), extents))
}
