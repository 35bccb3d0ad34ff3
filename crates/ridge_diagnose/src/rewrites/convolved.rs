//! Convolutions that cost less in another form: of one channel with so long a window that Fourier transforms do, and of each channel by
//! itself, which processors have no fast code for.

use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;

/// Groups of one channel, and elements of a window to add one after the other.
const MANY_GROUPS: f64 = 8.0;
const SHORT: f64 = 64.0;
/// Elements of a window that is worth transforming.
const LONG: f64 = 128.0;
/// Operations of a transform for each point and each halving of its length.
const TRANSFORM: f64 = 5.0;
/// Transforms: of the signal, of the window, and back.
const TRANSFORMS: f64 = 3.0;
/// Multiples of their ends that lengths are taken to be, for one of small factors.
const PADDED: f64 = 1.2;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let all = site.module.instruction_ids().filter(|id| site.instruction(*id).opcode == "convolution");
    all.filter_map(|id| long(site, id).or_else(|| grouped(site, id))).collect()
}

/// A convolution of each channel by itself, on a processor.
fn grouped(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let convolution = site.instruction(id);
    let [signal, kernel, ..] = convolution.operands[..] else { return None };
    let window = convolution.attributes().window.as_ref()?;
    let taps: f64 = window.dimensions.iter().map(|one| one.size as f64).product();
    let groups = convolution.attributes().feature_group_count as f64;
    // One product for each tap and element.
    let is_each = groups >= MANY_GROUPS && (site.elements(kernel) - taps * groups).abs() < 0.5;
    let carrier = site.ran(id).filter(|_| site.case.is_on_processors() && is_each && taps <= SHORT)?;
    let better = Work {
        plain: 2.0 * taps * site.elements(id),
        bytes: 3.0 * (site.elements(signal) + site.elements(id)) * site.width(id),
        ..Work::default()
    };
    Some(Rewrite {
        does: "goes to convolving each channel by itself (depthwise, `feature_group_count`), which is slow on a CPU",
        instead: "a sum of shifted arrays",
        why: "XLA's CPU convolutions run each group separately and don't vectorize over channels, far below the rate of other convolutions",
        help: "for small windows, pad once and add shifted slices: `sum(x[:, i:i + h, j:j + w, :] * k[i, j] for i in range(m) for j in range(m))`, which fuses into one loop over all channels; or use a dense convolution if there are few channels",
        at: id,
        old: vec![carrier],
        better: better.times(site.events(id)),
        slack: Slack::Little,
    })
}

/// A convolution of one channel with a long window.
fn long(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let convolution = site.instruction(id);
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
