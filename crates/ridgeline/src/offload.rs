//! What other hardware would gain: the regions of a session, laid beside boards and other GPUs.

mod bundles;

use crate::error::{Details, OpenError};
use crate::note::Note;
use crate::session::Session;
use ridge_analysis::{Analysis, Ceilings, DeviceSheet, sheets};
use ridge_offload::{Ask, Baseline, Board, Host, Offload, TargetGpu, WhatIf, boards, offload, regions};
use std::path::PathBuf;

/// What is asked.
#[derive(Debug, Clone, Default)]
pub struct OffloadOptions {
    /// Boards by their ids; none for all that are offered, or for none where a GPU is asked for.
    pub boards: Vec<String>,
    /// Other GPUs, by the names of their data sheets or a word of them (`h200`).
    pub gpus: Vec<String>,
    /// The device that is meant, by its data sheet: what the program would run on, where the capture is a processor's, or
    /// what it ran on, where the capture does not say.
    pub meant: Option<String>,
    /// Hand-off bundles whose cores take the place of the estimate, as directories.
    pub bundles: Vec<PathBuf>,
    /// What is taken to be otherwise.
    pub what_if: WhatIf,
}

/// The answer, ready to show.
#[derive(Debug, Clone)]
pub struct OffloadAnswer {
    /// What a reader must know of the capture, gravest first.
    pub notes: Vec<Note>,
    /// The answer.
    pub found: Offload,
    /// The path that was opened.
    pub path: String,
}

impl Session {
    /// Asks which parts other hardware would speed up.
    ///
    /// # Errors
    /// [`OpenError`] where a board or a device is named that is not known, or a bundle that was changed or has no core.
    pub fn offload(&self, options: &OffloadOptions) -> Result<OffloadAnswer, OpenError> {
        let chosen = chosen(options)?;
        let targets = options.gpus.iter().map(|name| target(name)).collect::<Result<Vec<_>, _>>()?;
        let meant = options.meant.as_deref().map(sheet_called).transpose()?;
        let bundles = options.bundles.iter().map(|folder| bundles::bundle(folder)).collect::<Result<Vec<_>, _>>()?;
        let found = self.with_analysis(|analysis| {
            let baseline = baseline(analysis, meant);
            let ask = Ask {
                baseline: Baseline { host: self.host_of(baseline.host), ..baseline },
                boards: chosen,
                targets,
                captured_on: meant,
                bundles,
                what_if: options.what_if.clone(),
            };
            offload(analysis, &ask)
        });
        Ok(OffloadAnswer { notes: self.notes().to_vec(), found, path: self.root().display().to_string() })
    }
}

impl Session {
    /// The names of all regions, those of the longest first; no two are alike.
    pub fn region_names(&self) -> Vec<String> {
        self.with_analysis(|analysis| regions(analysis).into_iter().map(|region| region.name).collect())
    }

    /// How the times of the program's own device are known, where `found` is what an accelerator's capture would say.
    fn host_of(&self, found: Host) -> Host {
        if self.is_predicted() { Host::Compiled } else { found }
    }
}

/// The boards that are asked for.
fn chosen(options: &OffloadOptions) -> Result<Vec<&'static Board>, OpenError> {
    if options.boards.is_empty() {
        let all = boards().iter().filter(|board| board.is_offered && options.gpus.is_empty());
        return Ok(all.collect());
    }
    options.boards.iter().map(|name| Board::named(name).ok_or_else(|| unknown_board(name))).collect()
}

fn unknown_board(name: &str) -> OpenError {
    let known: Vec<&str> = boards().iter().map(|board| board.id.as_str()).collect();
    let details = Details::new(format!("unknown board `{name}`"));
    OpenError::UnknownName(details.hint(format!("there are {}", known.join(", "))))
}

fn target(name: &str) -> Result<TargetGpu, OpenError> {
    Ok(TargetGpu { id: name.to_ascii_lowercase(), sheet: sheet_called(name)? })
}

/// The data sheet of this name, or the one that has it as a word: of several, the one for SXM sockets, else the first.
fn sheet_called(name: &str) -> Result<&'static DeviceSheet, OpenError> {
    let wanted = name.trim();
    let is_it = |known: &str| known.eq_ignore_ascii_case(wanted);
    let whole = |sheet: &&DeviceSheet| is_it(&sheet.name) || sheet.driver_names.iter().any(|known| is_it(known));
    let by_word = |sheet: &&DeviceSheet| sheet.name.split_whitespace().any(is_it);
    let is_sxm = |sheet: &&DeviceSheet| sheet.name.contains("SXM");
    let alike = || sheets().iter().filter(by_word);
    let found = sheets().iter().find(whole).or_else(|| alike().find(is_sxm)).or_else(|| alike().next());
    found.ok_or_else(|| {
        let names: Vec<&str> = sheets().iter().map(|sheet| sheet.name.as_str()).collect();
        let details = Details::new(format!("no data sheet of a device named `{name}`"));
        OpenError::UnknownName(details.hint(format!("there are {}", names.join(", "))))
    })
}

/// What the program ran on, or is meant to.
fn baseline(analysis: &Analysis<'_>, meant: Option<&DeviceSheet>) -> Baseline {
    let device = busiest(analysis);
    let of_capture = device.and_then(|row| analysis.trace.devices.get(row as usize));
    let is_accelerator = of_capture.is_some_and(|device| !device.is_processor());
    if let Some(sheet) = meant {
        return Baseline {
            device: sheet.name.clone(),
            host: if is_accelerator { Host::Measured } else { Host::Sheet },
            ceilings: sheet.ceilings.clone(),
            tdp_w: sheet.tdp_watts.as_ref().map(|figure| figure.value),
        };
    }
    let ceilings = device.and_then(|row| analysis.ceilings.get(row as usize)).cloned().unwrap_or_default();
    let sheet = of_capture.and_then(ridge_analysis::sheet_of);
    Baseline {
        device: name_of(&ceilings, of_capture.and_then(|device| device.model.as_deref())),
        host: if is_accelerator { Host::Measured } else { Host::MeasuredOnProcessor },
        ceilings,
        tdp_w: sheet.and_then(|sheet| sheet.tdp_watts.as_ref()).map(|figure| figure.value),
    }
}

fn name_of(ceilings: &Ceilings, model: Option<&str>) -> String {
    let known = [ceilings.device.as_str(), model.unwrap_or("")].into_iter().find(|name| !name.is_empty());
    known.unwrap_or("the capture's device").to_owned()
}

/// The device that worked longest.
fn busiest(analysis: &Analysis<'_>) -> Option<u32> {
    let mut times: Vec<(u32, i64)> = Vec::new();
    for group in &analysis.groups().groups {
        match times.iter_mut().find(|(device, _)| *device == group.device) {
            Some((_, ns)) => *ns = ns.saturating_add(group.self_ns),
            None => times.push((group.device, group.self_ns)),
        }
    }
    times.into_iter().max_by_key(|(_, ns)| *ns).map(|(device, _)| device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_by_name_or_by_a_word_of_it() {
        for (said, expected) in [
            ("h100", "NVIDIA H100 SXM5 80GB"),
            ("H200", "NVIDIA H200"),
            ("b200", "NVIDIA B200"),
            ("NVIDIA H100 PCIe", "NVIDIA H100 PCIe 80GB"),
        ] {
            assert_eq!(sheet_called(said).expect("a sheet").name, expected, "{said}");
        }
        let error = sheet_called("h").expect_err("no word of a name");
        assert!(error.to_string().contains("named `h`"), "{error}");
    }
}
