//! What was copied, how fast, whether anything ran meanwhile, and who asked for it.
//!
//! [`Transfers`] walks each device's work once, in order of start, and keeps of every copy its row and how much of it
//! was covered by compute of the same device; tables group those. Copies that a program does on the device itself, and
//! changes of layout inside modules, are listed beside them.

mod asked;
mod layouts;
mod overlap;
mod rows;
mod sums;

use crate::device::sheet_of;
use crate::device::{Ceilings, Limit};
use crate::{Analysis, Shared};
pub use asked::Asked;
pub use layouts::{MoveKey, Moves};
use overlap::copies_of;
pub use overlap::{Copied, DeviceCopies};
use rayon::prelude::*;
use ridge_table::Basis;
use ridge_trace::{DeviceRow, EventKind, Trace};
pub use rows::{AskedRow, DirectionRow, RepeatRow, SizeRow};
pub use sums::Sum;

/// Transfers of at most this many bytes are tiny: one page of memory, less than any link needs to reach its rate.
pub(crate) const TINY_BYTES: u64 = 4096;

/// Bytes per second that the links of one device can move, where they are known.
#[derive(Debug, Clone, Copy, Default)]
struct Links {
    to_device: Option<f64>,
    to_host: Option<f64>,
    within: Option<f64>,
    peer: Option<f64>,
}

/// The transfers of devices.
#[derive(Debug, Clone)]
pub struct Transfers {
    /// All copies, by device, then by start.
    pub copies: Vec<Copied>,
    /// What each device copied and set, in the order of the devices table.
    pub devices: Vec<DeviceCopies>,
    /// By row of the devices table.
    links: Vec<Links>,
    /// The weakest basis of those figures.
    pub(crate) links_basis: Basis,
}

impl Shared for Transfers {
    fn make(analysis: &Analysis<'_>) -> Transfers {
        let trace = analysis.trace;
        let all = 0..trace.devices.len() as u32;
        let found: Vec<(DeviceCopies, Vec<Copied>)> =
            all.into_par_iter().map(|device| copies_of(trace, device)).collect();
        let (devices, copies): (Vec<DeviceCopies>, Vec<Vec<Copied>>) = found.into_iter().unzip();
        Transfers {
            copies: copies.concat(),
            devices,
            links: links(trace, analysis.ceilings),
            links_basis: links_basis(analysis.ceilings),
        }
    }
}

impl Transfers {
    /// The transfers of `devices` alone.
    pub(crate) fn only(&self, devices: &[DeviceRow]) -> Transfers {
        let mut chosen = self.clone();
        chosen.copies.retain(|copy| devices.contains(&DeviceRow(copy.device)));
        chosen.devices.retain(|device| devices.contains(&DeviceRow(device.device)));
        chosen
    }

    /// Bytes per second that the way of `copy` can carry, where it is known.
    pub(crate) fn link(&self, trace: &Trace, copy: &Copied) -> Option<f64> {
        let links = self.links.get(copy.device as usize)?;
        match copy.kind(trace) {
            EventKind::CopyHostToDevice => links.to_device,
            EventKind::CopyDeviceToHost => links.to_host,
            EventKind::CopyDeviceToDevice => links.within,
            EventKind::CopyPeer => links.peer,
            _ => None,
        }
    }
}

/// The weakest basis of the figures that [`links`] takes; the sheets say what links between devices carry.
fn links_basis(ceilings: &[Ceilings]) -> Basis {
    let limits = [Limit::HostToDevice, Limit::DeviceToHost, Limit::Memory];
    let figures = ceilings.iter().flat_map(|device| limits.iter().filter_map(|limit| device.get(*limit)));
    figures.map(|figure| figure.basis).fold(Basis::Sheet, Basis::and)
}

/// The links of every device.
///
/// A copy within a device reads and writes its memory, so it can go at half the memory's bandwidth; data sheets give
/// the links between devices as the sum of both directions, of which a copy uses one.
fn links(trace: &Trace, ceilings: &[Ceilings]) -> Vec<Links> {
    let of_device = |(device, ceilings): (&ridge_trace::Device, &Ceilings)| Links {
        to_device: ceilings.value(Limit::HostToDevice),
        to_host: ceilings.value(Limit::DeviceToHost),
        within: ceilings.value(Limit::Memory).map(|rate| rate / 2.0),
        peer: sheet_of(device).and_then(|sheet| sheet.peer_gb_per_s.as_ref()).map(|peer| peer.value * 1e9 / 2.0),
    };
    trace.devices.iter().zip(ceilings).map(of_device).collect()
}
