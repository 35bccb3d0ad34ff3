//! What an interpreter has of the libraries that are recorded.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::python::{DOCTOR_FILES, python_path, write_package};

/// How long libraries may take to be imported and to find their devices.
const LIMIT: Duration = Duration::from_secs(120);

/// How often the interpreter is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// The oldest Python that the harness is tested with.
const OLDEST: (u32, u32) = (3, 11);

/// What it said.
#[derive(Debug, Deserialize)]
pub(super) struct Probe {
    pub(super) python: String,
    pub(super) executable: String,
    versions: BTreeMap<String, String>,
    jax: Option<Library>,
    torch: Option<Library>,
}

#[derive(Debug, Deserialize)]
struct Library {
    #[serde(default)]
    devices: Vec<Device>,
    why: Option<String>,
}

/// A device that a library sees.
#[derive(Debug, Deserialize)]
pub(super) struct Device {
    platform: String,
    kind: String,
}

impl Device {
    pub(super) fn is_gpu(&self) -> bool {
        self.platform != "cpu"
    }
}

impl Probe {
    /// Asks `python`, or says why it did not answer.
    pub(super) fn of(python: &Path) -> Result<Probe, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        write_package(folder.path(), DOCTOR_FILES).map_err(|(_, error)| error.to_string())?;
        // A file rather than a pipe, which a library that prints much would fill.
        let said = folder.path().join("errors");
        let errors = File::create(&said).map_err(|error| error.to_string())?;
        let mut command = Command::new(python);
        command.args(["-m", "ridgeline.doctor_probe"]).env("PYTHONPATH", python_path(folder.path()));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::from(errors));
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let began = Instant::now();
        while child.try_wait().map_err(|error| error.to_string())?.is_none() {
            if began.elapsed() > LIMIT {
                // It may have ended meanwhile, and then there is nothing to end.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("no answer within {} s", LIMIT.as_secs()));
            }
            std::thread::sleep(LOOK);
        }
        let mut text = String::new();
        if let Some(mut stdout) = child.stdout.take() {
            stdout.read_to_string(&mut text).map_err(|error| error.to_string())?;
        }
        Probe::read(&text).map_err(|why| match last_line(&fs::read_to_string(&said).unwrap_or_default()) {
            Some(last) => format!("{why}: {last}"),
            None => why,
        })
    }

    /// The last line of what it printed: libraries print, too.
    pub(super) fn read(text: &str) -> Result<Probe, String> {
        let line = last_line(text).ok_or("it ended without an answer")?;
        serde_json::from_str(line).map_err(|error| format!("its answer cannot be read: {error}"))
    }

    pub(super) fn version(&self, package: &str) -> Option<&str> {
        self.versions.get(package).map(String::as_str)
    }

    /// Devices that `library` sees, or why it sees none.
    pub(super) fn devices(&self, library: &str) -> Result<&[Device], &str> {
        let found = if library == "jax" { &self.jax } else { &self.torch };
        match found {
            None => Err("it printed nothing about its devices"),
            Some(Library { why: Some(why), .. }) => Err(why),
            Some(Library { devices, .. }) => Ok(devices),
        }
    }

    /// Whether it is older than what is tested.
    pub(super) fn is_old(&self) -> bool {
        let mut parts = self.python.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
        (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) < OLDEST
    }
}

fn last_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).rfind(|line| !line.is_empty())
}

/// `2 gpu (NVIDIA H100)`.
pub(super) fn summed(devices: &[Device]) -> String {
    let mut counts: Vec<(String, u32)> = Vec::new();
    for device in devices {
        let name = format!("{} ({})", device.platform, device.kind);
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let counts: Vec<String> = counts.into_iter().map(|(name, count)| format!("{count} {name}")).collect();
    if counts.is_empty() { "no device".to_owned() } else { counts.join(", ") }
}
