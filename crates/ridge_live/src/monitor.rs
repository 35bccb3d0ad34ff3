//! The tools of GPUs' drivers at work: which is there, what it says, and the log that can be kept of it.
//!
//! `nvidia-smi` speaks by itself every so often. AMD's tools are asked each time, and what they say is logged in the columns that
//! `nvidia-smi` has, so that one reader and one set of rules take both.

use crate::amd;
use crate::gpus::{Gpu, LONGEST_LINE, MOST_GPUS, QUERY, gpu, listen};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, BufReader, Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The tool of a driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    kind: Kind,
    path: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nvidia,
    Amd,
    Rocm,
}

/// Every tool, the one that is asked first in front.
const TOOLS: [(&str, Kind); 3] = [("nvidia-smi", Kind::Nvidia), ("amd-smi", Kind::Amd), ("rocm-smi", Kind::Rocm)];

impl Tool {
    /// The first tool that is in a directory of `path`, as the variable of that name has it.
    pub fn find(path: &OsStr) -> Option<Tool> {
        TOOLS.into_iter().find_map(|(name, kind)| {
            let path = std::env::split_paths(path).map(|folder| folder.join(name)).find(|path| path.is_file())?;
            Some(Tool { kind, path })
        })
    }

    /// The names of all that are looked for, in words.
    pub fn names() -> String {
        TOOLS.map(|(name, _)| name).join(", ")
    }

    /// What it says once.
    ///
    /// # Errors
    /// If it cannot be started; one that fails says nothing of any GPU.
    pub fn read_once(&self, log: Option<&mut dyn Write>) -> io::Result<Vec<Gpu>> {
        if self.kind != Kind::Nvidia {
            let gpus = self.ask(&self.product_names()?)?;
            if let Some(log) = log {
                log.write_all(HEADER.as_bytes())?;
                log.write_all(lines(&gpus, now()).as_bytes())?;
            }
            return Ok(gpus);
        }
        let text = said(&self.path, &[QUERY, "--format=csv"])?;
        if let Some(log) = log {
            log.write_all(&text)?;
        }
        Ok(String::from_utf8_lossy(&text).lines().filter_map(gpu).take(MOST_GPUS).collect())
    }

    /// The names of AMD's GPUs, which do not change.
    fn product_names(&self) -> io::Result<BTreeMap<u32, String>> {
        match self.kind {
            Kind::Amd => Ok(amd::names(&String::from_utf8_lossy(&said(&self.path, &amd::STATIC)?))),
            _ => Ok(BTreeMap::new()),
        }
    }

    /// AMD's GPUs now.
    fn ask(&self, names: &BTreeMap<u32, String>) -> io::Result<Vec<Gpu>> {
        let mut gpus = match self.kind {
            Kind::Amd => amd::of_amd_smi(&String::from_utf8_lossy(&said(&self.path, &amd::METRIC)?), names),
            _ => amd::of_rocm_smi(&String::from_utf8_lossy(&said(&self.path, &amd::ROCM)?)),
        };
        gpus.truncate(MOST_GPUS);
        Ok(gpus)
    }
}

/// What a tool says to its standard output, up to as much as any needs.
fn said(tool: &Path, arguments: &[&str]) -> io::Result<Vec<u8>> {
    let mut child = quiet(tool, arguments).spawn()?;
    let mut text = Vec::new();
    if let Some(out) = child.stdout.take() {
        out.take(LONGEST_LINE * MOST_GPUS as u64).read_to_end(&mut text)?;
    }
    child.wait()?;
    Ok(text)
}

fn quiet(tool: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(tool);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// A tool at work; it ends with this.
#[derive(Debug)]
pub struct Monitor {
    work: Work,
    latest: Arc<Mutex<BTreeMap<u32, Gpu>>>,
}

#[derive(Debug)]
enum Work {
    /// A process that speaks by itself.
    Speaking(Child),
    /// A thread that asks until the other end goes.
    Asking(Option<Sender<()>>, Option<JoinHandle<()>>),
}

impl Monitor {
    /// Starts `tool`, which is heard every `interval`; what it says goes to `log`, too.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(tool: &Tool, interval: Duration, log: Option<Box<dyn Write + Send>>) -> io::Result<Monitor> {
        let latest = Arc::new(Mutex::new(BTreeMap::new()));
        let heard = Arc::clone(&latest);
        if tool.kind != Kind::Nvidia {
            let (names, tool) = (tool.product_names()?, tool.clone());
            let (end, ended) = channel::<()>();
            let asking = std::thread::spawn(move || {
                let mut log = log;
                if let Some(log) = &mut log {
                    let _ = log.write_all(HEADER.as_bytes());
                }
                loop {
                    let gpus = tool.ask(&names).unwrap_or_default();
                    if let Some(log) = &mut log {
                        let _ = log.write_all(lines(&gpus, now()).as_bytes()).and_then(|()| log.flush());
                    }
                    let gpus = gpus.into_iter().map(|gpu| (gpu.index, gpu)).collect();
                    *heard.lock().unwrap_or_else(PoisonError::into_inner) = gpus;
                    if ended.recv_timeout(interval) != Err(RecvTimeoutError::Timeout) {
                        return;
                    }
                }
            });
            return Ok(Monitor { work: Work::Asking(Some(end), Some(asking)), latest });
        }
        let every = interval.as_millis().max(100).to_string();
        let mut child = quiet(&tool.path, &[QUERY, "--format=csv", "-lms", &every]).spawn()?;
        if let Some(out) = child.stdout.take() {
            std::thread::spawn(move || listen(BufReader::new(out), &heard, log));
        }
        Ok(Monitor { work: Work::Speaking(child), latest })
    }

    /// The GPUs as they were last.
    pub fn gpus(&self) -> Vec<Gpu> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        match &mut self.work {
            Work::Speaking(child) => {
                let _ = child.kill();
                let _ = child.wait();
            }
            Work::Asking(end, asking) => {
                drop(end.take());
                // A question that was asked is answered first, so that no process is left alone.
                let _ = asking.take().map(JoinHandle::join);
            }
        }
    }
}

/// The first line of a log of AMD's GPUs, in `nvidia-smi`'s words.
const HEADER: &str = "timestamp, index, name, utilization.gpu [%], memory.used [MiB], memory.total [MiB], clocks.current.sm [MHz], \
                      clocks.max.sm [MHz], temperature.gpu, power.draw [W]\n";

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A line for each GPU; times are UTC.
fn lines(gpus: &[Gpu], now: Duration) -> String {
    let number =
        |number: Option<f64>, unit: &str| number.map_or("[N/A]".to_owned(), |number| format!("{number}{unit}"));
    let line = |gpu: &Gpu| {
        format!(
            "{}, {}, {}, {}, {}, {}, {}, {}, {}, {}\n",
            date(now),
            gpu.index,
            // A comma would be another column.
            gpu.name.replace(',', ";"),
            number(gpu.utilization_pct, " %"),
            number(gpu.used_mib, " MiB"),
            number(gpu.total_mib, " MiB"),
            number(gpu.clock_mhz, " MHz"),
            number(gpu.most_clock_mhz, " MHz"),
            number(gpu.celsius, ""),
            number(gpu.watts, " W"),
        )
    };
    gpus.iter().map(line).collect()
}

/// `2026/11/15 00:13:20.000`; days to dates as in <https://howardhinnant.github.io/date_algorithms.html#civil_from_days>.
fn date(since_1970: Duration) -> String {
    let seconds = since_1970.as_secs();
    let days = seconds / 86_400 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_of_year = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_of_year + 2) / 5 + 1;
    let month = if month_of_year < 10 { month_of_year + 3 } else { month_of_year - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year}/{month:02}/{day:02} {hour:02}:{minute:02}:{second:02}.{:03}", since_1970.subsec_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970/01/01 00:00:00.000"),
            (951_782_400, "2000/02/29 00:00:00.000"),
            (1_700_000_000, "2023/11/14 22:13:20.000"),
            (4_102_444_799, "2099/12/31 23:59:59.000"),
        ] {
            assert_eq!(date(Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn a_line_has_what_is_known_under_the_header() {
        let gpu = Gpu { index: 3, name: "MI300X, 192".to_owned(), watts: Some(612.5), ..Gpu::default() };
        let line = lines(&[gpu], Duration::from_millis(1500));
        assert_eq!(
            line,
            "1970/01/01 00:00:01.500, 3, MI300X; 192, [N/A], [N/A], [N/A], [N/A], [N/A], [N/A], 612.5 W\n"
        );
        assert_eq!(line.matches(',').count(), HEADER.matches(',').count());
    }

    #[test]
    fn the_first_tool_of_the_list_is_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().as_os_str();
        assert_eq!(Tool::find(path), None);
        for (name, kind) in [("rocm-smi", Kind::Rocm), ("amd-smi", Kind::Amd), ("nvidia-smi", Kind::Nvidia)] {
            std::fs::write(folder.path().join(name), "").expect("a file");
            assert_eq!(Tool::find(path).map(|tool| tool.kind), Some(kind));
        }
    }
}
