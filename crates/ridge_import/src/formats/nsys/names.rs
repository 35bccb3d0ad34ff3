//! Names: references to `StringIds`, texts in place, NVTX domains; each distinct one is made readable and interned once.

use super::tables::Tables;
use crate::import::Import;
use crate::xla::ranges::{self, XlaRange};
use memchr::memmem::Finder;
use ridge_trace::{EventKind, StringId};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// A name as a row has it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum NameKey {
    /// A name that the reader gives.
    Fixed(&'static str),
    /// A row of `StringIds`.
    Id(i64),
    /// Rows of `StringIds`, the first that has a text; -1 for none.
    FirstOf([i64; 3]),
    /// A text in place.
    Text(Box<str>),
    /// A range of an NVTX domain: process, domain, name.
    InDomain(u64, i64, Box<NameKey>),
    /// A graph by its id.
    Graph(i64),
}

/// How a table writes its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameStyle {
    AsWritten,
    /// API calls carry the version in which their parameters last changed (`cudaLaunchKernel_v7000`).
    Api,
}

/// All names of a capture.
#[derive(Debug, Default)]
pub(super) struct Names {
    texts: FxHashMap<i64, Box<str>>,
    domains: FxHashMap<(u64, i64), NameKey>,
    known: FxHashMap<(NameKey, bool), StringId>,
    /// Names that say what XLA was doing, by string id.
    pub(super) xla: FxHashMap<u32, XlaRange>,
}

impl Names {
    /// Reads `StringIds`; a text reaches the trace only where an event is called so.
    pub(super) fn read(tables: &impl Tables) -> Names {
        let text = |row: &ridge_sqlite::Row<'_>| Some((row.int(0)?, row.text(1)?.into()));
        let texts = tables.collect("StringIds", &["id", "value"], text).into_iter().collect();
        Names { texts, ..Names::default() }
    }

    /// Names the NVTX domain `domain` of process `pid`.
    pub(super) fn add_domain(&mut self, pid: u64, domain: i64, name: NameKey) {
        self.domains.insert((pid, domain), name);
    }

    /// The string id of `key`.
    pub(super) fn intern(&mut self, key: &NameKey, style: NameStyle, import: &mut Import) -> StringId {
        let place = (key.clone(), style == NameStyle::Api);
        if let Some(known) = self.known.get(&place) {
            return *known;
        }
        let text = self.text(key);
        let readable = if style == NameStyle::Api { without_version(&text) } else { &text };
        let id = import.builder.strings.intern(readable);
        if let Some(range) = ranges::range(readable).or_else(|| ranges::range_without_domain(readable)) {
            self.xla.insert(id.0, range);
        }
        self.known.insert(place, id);
        id
    }

    /// What a range called `id` is, where its name says that the program did not name it.
    pub(super) fn kind_of(&self, id: StringId) -> Option<EventKind> {
        match self.xla.get(&id.0)? {
            XlaRange::Compile => Some(EventKind::Compile),
            XlaRange::Module { .. } | XlaRange::Thunk { .. } => Some(EventKind::HostRange),
        }
    }

    /// The text of `key` as written; a reference that leads nowhere is named by its number.
    pub(super) fn text(&self, key: &NameKey) -> String {
        match key {
            NameKey::Fixed(text) => (*text).to_owned(),
            NameKey::Id(id) => self.texts.get(id).map_or_else(|| format!("(string {id})"), |text| text.to_string()),
            NameKey::FirstOf(ids) => {
                let known = ids.iter().find(|id| self.texts.get(id).is_some_and(|text| !text.is_empty()));
                let id = known.or_else(|| ids.iter().find(|id| **id >= 0));
                id.map_or_else(|| "(kernel without a name)".to_owned(), |id| self.text(&NameKey::Id(*id)))
            }
            NameKey::Text(text) => text.to_string(),
            NameKey::Graph(id) => format!("graph {id}"),
            NameKey::InDomain(pid, domain, name) => match self.domains.get(&(*pid, *domain)) {
                Some(NameKey::InDomain(..)) | None => self.plain(name),
                Some(domain) => format!("{}:{}", self.plain(domain), self.plain(name)),
            },
        }
    }

    /// The text of a name that is in no domain.
    fn plain(&self, key: &NameKey) -> String {
        if matches!(key, NameKey::InDomain(..)) { String::new() } else { self.text(key) }
    }
}

/// `cudaLaunchKernel_v7000` → `cudaLaunchKernel`, as the tool's own reports show it; `cuMemAlloc_v2` is the call's name.
fn without_version(name: &str) -> &str {
    match name.rsplit_once("_v") {
        Some((call, version)) if version.len() >= 4 && version.bytes().all(|byte| byte.is_ascii_digit()) => call,
        _ => name,
    }
}

/// What a range of PyTorch's `emit_nvtx` says: operator, sizes of its inputs.
///
/// The text is made by `getNvtxStr` in PyTorch's `torch/csrc/profiler/util.cpp`; all but the name may be absent:
/// `aten::mm, seq = 4, op_id = 7, sizes = [[2, 3]], input_op_ids = [(5,0)]`.
pub(super) fn torch_operator(text: &str) -> Option<(&str, &str)> {
    static OP_ID: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(", op_id = "));
    let is_digit = |symbol: char| symbol.is_ascii_digit();
    let (head, rest) = text.split_at(OP_ID.find(text.as_bytes())?);
    let rest = rest[OP_ID.needle().len()..].trim_start_matches(is_digit);
    let name = head.trim_end_matches(is_digit).strip_suffix(", seq = ").unwrap_or(head);
    let sizes = rest.strip_prefix(", sizes = ").unwrap_or_default();
    Some((name, sizes.split_once(", input_op_ids = ").map_or(sizes, |(sizes, _)| sizes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_calls_are_dropped() {
        for (written, shown) in [
            ("cudaLaunchKernel_v7000", "cudaLaunchKernel"),
            ("cudaLaunchKernelExC_v11060", "cudaLaunchKernelExC"),
            ("cuMemcpyHtoDAsync_v2", "cuMemcpyHtoDAsync_v2"),
            ("my_view", "my_view"),
        ] {
            assert_eq!(without_version(written), shown);
        }
    }

    #[test]
    fn the_first_name_that_has_a_text_is_taken() {
        let texts =
            [(3, "gemm<float>"), (4, ""), (5, "gemm")].map(|(id, text)| (id, text.into())).into_iter().collect();
        let names = Names { texts, ..Names::default() };
        for (ids, expected) in [
            ([3, 5, -1], "gemm<float>"),
            ([4, 5, -1], "gemm"),
            ([9, 5, -1], "gemm"),
            ([9, -1, -1], "(string 9)"),
            ([-1, -1, -1], "(kernel without a name)"),
        ] {
            assert_eq!(names.text(&NameKey::FirstOf(ids)), expected, "{ids:?}");
        }
    }

    #[test]
    fn operators_of_pytorch() {
        for (text, expected) in [
            ("aten::view, op_id = 314290", Some(("aten::view", ""))),
            ("aten::mm, seq = 4, op_id = 7", Some(("aten::mm", ""))),
            ("aten::mm, seq = 4, op_id = 7, sizes = [[2, 3], []]", Some(("aten::mm", "[[2, 3], []]"))),
            (
                "aten::mm, seq = 4, op_id = 7, sizes = [[2, 3]], input_op_ids = [(5,0), (6,0)]",
                Some(("aten::mm", "[[2, 3]]")),
            ),
            ("step 12, op_id = 7, input_op_ids = [(5,0)]", Some(("step 12", ""))),
            ("a range, with a comma", None),
            ("step", None),
        ] {
            assert_eq!(torch_operator(text), expected);
        }
    }
}
