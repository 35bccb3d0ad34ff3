//! The formats: one file each, listed here.

pub use crate::format::Format;

use crate::packed::Packed;
use crate::source::{HEAD_BYTES, Source};

mod chrome;
mod graph_annotations;
mod hlo_dump;
mod inductor;
mod memory_timeline;
mod monitor;
mod ncu;
mod nsys;
mod nsys_jax;
mod perfetto;
mod pprof;
mod rocprof;
mod torch_snapshot;
mod xplane;

pub(crate) use hlo_dump::module;
pub(crate) use inductor::tell_kernels;

/// Every format, in the order the formats page lists them.
pub static FORMATS: &[&dyn Format] = &[
    &xplane::XPlane,
    &chrome::Chrome,
    &perfetto::Perfetto,
    &hlo_dump::HloDump,
    &nsys::Nsys,
    &nsys_jax::NsysJax,
    &ncu::Ncu,
    &rocprof::Rocprof,
    &pprof::Pprof,
    &torch_snapshot::TorchSnapshot,
    &memory_timeline::MemoryTimeline,
    &graph_annotations::GraphAnnotations,
    &inductor::InductorFiles,
    &monitor::Monitor,
];

/// The format whose content `bytes` begins with, compressed or not.
pub fn sniff(bytes: &[u8]) -> Option<&'static dyn Format> {
    let packed = || Packed::of(Source { name: "", bytes }, None);
    sniff_plain(bytes).or_else(|| sniff_plain(&packed()?.head(HEAD_BYTES)))
}

/// The format of which a folder with files of these names, paths inside it, is one capture.
pub fn sniff_folder(names: &[&str]) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.is_folder(names))
}

pub(crate) fn sniff_plain(bytes: &[u8]) -> Option<&'static dyn Format> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    FORMATS.iter().copied().find(|format| format.sniff(head))
}
