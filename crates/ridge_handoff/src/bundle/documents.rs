//! The documents of a bundle, each as JSON or text.

use super::{Files, Source};
use crate::arithmetic::Fixed;
use crate::cpp;
use crate::program::{Node, NodeId, Op, Program};
use crate::vectors::{Vectors, width};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// As it stands in a file.
pub(crate) fn laid_out(value: &Value) -> String {
    serde_json::to_string_pretty(value).map_or_else(|_| String::new(), |text| text + "\n")
}

/// What goes in and out.
pub(super) fn interface(program: &Program, source: &Source) -> Value {
    let port = |name: &str, ty: ridge_hlo::ElementType, dims: &[usize]| {
        let elements: usize = dims.iter().product();
        json!({
            "name": name,
            "element_type": ty.name(),
            "dims": dims,
            "bytes": elements * width(ty),
            "order": "logical, the last dimension fastest",
        })
    };
    let reads = |number: usize| -> Vec<Value> {
        let input = program.nodes.iter().position(|node| node.op == Op::Input(number));
        let readers = program.nodes.iter().filter(|node| input.is_some_and(|input| node.of.contains(&input)));
        readers.map(|node| json!({ "by": node.name, "as": access(node, input.unwrap_or(0)).words() })).collect()
    };
    let inputs = program.inputs.iter().enumerate().map(|(at, one)| {
        let mut document = port(&one.name, one.element_type, &one.dims);
        document["read"] = Value::Array(reads(at));
        let kept = source.recorded.iter().filter_map(|call| call.inputs.get(at));
        document["observed_range"] = range(kept, one.element_type);
        document
    });
    let outputs = program.outputs.iter().map(|output| {
        let node = &program.nodes[*output];
        port(&node.name, node.element_type, &node.dims)
    });
    let outputs = outputs.enumerate().map(|(at, mut document)| {
        let ty = program.nodes[program.outputs[at]].element_type;
        document["observed_range"] = range(source.recorded.iter().filter_map(|call| call.outputs.get(at)), ty);
        document
    });
    json!({
        "inputs": inputs.collect::<Vec<_>>(),
        "outputs": outputs.collect::<Vec<_>>(),
        "aliases": source.aliases.iter().map(|(output, input)| json!({ "output": output, "input": input })).collect::<Vec<_>>(),
        "values_captured": !source.recorded.is_empty(),
    })
}

/// The least and the greatest finite value that was seen while the program ran; nothing where none was.
fn range<'a>(kept: impl Iterator<Item = &'a Vec<u8>>, ty: ridge_hlo::ElementType) -> Value {
    let cells = kept.filter_map(|bytes| crate::vectors::numbers(bytes, ty, bytes.len() / width(ty)));
    let values = cells.flatten().map(|cell| match cell {
        crate::Cell::Real(value) => value,
        crate::Cell::Whole(value, _) => value as f64,
    });
    let ends = values.filter(|value| value.is_finite()).fold(None, |ends: Option<(f64, f64)>, value| {
        Some(ends.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
    });
    ends.map_or(Value::Null, |(low, high)| json!([low, high]))
}

/// How an operation reads an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Fixed,
    ByData,
}

impl Access {
    fn words(self) -> &'static str {
        match self {
            Access::Fixed => "a fixed map of the result's index",
            Access::ByData => "positions that data decide",
        }
    }
}

fn access(node: &Node, operand: NodeId) -> Access {
    match &node.op {
        Op::Gather(_) | Op::Scatter(..) | Op::DynamicSlice | Op::DynamicUpdateSlice
            if node.of.first() == Some(&operand) =>
        {
            Access::ByData
        }
        Op::Loop(inner) => {
            let nodes = &inner.body.nodes;
            let is_it = |number: usize| node.of.get(number) == Some(&operand);
            let inside =
                nodes.iter().enumerate().filter(|(_, one)| matches!(one.op, Op::Input(number) if is_it(number)));
            let by_data = inside
                .flat_map(|(at, _)| {
                    nodes.iter().filter(move |one| one.of.contains(&at)).map(move |one| access(one, at))
                })
                .any(|access| access == Access::ByData);
            if by_data { Access::ByData } else { Access::Fixed }
        }
        _ => Access::Fixed,
    }
}

/// Operations and what flows between them.
pub(super) fn dataflow(program: &Program) -> Value {
    let nodes = program.nodes.iter().enumerate().map(|(at, node)| {
        let mut document = json!({
            "id": at,
            "name": node.name,
            "op": node.op.name(),
            "element_type": node.element_type.name(),
            "dims": node.dims,
            "elements": node.elements(),
            "source": if node.source.is_empty() { Value::Null } else { Value::String(node.source.clone()) },
        });
        if let Op::Loop(inner) = &node.op {
            document["trips"] = json!(inner.trips);
            document["body"] = dataflow(&inner.body);
        }
        document
    });
    let edges = program.nodes.iter().enumerate().flat_map(|(at, node)| {
        node.of.iter().map(move |operand| {
            // Of a loop's state a part is read.
            let from = if matches!(node.op, Op::State(_)) { node } else { &program.nodes[*operand] };
            json!({ "from": operand, "to": at, "bytes": from.elements() * width(from.element_type) })
        })
    });
    let counts: serde_json::Map<String, Value> =
        cpp::counts(program).into_iter().map(|(name, count)| (name, json!(count))).collect();
    json!({
        "operations": counts,
        "nodes": nodes.collect::<Vec<_>>(),
        "edges": edges.collect::<Vec<_>>(),
        "outputs": program.outputs,
    })
}

/// The same for Graphviz.
pub(super) fn dot(program: &Program) -> String {
    let mut text = String::from("digraph region {\n  rankdir=TB;\n  node [shape=box, fontname=\"monospace\"];\n");
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    for (at, node) in program.nodes.iter().enumerate() {
        let _ = writeln!(text, "  n{at} [label=\"{}\\n{}\"];", quoted(&node.name), node.words());
        for operand in &node.of {
            let _ = writeln!(text, "  n{operand} -> n{at};");
        }
    }
    text.push_str("}\n");
    text
}

/// What has to be kept, and where.
pub(super) fn memory(program: &Program, source: &Source) -> Value {
    let bytes_in: usize =
        program.inputs.iter().map(|port| port.dims.iter().product::<usize>() * width(port.element_type)).sum();
    let out = program.outputs.iter().map(|output| &program.nodes[*output]);
    let bytes_out: usize = out.map(|node| node.elements() * width(node.element_type)).sum();
    json!({
        "input_bytes": bytes_in,
        "output_bytes": bytes_out,
        "reference_keeps_bytes": cpp::kept_bytes(program),
        "reference_keeps": "arrays between the loops of hls/kernel.cpp, as it stands; a design with line buffers keeps less",
        "buffers_of_compiler": source.buffers.is_some(),
    })
}

/// What the bound of the error is, over one output of one set.
pub(super) fn tolerance(set: &str, output: usize, values: &[u8], errors: &[u8]) -> Value {
    let doubles = |bytes: &[u8]| -> Vec<f64> {
        bytes.chunks_exact(8).map(|chunk| f64::from_le_bytes(chunk.try_into().unwrap_or_default())).collect()
    };
    let (values, errors) = (doubles(values), doubles(errors));
    let most = errors.iter().copied().filter(|error| error.is_finite()).fold(0.0, f64::max);
    json!({
        "set": set,
        "output": output,
        "elements": values.len(),
        "largest_bound": most,
        "undecided": errors.iter().filter(|error| error.is_infinite()).count(),
    })
}

/// A number format, and how far off it was.
pub(super) struct FormatRow {
    pub(super) format: Fixed,
    pub(super) why_not: Option<String>,
    sets: Vec<Value>,
}

impl FormatRow {
    pub(super) fn new(format: Fixed) -> FormatRow {
        FormatRow { format, why_not: None, sets: Vec::new() }
    }

    pub(super) fn add(
        &mut self,
        set: &str,
        outputs: &[(Vec<u8>, Vec<f64>)],
        references: &[(Vec<u8>, Vec<u8>)],
        files: &mut Files,
    ) {
        for (at, ((bytes, values), (reference, _))) in outputs.iter().zip(references).enumerate() {
            files.insert(format!("golden/{set}/{}.out{at}.bin", self.format.slug()), bytes.clone());
            let most = (self.format.integer as f64 - 1.0).exp2();
            let (mut largest, mut squares, mut compared, mut beyond) = (0.0_f64, 0.0, 0_u64, 0_u64);
            for (value, chunk) in values.iter().zip(reference.chunks_exact(8)) {
                let exact = f64::from_le_bytes(chunk.try_into().unwrap_or_default());
                if !exact.is_finite() || exact.abs() >= most {
                    beyond += 1;
                    continue;
                }
                largest = largest.max((value - exact).abs());
                squares += (value - exact).powi(2);
                compared += 1;
            }
            let rms = if compared > 0 { json!((squares / compared as f64).sqrt()) } else { Value::Null };
            let largest = if compared > 0 { json!(largest) } else { Value::Null };
            self.sets.push(json!({ "set": set, "output": at, "largest_error": largest, "rms_error": rms, "compared": compared, "beyond_range": beyond }));
        }
    }
}

/// What is known of the region's numbers.
pub(super) fn numerics(program: &Program, tolerances: &[Value], rows: &[FormatRow]) -> Value {
    let formats = rows.iter().map(|row| {
        json!({
            "format": row.format.to_string(),
            "slug": row.format.slug(),
            "why_not": row.why_not,
            "errors": row.sets,
        })
    });
    json!({
        "strict": "every operation rounded once to its type, in the order of hls/kernel.cpp; nothing contracted; denormals kept",
        "sums": "from the first value on, in the order of the index; engines that add in another order stay within the bound",
        "sorts": "by Batcher's network up to 64 values, so that equal values may change places",
        "tolerance": "golden/*/bound.*.bin, for each element: running error analysis (Higham 2002, sections 3.3 and 4.2), functions within 4 units in the last place; infinite where rounding decides a comparison or an index",
        "tolerances": tolerances,
        "functions_to_design": cpp::transcendental(program),
        "fixed_point": "rounded to the nearest, halves upwards, held within the range; functions by double precision, which hardware has to approximate",
        "formats": formats.collect::<Vec<_>>(),
    })
}

/// How to run the vectors by hand.
pub(super) fn makefile(sets: &[Vectors], formats: &[String]) -> String {
    let folders: Vec<String> = sets.iter().map(|set| format!("../golden/{}", set.name)).collect();
    let mut text = format!(
        "# Runs the vectors against the reference; `ridgeline handoff verify ..` does the same and more.\nCXX ?= g++\nFLAGS = -std=c++17 -O1 -ffp-contract=off -Wall -Wno-unknown-pragmas\nSETS = {}\n\nall: strict {}\n\nstrict: tb\n\t./tb strict $(SETS)\n\ntb: kernel.cpp tb.cpp kernel.h numbers.h\n\t$(CXX) $(FLAGS) -o $@ kernel.cpp tb.cpp\n",
        folders.join(" "),
        formats.join(" ")
    );
    for slug in formats {
        let mut parts = slug.split('_').skip(1);
        let (width, integer) = (parts.next().unwrap_or("16"), parts.next().unwrap_or("8"));
        let _ = write!(
            text,
            "\n{slug}: tb_{slug}\n\t./tb_{slug} {slug} $(SETS)\n\ntb_{slug}: kernel.cpp tb.cpp kernel.h numbers.h\n\t$(CXX) $(FLAGS) -DFIXED_WIDTH={width} -DFIXED_INTEGER={integer} -o $@ kernel.cpp tb.cpp\n"
        );
    }
    text
}
