//! Fourier transforms of real numbers that are done as transforms of complex ones.

use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::{ElementType, InstructionId};

/// A transform of real numbers has half of the points: the others are their conjugates.
const HALF: f64 = 0.5;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    site.module.instruction_ids().filter_map(|id| rewrite(site, id)).collect()
}

fn rewrite(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let transform = site.instruction(id);
    let is_complex = transform.opcode == "fft"
        && matches!(transform.attributes().fft_type.as_deref(), Some("FFT" | "IFFT"))
        && (is_of_real(site, *transform.operands.first()?) || is_read_as_real(site, id));
    let carrier = site.ran(id).filter(|_| is_complex)?;
    let better = Work::of(site.cost(carrier)?)?.times(HALF * site.program.events(carrier) as f64);
    Some(Rewrite {
        does: "goes to transforming real numbers as if they were complex",
        instead: "a transform of real numbers",
        why: "half of a real signal's spectrum is the conjugate of the other half, but the program computes and stores both halves",
        help: "use `jnp.fft.rfft` and `jnp.fft.irfft` (`rfft2`, `rfftn`) with half of the filter, instead of `fft` and the real part of `ifft`",
        at: id,
        old: vec![carrier],
        better,
        slack: Slack::Alike,
    })
}

/// Whether what is transformed was real before its type was changed.
fn is_of_real(site: &Site<'_, '_>, operand: InstructionId) -> bool {
    matches!(site.number(site.flow.content(operand)), ElementType::F32 | ElementType::F64)
}

/// Whether nothing but the real part of a transform is read.
fn is_read_as_real(site: &Site<'_, '_>, id: InstructionId) -> bool {
    let readers = site.flow.readers(id).unwrap_or_default();
    !readers.is_empty() && readers.iter().all(|reader| site.instruction(*reader).opcode == "real")
}
