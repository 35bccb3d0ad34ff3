//! The folder of kept figures: one document per device, named for it.

use std::fs;
use std::path::{Path, PathBuf};

use ridge_documents::{CeilingsDocument, MeasuredDevice, read};

use super::document::one_device;
use super::error::CalibrateError;
use super::outcome::Calibration;

/// Longest name of a file before its ending, characters.
const LONGEST_NAME: usize = 80;

impl Calibration {
    /// Adds the figures to those in `folder`, which is made; the files that were written.
    ///
    /// A figure that was measured again takes the place of the old one. A device of which nothing was measured is left as it is.
    ///
    /// # Errors
    /// [`CalibrateError::Write`] for what cannot be written.
    pub fn keep(&self, folder: &Path) -> Result<Vec<PathBuf>, CalibrateError> {
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            |source| CalibrateError::Write { path, source }
        };
        fs::create_dir_all(folder).map_err(failed(folder))?;
        let mut written = Vec::new();
        for device in self.devices.iter().filter(|device| !device.figures.is_empty()) {
            let path = folder.join(file_name(device));
            let earlier = fs::read(&path).ok().and_then(|text| read::<CeilingsDocument>(&text).ok());
            let text = one_device(device, earlier.map(|parsed| parsed.document));
            ridge_files::write(&path, text.as_bytes()).map_err(failed(&path))?;
            written.push(path);
        }
        Ok(written)
    }
}

/// `nvidia-h100-80gb-hbm3.json`; a processor's name says how many cores were used, because its rates are theirs.
fn file_name(device: &MeasuredDevice) -> String {
    let name = match device.usable_cores {
        Some(cores) => format!("{} {cores} cores", device.name),
        None => device.name.clone(),
    };
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-");
    let slug: String = slug.chars().take(LONGEST_NAME).collect();
    if slug.is_empty() { "device.json".to_owned() } else { format!("{slug}.json") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ridge_documents::Figure;
    use serde_json::{Value, json};

    fn device(name: &str, cores: Option<u64>, figures: &[(&str, f64)]) -> MeasuredDevice {
        let figure = |(what, value): &(&str, f64)| Figure {
            what: (*what).to_owned(),
            by: "native".to_owned(),
            unit: "bytes/s".to_owned(),
            value: *value,
            rounds: 1,
            ..Figure::default()
        };
        let figures = figures.iter().map(figure).collect();
        let (name, platform) = (name.to_owned(), "cpu".to_owned());
        MeasuredDevice { name, platform, usable_cores: cores, figures, ..MeasuredDevice::default() }
    }

    fn of(device: MeasuredDevice) -> Calibration {
        Calibration { devices: vec![device], interrupted: false, no_device: None }
    }

    #[test]
    fn a_file_is_named_for_its_device() {
        for (name, cores, expected) in [
            ("NVIDIA H100 80GB HBM3", None, "nvidia-h100-80gb-hbm3.json"),
            ("Intel(R) Xeon(R) Processor", Some(2), "intel-r-xeon-r-processor-2-cores.json"),
            ("../../etc", None, "etc.json"),
            ("", None, "device.json"),
        ] {
            assert_eq!(file_name(&device(name, cores, &[])), expected);
        }
    }

    #[test]
    fn figures_that_were_not_measured_again_stay() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        of(device("a", None, &[("stream_copy", 1.0), ("stream_add", 2.0)])).keep(folder.path()).expect("written");
        let written = of(device("a", None, &[("stream_add", 3.0)])).keep(folder.path()).expect("written");
        let document: Value = serde_json::from_slice(&fs::read(&written[0]).expect("read")).expect("JSON");
        let figures: Vec<_> = document["devices"][0]["figures"].as_array().expect("a list").clone();
        let values: Vec<_> = figures.iter().map(|figure| (figure["what"].clone(), figure["value"].clone())).collect();
        assert_eq!(values, [(json!("stream_add"), json!(3.0)), (json!("stream_copy"), json!(1.0))]);
    }

    #[test]
    fn a_device_without_figures_leaves_no_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert_eq!(of(device("a", None, &[])).keep(folder.path()).expect("nothing to write"), Vec::<PathBuf>::new());
    }
}
