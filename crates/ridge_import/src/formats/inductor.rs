//! What PyTorch's compiler writes of its own work with `TORCH_COMPILE_DEBUG=1`: the program that it made of a graph
//! (`output_code.py`), the graph with the lines that its nodes came from (`fx_graph_readable.py`), and which nodes went into
//! which kernel (`inductor_provenance_tracking_node_mappings.json`).
//!
//! Files of one graph lie in one folder; what they say together is given to the kernels of a trace by name. Nothing in them is
//! run: only comments, names that are assigned, and calls at the beginning of a line are looked at.

use crate::choice::InFolder;
use crate::formats::Format;
use crate::import::{CaptureFacts, Import, ImportError, Source};
use crate::note::Severity;
use ridge_redact::Redactor;
use ridge_trace::{FusedKernel, StringId};
use std::collections::BTreeSet;

/// Files of the compiler of PyTorch.
pub(super) struct InductorFiles;

/// Names of the files, which come behind a dot where those of several graphs are in one folder.
const FILES: [&str; 4] = [
    "output_code.py",
    "fx_graph_readable.py",
    "fx_graph_transformed.py",
    "inductor_provenance_tracking_node_mappings.json",
];

/// How its three kinds of files begin.
const CODE: &[u8] = b"# AOT ID:";
const GRAPHS: [&[u8]; 2] = [b"class GraphModule(torch.nn.Module)", b"class <lambda>(torch.nn.Module)"];
const MAPPINGS: &[u8] = b"{\"preToPost\"";

/// Lines that are kept of one kernel.
const MOST_LINES: usize = 8;

impl Format for InductorFiles {
    fn name(&self) -> &'static str {
        "inductor"
    }

    fn in_folder(&self) -> InFolder {
        InFolder::Beside("inductor", &[])
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let text = head.trim_ascii_start();
        text.starts_with(CODE) || text.starts_with(MAPPINGS) || GRAPHS.iter().any(|start| text.starts_with(start))
    }

    fn redactor(&self, head: &[u8]) -> Redactor {
        if head.trim_ascii_start().starts_with(b"{") { Redactor::Json } else { Redactor::Text }
    }

    fn import(&self, source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
        let text = String::from_utf8_lossy(source.bytes);
        let graph = import.inductor.graphs.entry(graph_of(source.name).to_owned()).or_default();
        if text.trim_start().starts_with('{') {
            graph.map(&text).map_err(|what| ImportError::Broken {
                source_name: source.name.to_owned(),
                offset: 0,
                what,
            })?;
        } else if text.trim_start().as_bytes().starts_with(CODE) {
            graph.read_code(&text);
        } else {
            graph.read_nodes(&text);
        }
        import.captures.push(CaptureFacts {
            source: source.name.to_owned(),
            format: "inductor",
            bytes: source.bytes.len() as u64,
            ..CaptureFacts::default()
        });
        Ok(())
    }
}

/// What the files of a graph have in common: their folder, or the beginning of their names.
fn graph_of(name: &str) -> &str {
    FILES.iter().find_map(|file| name.strip_suffix(file)).unwrap_or(name)
}

/// Gives the trace what is known of its kernels.
pub(crate) fn tell_kernels(import: &mut Import) {
    for (name, graph) in &std::mem::take(&mut import.inductor).graphs {
        if graph.kernels.is_empty() {
            let message = "no kernels of this graph were given: they are in output_code.py beside it";
            import.note(Severity::Info, name, None, 1, message.to_owned());
        }
        for (kernel, known) in &graph.kernels {
            let places: BTreeSet<&str> =
                known.nodes.iter().filter_map(|node| graph.places.get(node)).map(String::as_str).collect();
            let mut lines: Vec<&str> = places.into_iter().collect();
            lines.sort_by_key(|place| {
                place.rsplit_once(':').map(|(file, line)| (file, line.parse::<u32>().unwrap_or(0)))
            });
            lines.truncate(MOST_LINES);
            let fused = [kernel, &known.operators, &lines.join(", ")].map(|text| import.builder.strings.intern(text));
            let [name, operators, lines] = fused;
            import.builder.fused.push(FusedKernel { name, operators, lines, config: StringId::default() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::import;
    use expect_test::expect;

    /// What files, by name, say of kernels.
    fn told(files: &[(&str, &str)]) -> String {
        let sources: Vec<Source<'_>> =
            files.iter().map(|(name, text)| Source { name, bytes: text.as_bytes() }).collect();
        let trace = import(&sources, None).expect("files of the compiler").trace;
        let text = |id: StringId| trace.strings.get(id).to_owned();
        let row =
            |fused: &FusedKernel| format!("{} | {} | {}\n", text(fused.name), text(fused.operators), text(fused.lines));
        trace.fused.iter().map(row).collect()
    }

    #[test]
    fn kernels_of_triton_say_their_nodes_where_they_are_made() {
        expect![[r#"
            extern_kernels.addmm | aten.addmm | 
            triton_poi_fused_gelu_0 | aten.gelu | net.py:9, net.py:12
        "#]]
        .assert_eq(&told(&[
            (
                "d/output_code.py",
                "# AOT ID: ['0_inference']\nimport torch\n\n
# kernel path: /tmp/torchinductor/ab/cab.py
# Topologically Sorted Source Nodes: [y], Original ATen: [aten.gelu]
# Source node to ATen node mapping:
#   y => add, erf, mul
# Graph fragment:
#   %mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%x, 0.5), kwargs = {})
triton_poi_fused_gelu_0 = async_compile.triton('triton_poi_fused_gelu_0', '''
import triton
''', device_str='cuda')

def call(args):
        # Topologically Sorted Source Nodes: [linear], Original ATen: [aten.addmm]
        extern_kernels.addmm(a, b, out=buf0)
        # Topologically Sorted Source Nodes: [y], Original ATen: [aten.gelu]
        stream0 = get_raw_stream(0)
        triton_poi_fused_gelu_0.run(buf0, 64, stream=stream0)
",
            ),
            (
                "d/fx_graph_readable.py",
                "class GraphModule(torch.nn.Module):
    def forward(self, x):
        # File: net.py:12 in forward, code: y = gelu(x)
        mul: \"f32[4]\" = torch.ops.aten.mul.Tensor(x, 0.5)
        # Backward of forward node: File: net.py:9 in other, code: z
        erf = torch.ops.aten.erf.default(mul);  mul = None

        add = 3
",
            ),
        ]));
    }

    #[test]
    fn kernels_for_processors_have_their_nodes_beside_them() {
        expect![[r#"
            cpp_fused_add_1 |  | a.py:3
        "#]]
        .assert_eq(&told(&[
            (
                "x.output_code.py",
                "# AOT ID: ['0_forward']\n# [Provenance debug handles] cpp_fused_add_1:1\ncpp_fused_add_1(buf0)\n",
            ),
            (
                "x.fx_graph_readable.py",
                "class <lambda>(torch.nn.Module):\n  # File: a.py:3 in f, code: x\n  add_2: \"f32\" = 1\n",
            ),
            (
                "x.inductor_provenance_tracking_node_mappings.json",
                r#"{"preToPost": {}, "cppCodeToPost": {"cpp_fused_add_1:1": ["add_2", 7]}, "postToCppCode": []}"#,
            ),
        ]));
    }

    #[test]
    fn files_that_pytorch_wrote() {
        let folder = ridge_test::fixtures("inductor");
        let names = FILES.map(|file| format!("forward.{file}"));
        // Here they are no programs.
        let read = |name: &str| std::fs::read_to_string(folder.join(name.replace(".py", ".txt"))).ok();
        let files: Vec<(&str, String)> = names.iter().filter_map(|name| Some((name.as_str(), read(name)?))).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        expect![[r#"
            cpp_fused_add_gelu_mean_pow_sin_sum_1 |  | net.py:12, net.py:13
            cpp_fused_native_layer_norm_0 |  | net.py:11
            extern_kernels.addmm | aten.t, aten.addmm | net.py:12
        "#]]
        .assert_eq(&told(&files));
    }

    #[test]
    fn triton_kernels_say_in_a_trace_how_they_were_tuned() {
        let path = ridge_test::real("kineto").join("mi300_torch_compile_triton.json.gz");
        let bytes = std::fs::read(path).expect("a fixture");
        let trace = import(&[Source { name: "trace.json.gz", bytes: &bytes }], None).expect("a trace").trace;
        let mut told: Vec<String> = (trace.fused.iter())
            .map(|fused| format!("{}: {}", trace.strings.get(fused.name), trace.strings.get(fused.config)))
            .collect();
        told.sort();
        assert_eq!(told[0], "triton_poi_fused__unsafe_view_add_3: XBLOCK=512, 4 warps, 1 stage");
        assert_eq!(told.len(), 4, "{told:?}");
    }

    #[test]
    fn files_of_other_programs_are_none() {
        for (head, expected) in [
            ("# AOT ID: ['3_backward']\n", true),
            ("class GraphModule(torch.nn.Module):\n", true),
            ("import torch\n", false),
            ("class Net(torch.nn.Module):\n", false),
            ("{\"preToPost\": {}}", true),
            ("{\"pre\": 1}", false),
        ] {
            assert_eq!(InductorFiles.sniff(head.as_bytes()), expected, "{head}");
        }
    }
}
