//! Captures of tools that are known and not read: what they are, and what makes of them something that is.

use crate::error::ImportError;

/// A capture of a known tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Foreign {
    what: &'static str,
    hint: &'static str,
}

/// `generateCSV.cpp` of rocprofiler-sdk: kernels, calls, copies, counters.
const ROCPROF_CSV: Foreign =
    Foreign { what: "a rocprofv3 CSV table", hint: "record with `rocprofv3 --output-format json rocpd`" };

const ROCPROF_1: Foreign = Foreign {
    what: "output of rocprof v1",
    hint: "record with `rocprofv3 --sys-trace --output-format json -- PROGRAM`",
};

const RPD: Foreign = Foreign {
    what: "a rocmProfileData (rpd) database",
    hint: "record with `rocprofv3 --sys-trace --output-format rocpd -- PROGRAM`",
};

const ROCPROF_COMPUTE: Foreign = Foreign {
    what: "a rocprof-compute database",
    hint: "it has kernel counters but no times; record with `rocprofv3 --sys-trace --output-format rocpd -- PROGRAM`",
};

const NVPROF_TEXT: Foreign =
    Foreign { what: "nvprof text output", hint: "record with `nvprof --export-profile FILE.nvvp PROGRAM`" };

const NSYS_TABLE: Foreign = Foreign {
    what: "an `nsys stats` table",
    hint: "it has sums but no times; convert the report with `nsys export --type sqlite --output FILE.sqlite REPORT.nsys-rep`",
};

const HDF5: Foreign = Foreign {
    what: "an HDF5 file from `nsys export --type hdf`",
    hint: "convert the report with `nsys export --type sqlite --output FILE.sqlite REPORT.nsys-rep`",
};

const XPROF_TABLE: Foreign = Foreign {
    what: "a table that XProf made from a capture",
    hint: "open the capture itself: `plugins/profile/RUN/HOST.xplane.pb` in the same log directory",
};

const TAU: Foreign = Foreign {
    what: "a TAU profile",
    hint: "it has sums but no times; with TAU_TRACE=1, TAU writes a trace; convert it with `tau_treemerge.pl` and `tau_trace2json \
           tau.trc tau.edf -chrome -ignoreatomic -o FILE.json`",
};

const HPCTOOLKIT: Foreign = Foreign {
    what: "an HPCToolkit measurement or database",
    hint: "it can't be converted; record with `ridgeline record -- PROGRAM`",
};

const PERF: Foreign = Foreign {
    what: "a `perf record` file",
    hint: "it has CPU samples but no device work; `ridgeline record -- PROGRAM` records devices and Python samples",
};

const SPEEDSCOPE: Foreign = Foreign {
    what: "a speedscope profile",
    hint: "it has CPU samples but no device work; `ridgeline record -- PROGRAM` records devices and Python samples",
};

impl Foreign {
    /// The error that refuses it.
    pub(crate) fn error(self, source_name: &str) -> ImportError {
        ImportError::Foreign { source_name: source_name.to_owned(), what: self.what, hint: self.hint }
    }
}

/// The known tool whose database has tables of these names.
pub(crate) fn of_database<'n>(mut names: impl Iterator<Item = &'n str>) -> Option<Foreign> {
    names.find_map(|name| match name {
        // `rpd.h` of rocmProfileData; rocpd has the run's identifier behind these names.
        "rocpd_api" | "rocpd_op" => Some(RPD),
        "compute_workload" | "compute_kernel" => Some(ROCPROF_COMPUTE),
        _ => None,
    })
}

/// The known tool that a file which begins with `head` is of.
pub(crate) fn of(head: &[u8]) -> Option<Foreign> {
    const MAGIC: [(&[u8], Foreign); 5] = [
        (b"HPCRUN", HPCTOOLKIT),
        (b"HPCPROF-", HPCTOOLKIT),
        (b"<HPCToolkit", HPCTOOLKIT),
        (b"PERFILE2", PERF),
        (b"\x89HDF\r\n\x1a\n", HDF5),
    ];
    if let Some((_, foreign)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(*foreign);
    }
    let text = head.trim_ascii_start();
    match text.first()? {
        b'{' | b'[' => json(text),
        b'<' => has(text, b"<HPCToolkitExperiment").then_some(HPCTOOLKIT),
        _ => table(text.split(|byte| *byte == b'\n').next().unwrap_or_default()),
    }
}

/// The tool whose JSON begins with `head`.
fn json(head: &[u8]) -> Option<Foreign> {
    if has(head, b"https://www.speedscope.app/file-format-schema.json") {
        return Some(SPEEDSCOPE);
    }
    // A table of Google's charts, or a tree of operations (`convert/` in the sources of XProf).
    let compact: Vec<u8> = head.iter().filter(|byte| !byte.is_ascii_whitespace()).take(64).copied().collect();
    let table = [b"[{\"cols\":[".as_slice(), b"{\"cols\":[", b"{\"byCategory\":", b"{\"byProgram\":"];
    if table.iter().any(|start| compact.starts_with(start)) {
        return Some(XPROF_TABLE);
    }
    // `dform.py` of rocprof: calls and kernels of processes that are called so, with their times as text.
    let is_trace = has(head, b"\"traceEvents\"");
    let is_rocprof = || [b" CPU HIP API\"".as_slice(), b" CPU HSA API\""].iter().any(|name| has(head, name));
    (is_trace && is_rocprof() && has(head, b"\"sort_index\"")).then_some(ROCPROF_1)
}

/// The tool whose table, or text, begins with `line`.
fn table(line: &[u8]) -> Option<Foreign> {
    if (has(line, b"\"Kind\"") || has(line, b"\"Domain\"")) && has(line, b"_Timestamp\"")
        || has(line, b"\"Agent_Id\"") && has(line, b"\"Dispatch_Id\"")
    {
        return Some(ROCPROF_CSV);
    }
    let unquoted: Vec<u8> = line.iter().filter(|byte| **byte != b'"' && **byte != b'\r').copied().collect();
    // `tblextr.py` of rocprof: launches, and sums of kernels and calls.
    let starts = |start: &[u8]| unquoted.starts_with(start);
    if starts(b"Index,KernelName,") || unquoted == b"Name,Calls,TotalDurationNs,AverageNs,Percentage" {
        return Some(ROCPROF_1);
    }
    if line.starts_with(b"==") && (has(line, b"== NVPROF is profiling") || has(line, b"== Profiling ")) {
        return Some(NVPROF_TEXT);
    }
    if (starts(b"Time (%),Total Time (") || starts(b"Time(%),Total Time (")) && has(line, b"Name") {
        return Some(NSYS_TABLE);
    }
    // `Profiler.cpp` of TAU: how many functions, and of which metric.
    let mut words = line.trim_ascii().split(|byte| *byte == b' ');
    let is_count = words.next().is_some_and(|word| !word.is_empty() && word.iter().all(u8::is_ascii_digit));
    (is_count && words.next().is_some_and(|word| word.starts_with(b"templated_functions"))).then_some(TAU)
}

fn has(text: &[u8], what: &[u8]) -> bool {
    memchr::memmem::find(text, what).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn databases_are_told_by_their_tables() {
        for (names, expected) in [
            (["rocpd_string", "rocpd_api"], Some(RPD)),
            (["compute_workload", "compute_kernel"], Some(ROCPROF_COMPUTE)),
            (["rocpd_string_0000", "rocpd_kernel_dispatch_0000"], None),
        ] {
            assert_eq!(of_database(names.into_iter()), expected, "{names:?}");
        }
    }

    #[test]
    fn known_tools_are_told_by_what_they_write() {
        for (head, expected) in [
            (
                b"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n".as_slice(),
                Some(ROCPROF_CSV),
            ),
            (b"\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\"\n0,\"a\"\n", Some(ROCPROF_1)),
            (b"Index,KernelName,gpu-id\n", Some(ROCPROF_1)),
            (b"\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n", Some(ROCPROF_1)),
            (
                b"{ \"traceEvents\":[{}\n,{\"args\":{\"name\":\"0 CPU HIP API\"},\"ph\":\"M\",\"pid\":2,\"name\":\"process_name\",\"sort_index\":0}\n",
                Some(ROCPROF_1),
            ),
            (b"==4711== NVPROF is profiling process 4711, command: ./a\n", Some(NVPROF_TEXT)),
            (b"==4711== Profiling result:\n", Some(NVPROF_TEXT)),
            (b"Time (%),Total Time (ns),Instances,Avg (ns),Name\n", Some(NSYS_TABLE)),
            (b"\x89HDF\r\n\x1a\n\0", Some(HDF5)),
            (b"[{\"cols\":[{\"id\":\"stepnum\"}],\"rows\":[]}]", Some(XPROF_TABLE)),
            (b"{\"byCategory\": {\"name\": \"by_category\"}}", Some(XPROF_TABLE)),
            (b"102 templated_functions_MULTI_TIME\n# Name Calls\n", Some(TAU)),
            (b"HPCRUN-profile____04.00b", Some(HPCTOOLKIT)),
            (b"HPCPROF-metadb__\x04\x00", Some(HPCTOOLKIT)),
            (b"<?xml version=\"1.0\"?>\n<HPCToolkitExperiment version=\"2.2\">", Some(HPCTOOLKIT)),
            (b"PERFILE2\x68\0", Some(PERF)),
            (b"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"}", Some(SPEEDSCOPE)),
            (b"timestamp, index, name\n", None),
            (b"{\"traceEvents\": []}", None),
            (b"{\"traceEvents\": [{\"name\": \"process_name\", \"args\": {\"name\": \"1 CPU HIP API\"}}]}", None),
            (b"3 templates of functions\n", None),
            (b"", None),
        ] {
            assert_eq!(of(head), expected, "{}", head.escape_ascii());
        }
    }
}
