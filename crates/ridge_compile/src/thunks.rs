//! The launches of a module in the order in which the GPU's runtime starts them: XLA's dump of its thunks, as text.
//!
//! `thunk_sequence_after_thunk_passes.txt` has a line a thunk, indented by what contains it, and
//! `thunk_metadata.txt` the instruction that each thunk is of, by number
//! (`ThunkSequence::ToString` and `DumpThunkMetadata` of openxla/xla, xla/backends/gpu/runtime).

use rustc_hash::FxHashMap;

/// One thunk, with what it contains.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Thunk {
    /// XLA's word for its kind (`kKernel`, `kWhile`).
    pub kind: String,
    /// The instruction that it is of, by the name in the module; empty where that is not said.
    pub instruction: String,
    /// How its kernel is launched, where it is one.
    pub launch: Option<Launch>,
    /// What it runs: a loop's condition, then its body; what a command buffer or a sequence holds.
    pub inside: Vec<Inside>,
}

/// A part of a thunk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inside {
    /// `condition`, `body`, or what XLA calls it; empty where a thunk has one part.
    pub part: String,
    /// Its thunks, in order.
    pub thunks: Vec<Thunk>,
}

/// A kernel's launch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Launch {
    /// The kernel's name in the PTX.
    pub kernel: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Bytes of shared memory that the launch asks for.
    pub dynamic_shared_bytes: u32,
}

/// Thunks deeper than this are left out: no program nests loops so far.
const MOST_DEPTH: usize = 64;

/// The label of a loop's condition.
const CONDITION: &str = "condition";

/// The thunks of a module: `sequence` and `metadata` are the two dumps; what cannot be read of them is left out.
pub fn thunks(sequence: &str, metadata: &str) -> Vec<Thunk> {
    let names = instructions(metadata);
    let mut open = vec![Open { indent: 0, thunk: None, part: Inside::default() }];
    for line in sequence.lines().filter(|line| !line.trim().is_empty()) {
        let indent = line.len() - line.trim_start().len();
        let text = line.trim();
        let Some((number, rest)) = numbered(text) else {
            if let Some(part) = text.strip_suffix(':') {
                begin_part(&mut open, indent, part);
            }
            continue;
        };
        close_to(&mut open, indent);
        let kind = rest.split_whitespace().next().unwrap_or_default();
        let instruction = names.get(&(number, kind.to_owned())).cloned().unwrap_or_default();
        let thunk = Thunk { kind: kind.to_owned(), instruction, launch: launch(kind, rest), inside: Vec::new() };
        if open.len() < MOST_DEPTH {
            open.push(Open { indent, thunk: Some(thunk), part: Inside::default() });
        }
    }
    close_all(open)
}

/// A thunk whose lines may go on, and the part of it that they are of.
#[derive(Debug)]
struct Open {
    indent: usize,
    thunk: Option<Thunk>,
    part: Inside,
}

impl Open {
    fn end_part(&mut self) {
        let part = std::mem::take(&mut self.part);
        if let Some(thunk) = self.thunk.as_mut().filter(|_| !part.thunks.is_empty()) {
            thunk.inside.push(part);
        }
    }
}

/// A label begins a part of the innermost thunk that stands less deep; `condition` is never indented, and follows its loop.
fn begin_part(open: &mut Vec<Open>, indent: usize, part: &str) {
    while part != CONDITION && open.len() > 1 && open.last().is_some_and(|last| last.indent > indent) {
        close_last(open);
    }
    if let Some(last) = open.last_mut() {
        last.end_part();
        part.clone_into(&mut last.part.part);
    }
}

fn close_to(open: &mut Vec<Open>, indent: usize) {
    while open.len() > 1 && open.last().is_some_and(|last| last.indent >= indent) {
        close_last(open);
    }
}

fn close_last(open: &mut Vec<Open>) {
    let Some(mut last) = open.pop() else { return };
    last.end_part();
    if let (Some(thunk), Some(outer)) = (last.thunk, open.last_mut()) {
        outer.part.thunks.push(thunk);
    }
}

fn close_all(mut open: Vec<Open>) -> Vec<Thunk> {
    while open.len() > 1 {
        close_last(&mut open);
    }
    open.pop().map(|root| root.part.thunks).unwrap_or_default()
}

/// The number before a thunk's colon, and what follows.
fn numbered(text: &str) -> Option<(u64, &str)> {
    let (number, rest) = text.split_once(": ")?;
    Some((number.parse().ok()?, rest))
}

/// Names of instructions by the numbers and kinds of their thunks; numbers of thunks that hold others are not written.
fn instructions(metadata: &str) -> FxHashMap<(u64, String), String> {
    let (mut names, mut name, mut number) = (FxHashMap::default(), String::new(), 0);
    for line in metadata.lines().map(str::trim) {
        if let Some(value) = line.strip_prefix("profile_annotation: ") {
            value.trim_matches('"').clone_into(&mut name);
        } else if let Some(value) = line.strip_prefix("thunk_id: ") {
            number = value.parse().unwrap_or(0);
        } else if let Some(value) = line.strip_prefix("thunk_kind: ") {
            names.entry((number, value.trim_matches('"').to_owned())).or_insert_with(|| std::mem::take(&mut name));
        } else if line.starts_with("thunk_metadata {") {
            (name, number) = (String::new(), 0);
        }
    }
    names
}

fn launch(kind: &str, rest: &str) -> Option<Launch> {
    let described = rest.split_once(']').map_or(rest, |(_, described)| described).trim();
    let after = |key: &str| described.split_once(key).map(|(_, value)| value);
    match kind {
        "kKernel" => Some(Launch {
            kernel: after("kernel=")?.split(',').next()?.trim().to_owned(),
            grid: three(after("blocks: {")?, '}')?,
            block: three(after("threads/block: {")?, '}')?,
            dynamic_shared_bytes: 0,
        }),
        "kCustomKernel" => Some(Launch {
            kernel: described.split_whitespace().next()?.to_owned(),
            grid: three(after("grid: [")?, ']')?,
            block: three(after("threads: [")?, ']')?,
            dynamic_shared_bytes: after("shared_memory: ")?.split_whitespace().next()?.parse().ok()?,
        }),
        _ => None,
    }
}

fn three(text: &str, end: char) -> Option<[u32; 3]> {
    let mut numbers = text.split(end).next()?.split(',').map(|number| number.trim().parse().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn told(thunks: &[Thunk], depth: usize, text: &mut String) {
        for thunk in thunks {
            let launch = thunk.launch.as_ref().map(|launch| {
                let (grid, block) = (launch.grid, launch.block);
                format!(" {} {grid:?} of {block:?} +{}", launch.kernel, launch.dynamic_shared_bytes)
            });
            let pad = " ".repeat(depth * 2);
            text.push_str(&format!("{pad}{} {}{}\n", thunk.kind, thunk.instruction, launch.unwrap_or_default()));
            for inside in &thunk.inside {
                text.push_str(&format!("{pad} ({})\n", inside.part));
                told(&inside.thunks, depth + 1, text);
            }
        }
    }

    const SEQUENCE: &str = "\
000: kCommandBuffer [source       | next=006 (1)] \n\
\x20   001: kCopy         [source       | sink        ] MemcpyDeviceToDeviceCmd\n\
\x20   004: kKernel       [prev=003 (1) | next=005 (1)] kernel=gemm_fusion_dot, profile_annotation=gemm_fusion_dot, launch dimensions=blocks: {8192, 1, 1}, threads/block: {64, 1, 1}, cluster_dim=nullopt\n\
006: kWhile         [prev=000 (1) | next=011 (1)]   \n\
condition:\n\
\x20   007: kCustomKernel [source | sink] loop_compare_fusion grid: [1, 1, 1] threads: [1, 1, 1]  shared_memory: 0 bytes\n\
\x20 body:\n\
\x20   008: kCustomKernel [source       | sink        ] loop_add_fusion grid: [1, 1, 1] threads: [1, 1, 1]  shared_memory: 16 bytes\n\
\x20   009: kCustomKernel [source       | next=010 (1)] input_concatenate_fusion grid: [2044, 1, 1] threads: [128, 1, 1]  shared_memory: 0 bytes\n\
\x20   010: kWhile        [prev=006 (2) | sink]       \n\
condition:\n\
\x20       012: kCustomKernel [source | sink] loop_compare_fusion grid: [1, 1, 1] threads: [1, 1, 1]  shared_memory: 0 bytes\n\
\x20     body:\n\
\x20       013: kCopy         [prev=011 (1) | sink        ] MemcpyDeviceToDeviceCmd\n\
011: kCustomKernel  [prev=006 (1) | sink        ] input_reduce_fusion grid: [64, 1, 1] threads: [256, 1, 1]  shared_memory: 0 bytes\n";

    const METADATA: &str = "\
thunk_metadata {\n  thunk_info {\n    profile_annotation: \"command_buffer_1\"\n  }\n  thunk_kind: \"kCommandBuffer\"\n}\n\
thunk_metadata {\n  thunk_info {\n  }\n  thunk_kind: \"kSequential\"\n}\n\
thunk_metadata {\n  thunk_info {\n    profile_annotation: \"copy.7\"\n    thunk_id: 1\n  }\n  thunk_kind: \"kCopy\"\n}\n\
thunk_metadata {\n  thunk_info {\n    profile_annotation: \"gemm_fusion_dot.2\"\n    thunk_id: 4\n  }\n  thunk_kind: \"kKernel\"\n}\n\
thunk_metadata {\n  thunk_info {\n    profile_annotation: \"while.5\"\n    thunk_id: 6\n  }\n  thunk_kind: \"kWhile\"\n}\n";

    #[test]
    fn thunks_stand_in_what_contains_them() {
        let mut text = String::new();
        told(&thunks(SEQUENCE, METADATA), 0, &mut text);
        expect![[r#"
            kCommandBuffer command_buffer_1
             ()
              kCopy copy.7
              kKernel gemm_fusion_dot.2 gemm_fusion_dot [8192, 1, 1] of [64, 1, 1] +0
            kWhile while.5
             (condition)
              kCustomKernel  loop_compare_fusion [1, 1, 1] of [1, 1, 1] +0
             (body)
              kCustomKernel  loop_add_fusion [1, 1, 1] of [1, 1, 1] +16
              kCustomKernel  input_concatenate_fusion [2044, 1, 1] of [128, 1, 1] +0
              kWhile 
               (condition)
                kCustomKernel  loop_compare_fusion [1, 1, 1] of [1, 1, 1] +0
               (body)
                kCopy 
            kCustomKernel  input_reduce_fusion [64, 1, 1] of [256, 1, 1] +0
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn what_is_cut_or_strange_is_left_out() {
        assert_eq!(thunks("", ""), []);
        assert_eq!(thunks("nothing here\n 7 no colon\n", "thunk_id: x\n"), []);
        let cut = thunks("001: kKernel [source] kernel=f, launch dimensions=blocks: {8192, 1", "");
        assert_eq!((cut.len(), cut[0].launch.as_ref()), (1, None));
        let deep: String = (0..500).map(|depth| format!("{}{depth}: kSequential [x]\n", " ".repeat(depth))).collect();
        assert_eq!(thunks(&deep, "").len(), 1);
    }
}
