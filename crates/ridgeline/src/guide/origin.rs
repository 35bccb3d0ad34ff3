//! What a capture was made of, as far as that decides which advice fits it.

use crate::kernels;
use crate::session::Session;
use ridge_analysis::Analysis;
use ridge_trace::EventKind;

/// What the program is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framework {
    /// JAX, or another that XLA compiles: there are modules, or can be.
    Xla,
    /// PyTorch, which runs operators one by one and leaves no module.
    Torch,
    /// The capture does not say.
    Unknown,
}

/// Where a capture is from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    pub(super) framework: Framework,
    /// Whether its GPUs are AMD's.
    pub(super) is_amd: bool,
    /// Whether Nsight Systems wrote it.
    pub(super) is_nsys: bool,
    /// Whether operators of a framework ran, and no device but the processor.
    pub(super) ran_on_the_host: bool,
}

impl Origin {
    pub(super) fn of(session: &Session, analysis: &Analysis<'_>) -> Origin {
        let formats = || session.imported().captures.iter().map(|capture| capture.format);
        let devices = || analysis.trace.devices.iter().filter(|device| !device.is_processor());
        Origin {
            framework: framework(session, analysis),
            is_amd: devices().any(is_amd),
            is_nsys: formats().any(|format| format == "nsys"),
            ran_on_the_host: has_operators(analysis) && devices().next().is_none(),
        }
    }
}

fn framework(session: &Session, analysis: &Analysis<'_>) -> Framework {
    let versions = session.manifest().and_then(|manifest| manifest.document.versions.as_ref());
    let has = |library: &str| versions.is_some_and(|versions| versions.contains_key(library));
    let formats = session.imported().captures.iter().map(|capture| capture.format);
    if !analysis.hlo.is_empty() {
        Framework::Xla
    } else if has_operators(analysis) || names_torch(analysis) {
        Framework::Torch
    } else if has("jax") || formats.into_iter().any(|format| matches!(format, "xplane" | "nsys-jax" | "hlo")) {
        Framework::Xla
    } else if has("torch") {
        Framework::Torch
    } else {
        Framework::Unknown
    }
}

fn has_operators(analysis: &Analysis<'_>) -> bool {
    analysis.trace.events.kind.contains(&(EventKind::Operator as u8))
}

/// Whether kernels are PyTorch's own, by the namespaces that its C++ gives them.
fn names_torch(analysis: &Analysis<'_>) -> bool {
    let launches = analysis.trace.profiles.launches.iter().map(|launch| analysis.text(launch.name));
    let is_its = |name: &str| name.contains("at::native::") || name.contains("c10::");
    kernels::times(analysis).iter().any(|(name, _)| is_its(name)) || launches.into_iter().any(is_its)
}

fn is_amd(device: &ridge_trace::Device) -> bool {
    let texts = [device.vendor.as_deref(), device.model.as_deref()];
    texts.into_iter().flatten().any(|text| ["AMD", "gfx", "Radeon", "Instinct"].iter().any(|word| text.contains(word)))
}
