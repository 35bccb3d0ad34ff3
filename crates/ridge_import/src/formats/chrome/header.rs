//! The members of the file beside its events: clock, versions, devices, ranks, and the profiler's own log.
//!
//! What could name a person, a host or a secret is passed over: the environment, command lines, host and user names,
//! file names.

use super::decimal::whole;
use super::text::text;
use crate::import::Import;
use crate::note::Severity;
use ridge_trace::Device;
use serde_json::Value;

/// Members larger than this are not looked into: what is used is a few kilobytes.
const LARGEST_MEMBER: usize = 16 << 20;

/// Log lines that are said; the rest is counted.
const MOST_LOG_LINES: usize = 4;

/// What the file says of itself.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// Whether the file's object has a list of events.
    pub(super) has_events: bool,
    /// Unix time that all times are relative to, nanoseconds.
    pub(super) base_ns: Option<i64>,
    pub(super) facts: Vec<(String, String)>,
    devices: Vec<Value>,
    /// Devices by their process ids, where the file is an export of this project.
    pub(super) own_devices: Option<Vec<Value>>,
    /// The modules of such a file, by the numbers that its events name them by.
    pub(super) own_modules: Vec<Value>,
    /// What such a file says of times that nobody measured.
    pub(super) predicted: Option<String>,
    pub(super) rank: Option<u32>,
    logs: Vec<(Severity, String)>,
}

/// Numbers that are shown as they are.
const SHOWN: [&str; 13] = [
    "schemaVersion",
    "cuda_runtime_version",
    "cuda_driver_version",
    "cupti_version",
    "hip_runtime_version",
    "hip_driver_version",
    "roctracer_version",
    "rocprofiler-sdk_version",
    "record_shapes",
    "profile_memory",
    "with_stack",
    "with_flops",
    "with_modules",
];

impl Header {
    /// Takes in one member as written.
    pub(super) fn take(&mut self, key: &[u8], value: &[u8]) {
        if value.len() > LARGEST_MEMBER && key != b"ridgeline modules" {
            return;
        }
        match key {
            b"ridgeline modules" => self.own_modules = list(value),
            b"baseTimeNanoseconds" => self.base_ns = whole(value),
            b"ridgeline" => {
                let own = serde_json::from_slice::<Value>(value).ok();
                self.predicted = own.as_ref().and_then(|own| Some(own["predicted"].as_str()?.to_owned()));
                self.own_devices = own.and_then(|own| own["devices"].as_array().cloned());
            }
            b"deviceProperties" => self.devices = list(value),
            b"distributedInfo" => self.take_ranks(value),
            b"INFO" => self.take_logs(Severity::Info, value),
            b"WARNING" | b"ERROR" => self.take_logs(Severity::Partial, value),
            _ => {
                if let Some(name) = SHOWN.iter().find(|name| name.as_bytes() == key) {
                    let value = text(value).0.trim_matches('"').to_owned();
                    self.facts.push(((*name).to_owned(), value));
                }
            }
        }
    }

    /// Adds what another stretch of the file held.
    pub(super) fn join(&mut self, other: Header) {
        self.has_events |= other.has_events;
        self.base_ns = self.base_ns.or(other.base_ns);
        self.own_devices = self.own_devices.take().or(other.own_devices);
        self.own_modules.extend(other.own_modules);
        self.predicted = self.predicted.take().or(other.predicted);
        self.facts.extend(other.facts);
        self.rank = self.rank.or(other.rank);
        self.logs.extend(other.logs);
        if self.devices.is_empty() {
            self.devices = other.devices;
        }
    }

    fn take_ranks(&mut self, value: &[u8]) {
        let Ok(found) = serde_json::from_slice::<Value>(value) else { return };
        self.rank = found["rank"].as_u64().and_then(|rank| u32::try_from(rank).ok());
        for key in ["backend", "rank", "world_size", "nccl_version"] {
            match &found[key] {
                Value::String(text) => self.facts.push((key.to_owned(), text.clone())),
                Value::Number(number) => self.facts.push((key.to_owned(), number.to_string())),
                _ => {}
            }
        }
    }

    fn take_logs(&mut self, severity: Severity, value: &[u8]) {
        let lines = list(value);
        let severe = lines.iter().filter_map(Value::as_str).filter_map(|line| said(severity, line));
        self.logs.extend(severe);
    }

    /// One note a log line that matters.
    pub(super) fn note_logs(&self, source: &str, import: &mut Import) {
        for (severity, message) in self.logs.iter().take(MOST_LOG_LINES) {
            import.note(*severity, source, None, 1, message.clone());
        }
        if let Some(more) = self.logs.len().checked_sub(MOST_LOG_LINES).filter(|more| *more > 0) {
            let message = "more lines of the profiler's log are in the file".to_owned();
            import.note(Severity::Info, source, None, more as u64, message);
        }
    }

    /// Whether the file describes any device.
    pub(super) fn has_devices(&self) -> bool {
        !self.devices.is_empty()
    }

    /// Fills in what is known of the device with id `id`.
    pub(super) fn describe(&self, id: i64, device: &mut Device) {
        // ROCm's traces list the visible devices from 0 and name them by their ids on the host.
        let by_id = self.devices.iter().find(|found| found["id"].as_i64() == Some(id));
        let Some(found) = by_id.or(match &self.devices[..] {
            [only] => Some(only),
            _ => None,
        }) else {
            return;
        };
        let number = |key: &str| found[key].as_u64();
        let small = |key: &str| number(key).and_then(|value| u32::try_from(value).ok());
        let name = found["name"].as_str().filter(|name| !name.is_empty());
        device.model = name.map(str::to_owned);
        device.cores = number("numSms");
        device.memory_bytes = number("totalGlobalMem");
        device.compute_capability = small("computeMajor").zip(small("computeMinor"));
        // 64 threads in lock step are AMD's wavefronts, 32 NVIDIA's warps; some traces leave the name out.
        device.vendor = match (name, number("warpSize")) {
            (Some(name), _) if name.contains("AMD") => Some("AMD".to_owned()),
            (_, Some(64)) => Some("AMD".to_owned()),
            (_, Some(32)) => Some("NVIDIA".to_owned()),
            _ => None,
        };
    }
}

fn list(value: &[u8]) -> Vec<Value> {
    match serde_json::from_slice(value) {
        Ok(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

/// What a line of libkineto's log says to a reader of the trace, if anything.
///
/// Lines look like `INFO:2024-05-22 17:15:23 2910249:2910249 CuptiActivityProfiler.cpp:333] Record counts: …`.
fn said(severity: Severity, line: &str) -> Option<(Severity, String)> {
    let message = line.split_once("] ").map_or(line, |(_, message)| message);
    if let Some(counts) = message.strip_prefix("Record counts: ") {
        return record_counts(counts);
    }
    if severity == Severity::Info {
        return None;
    }
    // Paths name users.
    let words: Vec<&str> = message.split(' ').map(|word| if word.contains('/') { "(path)" } else { word }).collect();
    let short: String = words.join(" ").chars().take(200).collect();
    Some((severity, format!("the profiler reported: {short}")))
}

/// `Out-of-range = 4181, Blocklisted runtime = 37458, …, CUPTI stopped early? = 0`.
fn record_counts(counts: &str) -> Option<(Severity, String)> {
    let count = |name: &str| -> u64 {
        let found = counts.split(", ").find_map(|part| part.strip_prefix(name)?.strip_prefix(" = "));
        found.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
    };
    if count("CUPTI stopped early?") > 0 {
        return Some((Severity::Lost, "the profiler stopped early: its buffers were full".to_owned()));
    }
    let (outside, disordered) = (count("Out-of-range"), count("CPU GPU out-of-order"));
    let mut parts = Vec::new();
    if outside > 0 {
        parts.push(format!("{outside} records from outside the window"));
    }
    if disordered > 0 {
        parts.push(format!("{disordered} records of work that began before its launch"));
    }
    let message = format!("the profiler left out {}", parts.join(" and "));
    (!parts.is_empty()).then_some((Severity::Info, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_say_what_was_dropped_and_nothing_private() {
        let line = "INFO:2024-05-22 17:15:23 1:1 CuptiActivityProfiler.cpp:333] Record counts: Out-of-range = 4181, \
                    Blocklisted runtime = 37458, CPU GPU out-of-order = 0, CUPTI stopped early? = 0";
        let expected = "the profiler left out 4181 records from outside the window".to_owned();
        assert_eq!(said(Severity::Info, line), Some((Severity::Info, expected)));
        let early = said(Severity::Info, "x] Record counts: Out-of-range = 1, CUPTI stopped early? = 1");
        assert_eq!(early.map(|(severity, _)| severity), Some(Severity::Lost));
        assert_eq!(said(Severity::Info, "INFO:x a.cpp:1] Enabling GPU tracing"), None);
        let error = said(Severity::Partial, "ERROR:x a.cpp:47] cannot open /home/someone/x");
        assert_eq!(error.map(|(_, text)| text), Some("the profiler reported: cannot open (path)".to_owned()));
    }

    #[test]
    fn devices_are_found_by_id_and_described() {
        let mut header = Header::default();
        header.take(
            b"deviceProperties",
            br#"[{"id": 0, "name": "", "warpSize": 64, "computeMajor": 9,
            "computeMinor": 4, "numSms": 304, "totalGlobalMem": 206141652992}]"#,
        );
        let mut device = Device::default();
        header.describe(2, &mut device);
        assert_eq!((device.vendor.as_deref(), device.model, device.cores), (Some("AMD"), None, Some(304)));
        assert_eq!((device.compute_capability, device.memory_bytes), (Some((9, 4)), Some(206_141_652_992)));
    }

    #[test]
    fn only_what_is_listed_becomes_a_fact() {
        let mut header = Header::default();
        header.take(b"baseTimeNanoseconds", b"1711964646000000000");
        header.take(b"cupti_version", b"28");
        header.take(b"host_name", b"\"secret\"");
        header.take(b"metadata", b"{\"env\": \"TOKEN\"}");
        header.take(b"distributedInfo", br#"{"backend": "nccl", "rank": 3, "world_size": 8}"#);
        assert_eq!((header.base_ns, header.rank), (Some(1_711_964_646_000_000_000), Some(3)));
        let facts: Vec<String> = header.facts.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(facts.join(" "), "cupti_version=28 backend=nccl rank=3 world_size=8");
    }
}
