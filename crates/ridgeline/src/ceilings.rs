//! What devices reach: measured figures that `ridgeline calibrate` kept, and which of them belong to a capture.
//!
//! Reads the documents `ridgeline.ceilings.v1`; measuring and writing is left to the recorder.
//! Kept figures are used for the device they were measured on and for no other, however alike; a file that the user names is
//! used as it is.

use crate::document::read_document;
use crate::error::{Details, OpenError};
use crate::manifest::Manifest;
use ridge_analysis::{Ceiling, Ceilings, ComputeUnit, Limit, NumberType, processor_ceilings, sheet_of, sheets};
use ridge_documents::{self as documents, CeilingsDocument, Cpu, Figure};
use ridge_table::Basis;
use ridge_trace::Device;
use ridge_units::Share;
use std::env;
use std::path::{Path, PathBuf};

/// Which measured figures to use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CeilingsChoice {
    /// Those kept for this device, where there are any.
    Kept,
    /// Those in this file.
    File(PathBuf),
    /// None: data sheets and the capture's own words alone.
    #[default]
    None,
    /// The data sheet with this name, as [`data_sheet`] finds it, for all devices that are no processors: what a capture
    /// that does not name its devices ran on.
    Sheet(String),
}

/// The figures measured on one device.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredDevice {
    /// Its name as the driver or the system reports it.
    pub name: String,
    /// `cpu`, `gpu`, `tpu`.
    pub platform: String,
    /// Of a processor: the cores that were used.
    pub usable_cores: Option<u64>,
    /// The figures.
    pub ceilings: Ceilings,
}

/// The folder in which measured figures are kept: `ridgeline/ceilings` in the user's data folder; `None` where there is no home.
pub fn ceilings_folder() -> Option<PathBuf> {
    Some(data_folder()?.join("ridgeline/ceilings"))
}

/// The user's data folder: `$XDG_DATA_HOME`, else `~/.local/share` (XDG Base Directory Specification 0.8, which says to pass over a
/// relative path).
pub(crate) fn data_folder() -> Option<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))
}

/// The figures that the data sheet of the device named `name` gives: by the device's own name, or as its driver names
/// it; those of a processor for the logical ones of it that may be used, `usable_cores`.
pub fn data_sheet(name: &str, usable_cores: Option<u64>) -> Option<Ceilings> {
    let is_it = |known: &str| known.eq_ignore_ascii_case(name.trim());
    let by_name =
        sheets().iter().find(|sheet| is_it(&sheet.name) || sheet.driver_names.iter().any(|known| is_it(known)));
    let device = Device { model: Some(name.to_owned()), ..Device::default() };
    let sheet = by_name.or_else(|| sheet_of(&device)).map(|sheet| sheet.ceilings.clone());
    sheet.or_else(|| processor_ceilings(name, usable_cores?))
}

/// `sheet` of `device` with the figures that were measured on it, which go first.
pub(crate) fn with_measured(device: &Device, mut sheet: Ceilings, measured: &Ceilings) -> Ceilings {
    if device.is_processor() {
        // They are of the cores that were used: no word is needed of what the sheet cannot know.
        sheet.notes.clear();
    }
    sheet.with(measured)
}

/// What `device` can do without measurements: by its data sheet, which for a processor is that of the model in the
/// manifest, else by the capture's own word.
fn unmeasured(device: &Device, manifest: Option<&Manifest>) -> Ceilings {
    let processor = || {
        let cpu = manifest?.document.cpu.as_ref()?;
        processor_ceilings(cpu.model.as_deref()?, cpu.usable_cores?)
    };
    let found = if device.is_processor() { processor() } else { None };
    found.unwrap_or_else(|| ridge_analysis::ceilings(device))
}

/// The ceilings of `devices` where the user says that they are `name`.
///
/// # Errors
/// [`OpenError`] where no data sheet has that name.
pub(crate) fn said_to_be(name: &str, devices: &[Device]) -> Result<Vec<Ceilings>, OpenError> {
    let Some(sheet) = data_sheet(name, None) else {
        let names: Vec<&str> = sheets().iter().map(|sheet| sheet.name.as_str()).collect();
        let details = Details::new(format!("no data sheet of a device named `{name}`"));
        return Err(OpenError::UnknownName(details.hint(format!("there are {}", names.join(", ")))));
    };
    Ok(devices
        .iter()
        .map(|device| if device.is_processor() { ridge_analysis::ceilings(device) } else { sheet.clone() })
        .collect())
}

/// Reads a document of measured figures.
///
/// # Errors
/// [`OpenError`] where it cannot be read, is no such document, or holds no device.
pub fn read_ceilings(path: &Path) -> Result<Vec<MeasuredDevice>, OpenError> {
    const MAKES: &str = "`ridgeline calibrate` makes such a file";
    let parsed = read_document::<CeilingsDocument>(path).map_err(|error| error.hint(MAKES))?;
    let mut devices: Vec<MeasuredDevice> = parsed.document.devices.iter().map(measured_device).collect();
    if devices.is_empty() {
        let details = Details::new("expected measured devices, found none").at(path).hint(MAKES);
        return Err(OpenError::NotACapture(details));
    }
    let damage = parsed.damaged.iter().map(|damage| format!("{damage}, in {}", path.display()));
    let damage: Vec<String> = damage.collect();
    devices.iter_mut().for_each(|device| device.ceilings.notes.extend(damage.iter().cloned()));
    Ok(devices)
}

/// What is kept in `folder`; files that cannot be read are passed over.
pub(crate) fn kept_in(folder: &Path) -> Vec<MeasuredDevice> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths.iter().filter_map(|path| read_ceilings(path).ok()).flatten().collect()
}

/// The one of `measured` that `device` of a capture is, where the capture tells enough to be sure.
pub(crate) fn matching<'a>(
    measured: &'a [MeasuredDevice],
    device: &Device,
    manifest: Option<&Manifest>,
) -> Option<&'a MeasuredDevice> {
    let cpu = manifest.and_then(|manifest| manifest.document.cpu.as_ref());
    let is_cpu = device.is_processor();
    measured.iter().find(|known| {
        if known.platform == "cpu" {
            let is_it =
                |cpu: &Cpu| cpu.usable_cores == known.usable_cores && cpu.model.as_deref() == Some(known.name.as_str());
            return is_cpu && cpu.is_some_and(is_it);
        }
        let is_it = |name: &str| name.eq_ignore_ascii_case(&known.name);
        !is_cpu
            && (device.model.as_deref().is_some_and(is_it) || manifest.is_some_and(|manifest| all_are(manifest, is_it)))
    })
}

/// The one of `measured` that the user must mean for `device`: the one of its name, else the only one of its kind.
pub(crate) fn meant<'a>(
    measured: &'a [MeasuredDevice],
    device: &Device,
    manifest: Option<&Manifest>,
) -> Option<&'a MeasuredDevice> {
    let is_cpu = device.is_processor();
    let mut like = measured.iter().filter(|known| (known.platform == "cpu") == is_cpu);
    let only = like.next().filter(|_| like.next().is_none());
    matching(measured, device, manifest).or(only)
}

/// Whether every device that the manifest names is the one.
fn all_are(manifest: &Manifest, is_it: impl Fn(&str) -> bool) -> bool {
    let devices = manifest.document.devices.as_deref().unwrap_or_default();
    !devices.is_empty() && devices.iter().all(|device| device.kind.as_deref().is_some_and(&is_it))
}

fn measured_device(device: &documents::MeasuredDevice) -> MeasuredDevice {
    let is_processor = device.platform == "cpu";
    let mut best: Vec<(Ceiling, &Figure)> = Vec::new();
    for figure in &device.figures {
        let Some(found) = ceiling(figure, is_processor) else { continue };
        match best.iter_mut().find(|(known, _)| known.limit == found.limit) {
            Some(known) if is_better(&found, &known.0) => *known = (found, figure),
            Some(_) => {}
            None => best.push((found, figure)),
        }
    }
    let notes = disturbed(&best).into_iter().collect();
    let mut entries: Vec<Ceiling> = best.into_iter().map(|(ceiling, _)| ceiling).collect();
    raise_matrix_rates(&mut entries);
    let ceilings =
        Ceilings { device: device.name.clone(), entries, cache_bytes: device.last_level_cache_bytes(), notes };
    MeasuredDevice {
        name: device.name.clone(),
        platform: device.platform.clone(),
        usable_cores: device.usable_cores,
        ceilings,
    }
}

/// What to say of figures that were measured while others used the machine.
fn disturbed(best: &[(Ceiling, &Figure)]) -> Option<String> {
    let disturbed: Vec<_> = best.iter().filter(|(_, figure)| figure.was_disturbed()).collect();
    let most = disturbed.iter().filter_map(|(_, figure)| figure.busy_share).max_by(f64::total_cmp)?;
    let limits: Vec<String> = disturbed.iter().map(|(ceiling, _)| ceiling.limit.to_string()).collect();
    Some(format!(
        "calibrated on a busy machine: other processes used up to {} of its CPU time, so the measured {} may be low",
        Share(most).rounded(),
        limits.join(", ")
    ))
}

/// A measured figure as a ceiling; `None` for one that limits nothing an analysis asks for.
fn ceiling(figure: &Figure, is_processor: bool) -> Option<Ceiling> {
    let what = figure.what.as_str();
    let number = || NumberType::from_name(figure.number_type.as_deref()?);
    let (limit, unit, per) = match what {
        "stream_copy" | "stream_scale" | "stream_add" | "stream_triad" => (Limit::Memory, "bytes/s", 1.0),
        "cache_triad" | "near_cache_triad" => (Limit::Cache, "bytes/s", 1.0),
        "multiply_add" => (Limit::Rate(number()?, ComputeUnit::Plain), "/s", 1.0),
        "matrix" => (Limit::Rate(number()?, ComputeUnit::Matrix), "/s", 1.0),
        "transcendental" => (Limit::Transcendental(number()?), "/s", 1.0),
        "sort" => (Limit::Comparison(number()?), "/s", 1.0),
        "host_to_device" | "pinned_to_device" => (Limit::HostToDevice, "bytes/s", 1.0),
        "device_to_host" | "device_to_pinned" => (Limit::DeviceToHost, "bytes/s", 1.0),
        "launch_interval" | "operation_interval" => (Limit::Launch, "ns", 1e9),
        // For a processor XLA makes one native loop of it, in which nothing is launched.
        "loop_iteration" if !is_processor => (Limit::Launch, "ns", 1e9),
        _ => return None,
    };
    let is_usable = figure.value.is_finite() && figure.value > 0.0 && figure.unit.ends_with(unit);
    is_usable.then(|| Ceiling {
        limit,
        value: figure.value / per,
        basis: Basis::Measured,
        source: format!("ridgeline calibrate: {what}, {}", if figure.by.is_empty() { "unknown" } else { &figure.by }),
    })
}

/// Several loops measure one limit, and the limit is the best of them: the highest rate, the shortest time.
fn is_better(new: &Ceiling, old: &Ceiling) -> bool {
    if new.limit == Limit::Launch { new.value < old.value } else { new.value > old.value }
}

/// A matrix product can use plain arithmetic, so its ceiling is at least that of plain multiply-adds of the same type.
fn raise_matrix_rates(entries: &mut [Ceiling]) {
    for number in NumberType::ALL {
        let find = |unit| entries.iter().position(|entry| entry.limit == Limit::Rate(number, unit));
        let (Some(plain), Some(matrix)) = (find(ComputeUnit::Plain), find(ComputeUnit::Matrix)) else { continue };
        if entries[plain].value > entries[matrix].value {
            entries[matrix].value = entries[plain].value;
            entries[matrix].source = entries[plain].source.clone();
        }
    }
}

/// What each of `devices` can do: measured figures as `choice` says, then its data sheet's, then the capture's own.
///
/// # Errors
/// [`OpenError`] where a file was named and cannot be read, or a data sheet that there is not.
pub(crate) fn ceilings(
    devices: &[Device],
    manifest: Option<&Manifest>,
    choice: &CeilingsChoice,
) -> Result<Vec<Ceilings>, OpenError> {
    let measured = match choice {
        CeilingsChoice::Sheet(name) => return said_to_be(name, devices),
        CeilingsChoice::None => Vec::new(),
        CeilingsChoice::Kept => ceilings_folder().map(|folder| kept_in(&folder)).unwrap_or_default(),
        CeilingsChoice::File(path) => read_ceilings(path)?,
    };
    let pick = if matches!(choice, CeilingsChoice::File(_)) { meant } else { matching };
    let found: Vec<Option<&MeasuredDevice>> = devices.iter().map(|device| pick(&measured, device, manifest)).collect();
    if let (CeilingsChoice::File(path), false, true) = (choice, found.is_empty(), found.iter().all(Option::is_none)) {
        let names: Vec<&str> = measured.iter().map(|known| known.name.as_str()).collect();
        let message = format!("expected a device of the capture among the measured ones, found {}", names.join(", "));
        return Err(OpenError::UnknownName(Details::new(message).at(path)));
    }
    let joined = |(device, found): (&Device, &Option<&MeasuredDevice>)| {
        let sheet = unmeasured(device, manifest);
        match found {
            Some(found) => with_measured(device, sheet, &found.ceilings),
            None => sheet,
        }
    };
    Ok(devices.iter().zip(&found).map(joined).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn gpu(name: &str) -> Value {
        json!({
            "name": name, "platform": "gpu", "missing": [],
            "figures": [
                {"what": "stream_copy", "type": "f32", "by": "jax", "unit": "bytes/s", "value": 3.0e12},
                {"what": "stream_triad", "type": "f32", "by": "jax", "unit": "bytes/s", "value": 3.1e12},
                {"what": "multiply_add", "type": "f32", "by": "jax", "unit": "flop/s", "value": 60e12},
                {"what": "matrix", "type": "f32", "by": "jax", "unit": "flop/s", "value": 50e12},
                {"what": "matrix", "type": "i8", "by": "jax", "unit": "op/s", "value": 1e15},
                {"what": "launch_interval", "type": null, "by": "jax", "unit": "ns", "value": 9000.0},
                {"what": "loop_iteration", "type": null, "by": "jax", "unit": "ns", "value": 3000.0},
                {"what": "launch_roundtrip", "type": null, "by": "jax", "unit": "ns", "value": 12000.0},
                {"what": "matrix", "type": "f99", "by": "jax", "unit": "flop/s", "value": 1.0},
                {"what": "matrix", "type": "f64", "by": "jax", "unit": "flop/s", "value": null},
                {"what": "host_to_device", "type": null, "by": "jax", "unit": "ns", "value": 1.0},
                17
            ]
        })
    }

    fn measured(devices: &[Value]) -> Vec<MeasuredDevice> {
        let text = json!({"schema": "ridgeline.ceilings.v1", "devices": devices}).to_string();
        let parsed = documents::read::<CeilingsDocument>(text.as_bytes()).expect("a document");
        parsed.document.devices.iter().map(measured_device).collect()
    }

    fn device(plane: &str, model: Option<&str>) -> Device {
        Device { plane: plane.to_owned(), model: model.map(str::to_owned), ..Device::default() }
    }

    fn manifest(mut json: Value) -> Manifest {
        json["schema"] = json!("ridgeline.manifest.v1");
        let document = documents::read(json.to_string().as_bytes()).expect("a manifest").document;
        Manifest { document, ..Manifest::default() }
    }

    #[test]
    fn the_best_of_the_loops_that_measure_a_limit_is_it() {
        let ceilings = measured(&[gpu("G")])[0].ceilings.clone();
        let told: Vec<String> =
            ceilings.entries.iter().map(|entry| format!("{} {:e}", entry.limit, entry.value)).collect();
        let expected =
            ["memory 3.1e12", "f32.plain 6e13", "f32.matrix 6e13", "i8.matrix 1e15", "launch 3e-6"].map(str::to_owned);
        assert_eq!(told, expected);
    }

    #[test]
    fn a_processor_launches_operations_and_not_turns_of_a_native_loop() {
        let figure = |what, value| json!({"what": what, "type": null, "by": "jax", "unit": "ns", "value": value});
        let figures =
            [figure("loop_iteration", 11.0), figure("launch_interval", 9000.0), figure("operation_interval", 300.0)];
        let cpu = json!({"name": "X", "platform": "cpu", "usable_cores": 2, "figures": figures});
        assert_eq!(measured(&[cpu])[0].ceilings.value(Limit::Launch), Some(300e-9));
    }

    #[test]
    fn what_a_busy_machine_measured_says_so_where_it_is_used() {
        let figure = |what, kind, value: f64, busy: f64| json!({"what": what, "type": kind, "by": "native", "unit": "op/s", "value": value, "busy_share": busy});
        let figures = [
            figure("transcendental", "f32", 2e9, 0.4),
            figure("transcendental", "f64", 1e9, 0.0),
            figure("sort", "f32", 3e8, 0.05),
            figure("sort", "f32", 4e8, 0.2),
        ];
        let cpu = json!({"name": "X", "platform": "cpu", "usable_cores": 2, "figures": figures});
        let found = measured(&[cpu])[0].ceilings.clone();
        let all = with_measured(&device("/device:CPU:0", None), Ceilings::default(), &found);
        let expected = "calibrated on a busy machine: other processes used up to 40% of its CPU time, so the measured \
                        f32.transcendental, f32.comparison may be low";
        assert_eq!(all.notes, [expected]);
        assert_eq!(all.value(Limit::Comparison(NumberType::F32)), Some(4e8));
    }

    #[test]
    fn a_device_is_matched_by_its_own_name_and_no_other() {
        let known = measured(&[gpu("NVIDIA H200"), json!({"name": "AMD", "platform": "gpu", "figures": []})]);
        let name = |device: &Device, manifest: Option<&Manifest>| {
            matching(&known, device, manifest).map(|found| found.name.clone())
        };
        assert_eq!(name(&device("/device:GPU:0", Some("NVIDIA H200")), None).as_deref(), Some("NVIDIA H200"));
        assert_eq!(name(&device("/device:GPU:0", Some("NVIDIA H100")), None), None);
        let said = manifest(json!({"devices": [{"kind": "AMD"}, {"kind": "AMD"}]}));
        assert_eq!(name(&device("/device:GPU:0", None), Some(&said)).as_deref(), Some("AMD"));
        let mixed = manifest(json!({"devices": [{"kind": "AMD"}, {"kind": "other"}]}));
        assert_eq!(name(&device("/device:GPU:0", None), Some(&mixed)), None);
    }

    #[test]
    fn a_processor_is_matched_by_its_model_and_cores() {
        let known = measured(&[json!({"name": "X", "platform": "cpu", "usable_cores": 2, "figures": []})]);
        let host = device("/device:CPU:0", None);
        for (cpu, expected) in [
            (json!({"model": "X", "usable_cores": 2}), true),
            (json!({"model": "X", "usable_cores": 64}), false),
            (json!({"model": "Y", "usable_cores": 2}), false),
            (json!(null), false),
        ] {
            let manifest = manifest(json!({"cpu": cpu}));
            assert_eq!(matching(&known, &host, Some(&manifest)).is_some(), expected, "{cpu}");
        }
        assert!(matching(&known, &host, None).is_none());
        assert!(meant(&known, &host, None).is_some(), "the user named the file, and it holds one processor");
        assert!(meant(&known, &device("/device:GPU:0", None), None).is_none());
    }

    #[test]
    fn a_processor_has_the_sheet_of_its_model_for_the_cores_it_may_use() {
        let memory_and_rate = |device: &Device, cpu: Value| {
            let found = unmeasured(device, Some(&manifest(json!({ "cpu": cpu }))));
            let rate = found.value(Limit::Rate(NumberType::F64, ComputeUnit::Plain));
            (rate.map(|rate| rate / 1e9), found.value(Limit::Memory).map(|rate| rate / 1e9), found.notes.len())
        };
        let epyc = |cores: u64| json!({"model": "AMD EPYC 7763 64-Core Processor", "usable_cores": cores});
        let host = device("/device:CPU:0", None);
        // 64 * 3.5 * 16; of two cores the rate is theirs, and the bandwidth of the socket is said to be that.
        assert_eq!(memory_and_rate(&host, epyc(128)), (Some(3584.0), Some(204.8), 0));
        assert_eq!(memory_and_rate(&host, epyc(2)), (Some(112.0), Some(204.8), 1));
        for cpu in
            [json!({"model": "AMD EPYC 7763 64-Core Processor"}), json!({"model": "X", "usable_cores": 2}), json!(3)]
        {
            assert_eq!(memory_and_rate(&host, cpu), (None, None, 0));
        }
        assert_eq!(memory_and_rate(&device("/device:GPU:0", None), epyc(128)), (None, None, 0));
        let sheet = unmeasured(&host, Some(&manifest(json!({ "cpu": epyc(2) }))));
        let entry = Ceiling { limit: Limit::Memory, value: 2e10, basis: Basis::Measured, source: "here".to_owned() };
        let measured = with_measured(&host, sheet, &Ceilings { entries: vec![entry], ..Ceilings::default() });
        assert_eq!((measured.value(Limit::Memory), measured.notes.len()), (Some(2e10), 0));
        assert!(data_sheet("AMD EPYC 7763 64-Core Processor", Some(2)).is_some_and(|sheet| sheet.notes.len() == 1));
        assert_eq!(data_sheet("AMD EPYC 7763 64-Core Processor", None), None);
    }

    #[test]
    fn files_that_are_no_documents_are_errors() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("ceilings.json");
        for (text, message) in [
            ("x", "found no JSON"),
            ("{}", "found another schema or none"),
            (r#"{"schema":"ridgeline.ceilings.v1","devices":[3]}"#, "expected measured devices, found none"),
        ] {
            std::fs::write(&path, text).expect("written");
            let error = read_ceilings(&path).expect_err(text);
            assert!(error.message().contains(message), "{error}");
        }
        assert_eq!(kept_in(folder.path()), []);
        assert!(read_ceilings(&folder.path().join("absent")).is_err());
    }
}
