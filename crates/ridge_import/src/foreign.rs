//! Captures of tools that are known and not read: what they are, and what makes of them something that is.

use crate::error::ImportError;

/// A capture of a known tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Foreign {
    what: &'static str,
    hint: &'static str,
}

const ROCPROF_CSV: Foreign = Foreign {
    what: "a CSV table of rocprofv3",
    hint: "`rocprofv3 --output-format json rocpd` writes files that are read",
};

impl Foreign {
    /// The error that refuses it.
    pub(crate) fn error(self, source_name: &str) -> ImportError {
        ImportError::Foreign { source_name: source_name.to_owned(), what: self.what, hint: self.hint }
    }
}

/// The known tool that a file which begins with `head` is of.
pub(crate) fn of(head: &[u8]) -> Option<Foreign> {
    let text = head.trim_ascii_start();
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let has = |column: &[u8]| memchr::memmem::find(line, column).is_some();
    // `generateCSV.cpp` of rocprofiler-sdk: kernels, calls, copies, counters.
    if (has(b"\"Kind\"") || has(b"\"Domain\"")) && has(b"_Timestamp\"")
        || has(b"\"Agent_Id\"") && has(b"\"Dispatch_Id\"")
    {
        return Some(ROCPROF_CSV);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_tools_are_told_by_what_they_write() {
        for (head, expected) in [
            (
                b"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n".as_slice(),
                Some(ROCPROF_CSV),
            ),
            (b"timestamp, index, name\n", None),
            (b"{\"traceEvents\": []}", None),
            (b"", None),
        ] {
            assert_eq!(of(head), expected, "{}", head.escape_ascii());
        }
    }
}
