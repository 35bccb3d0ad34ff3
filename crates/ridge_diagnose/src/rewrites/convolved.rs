//! Convolutions of one channel with so long a window that Fourier transforms cost less.

use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;

/// Elements of a window that is worth transforming.
const LONG: f64 = 128.0;
/// Operations of a transform for each point and each halving of its length.
const TRANSFORM: f64 = 5.0;
/// Transforms: of the signal, of the window, and back.
const TRANSFORMS: f64 = 3.0;
/// Multiples of their ends that lengths are taken to be, for one of small factors.
const PADDED: f64 = 1.2;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    site.module.instruction_ids().filter_map(|id| rewrite(site, id)).collect()
}

fn rewrite(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let convolution = site.instruction(id);
    if convolution.opcode != "convolution" {
        return None;
    }
    let [signal, kernel, ..] = convolution.operands[..] else { return None };
    let window = convolution.attributes().window.as_ref()?;
    let is_plain =
        window.dimensions.iter().all(|one| one.stride == 1 && one.window_dilation == 1 && one.base_dilation == 1);
    let taps: f64 = window.dimensions.iter().map(|one| one.size as f64).product();
    // One channel in and out: more of them are products of matrices.
    let is_single = (site.elements(kernel) - taps).abs() < 0.5;
    let carrier = site.ran(id).filter(|_| is_plain && is_single && taps >= LONG)?;
    let points = PADDED * (site.elements(signal).max(site.elements(id)) + taps);
    let better = Work {
        plain: TRANSFORMS * TRANSFORM * points * points.max(2.0).log2(),
        bytes: 4.0 * TRANSFORMS * points * 2.0 * site.width(id),
        ..Work::default()
    };
    Some(Rewrite {
        does: "goes to direct convolution with a long window",
        instead: "a convolution by Fourier transforms",
        why: "a direct convolution takes one multiplication per window element for each output element, a Fourier transform only about the logarithm of the length",
        help: "use `jax.scipy.signal.fftconvolve(x, kernel, mode=…)`, or split a separable kernel into one pass per dimension",
        at: id,
        old: vec![carrier],
        better: better.times(site.events(id)),
        slack: Slack::Alike,
    })
}
