//! Captures of tools that are known and not read: what they are, and what makes of them something that is.

use crate::error::ImportError;
use ridge_hlo::wire::{Fields, Value};

/// A capture of a known tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Foreign {
    what: &'static str,
    hint: &'static str,
}

const PERFETTO: Foreign = Foreign {
    what: "a Perfetto trace",
    hint: "`traceconv json FILE FILE.json` (https://get.perfetto.dev/traceconv) makes a Chrome trace, which is read",
};
const ROCPROF_JSON: Foreign = Foreign {
    what: "the JSON output of rocprofv3",
    hint: "`rocprofv3 --output-format pftrace` writes a Perfetto trace, and `traceconv json` (https://get.perfetto.dev/traceconv) \
           makes a Chrome trace of it, which is read",
};
const ROCPROF_CSV: Foreign = Foreign { what: "a CSV table of rocprofv3", ..ROCPROF_JSON };
const ROCPD: Foreign = Foreign {
    what: "a rocpd database of rocprofv3",
    hint: "`rocpd convert -i FILE --output-format pftrace` writes a Perfetto trace, and `traceconv json` \
           (https://get.perfetto.dev/traceconv) makes a Chrome trace of it, which is read",
};

impl Foreign {
    /// The error that refuses it.
    pub(crate) fn error(self, source_name: &str) -> ImportError {
        ImportError::Foreign { source_name: source_name.to_owned(), what: self.what, hint: self.hint }
    }
}

/// The known tool that a file which begins with `head` is of.
pub(crate) fn of(head: &[u8]) -> Option<Foreign> {
    /// What the file's own writer puts near its beginning.
    const ROCPROF: &[u8] = b"\"rocprofiler-sdk-tool\"";
    let text = head.trim_ascii_start();
    if text.starts_with(b"{") && memchr::memmem::find(text, ROCPROF).is_some() {
        return Some(ROCPROF_JSON);
    }
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let has = |column: &[u8]| memchr::memmem::find(line, column).is_some();
    // `generateCSV.cpp` of rocprofiler-sdk: kernels, calls, copies, counters.
    if (has(b"\"Kind\"") || has(b"\"Domain\"")) && has(b"_Timestamp\"")
        || has(b"\"Agent_Id\"") && has(b"\"Dispatch_Id\"")
    {
        return Some(ROCPROF_CSV);
    }
    is_perfetto(head).then_some(PERFETTO)
}

/// The known tool that a SQLite database with tables called `names` is of.
pub(crate) fn of_tables(names: Vec<String>) -> Option<Foreign> {
    names.iter().any(|name| name.starts_with("rocpd_")).then_some(ROCPD)
}

/// A trace of Perfetto is packets in field 1 (`perfetto/trace/trace.proto`); so are the planes of an XPlane capture, which
/// have fields 1 to 6 only.
fn is_perfetto(head: &[u8]) -> bool {
    /// `TracePacket`: time stamp, sequence, clocks, flags, configuration, mark, descriptor of a track, UUID of the trace.
    const OF_PACKETS: [u32; 8] = [8, 10, 6, 13, 33, 36, 60, 89];
    /// Of a plane: its number, name, lines, and tables of names.
    const OF_PLANES: [u32; 5] = [1, 2, 3, 4, 5];
    let Some(Ok((1, Value::Bytes(packet)))) = Fields::new(head).next() else {
        // A first packet that is longer than what is seen of the file: the trace's configuration.
        return false;
    };
    let numbers: Vec<u32> = Fields::new(packet).map_while(Result::ok).map(|(number, _)| number).collect();
    !numbers.is_empty()
        && numbers.iter().any(|number| OF_PACKETS[..].contains(number))
        && !numbers.iter().any(|number| OF_PLANES.contains(number))
        && Fields::new(packet).all(|field| field.is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_tools_are_told_by_what_they_write() {
        // A packet with a time stamp, a sequence and an event of a track; one with clocks; a plane that is called `a`.
        let perfetto = [b"\x0a\x08\x40\x01\x50\x02\x5a\x02\x48\x01".as_slice(), b"\x0a\x04\x32\x02\x08\x01"];
        for head in perfetto {
            assert_eq!(of(head), Some(PERFETTO), "{head:?}");
        }
        for (head, expected) in [
            (b"\x0a\x05\x08\x01\x12\x01a".as_slice(), None),
            (b"{\"rocprofiler-sdk-tool\": [{", Some(ROCPROF_JSON)),
            (b"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n", Some(ROCPROF_CSV)),
            (b"timestamp, index, name\n", None),
            (b"{\"traceEvents\": []}", None),
            (b"", None),
        ] {
            assert_eq!(of(head), expected, "{}", head.escape_ascii());
        }
        assert_eq!(of_tables(vec!["rocpd_string_1a2b".to_owned()]), Some(ROCPD));
        assert_eq!(of_tables(vec!["StringIds".to_owned()]), None);
    }
}
