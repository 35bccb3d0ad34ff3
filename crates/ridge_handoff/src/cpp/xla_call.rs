//! The kernel as a custom call of XLA: what goes in and out, and how it is called; the rest is in `xla_call.h`.

use super::type_name;
use crate::program::Program;
use crate::vectors::width;
use ridge_hlo::ElementType;
use std::fmt::Write as _;

/// What `xla_call` includes.
pub const XLA_CALL: &str = include_str!("xla_call.h");

/// A library with the custom call `ridgeline_region`, whose arguments are the region's inputs and what the original code made
/// of them, and whose results are the kernel's.
pub fn xla_call(program: &Program) -> String {
    let inputs: Vec<(ElementType, &[usize])> =
        program.inputs.iter().map(|port| (port.element_type, port.dims.as_slice())).collect();
    let outputs = program.outputs.iter().map(|output| &program.nodes[*output]);
    let outputs: Vec<(ElementType, &[usize])> = outputs.map(|node| (node.element_type, node.dims.as_slice())).collect();
    let mut text =
        String::from("// The region as a custom call of XLA.\n#include \"xla_call.h\"\n\nnamespace emulated {\n\n");
    ports("INPUTS", &inputs, &mut text);
    ports("OUTPUTS", &outputs, &mut text);
    text.push_str("static void call(const void* const* in, void* const* out) {\n");
    let mut arguments = Vec::new();
    for (side, all) in [("in", &inputs), ("out", &outputs)] {
        for (at, (ty, dims)) in all.iter().enumerate() {
            let count: usize = dims.iter().product();
            let _ = writeln!(
                text,
                "  Array<{}, {}> {side}{at}({side}[{at}], {count}, {});",
                type_name(*ty),
                file_type(*ty),
                side == "in"
            );
            arguments.push(format!("{side}{at}.data()"));
        }
    }
    let _ = writeln!(text, "  kernel({});", arguments.join(", "));
    for at in 0..outputs.len() {
        let _ = writeln!(text, "  out{at}.give();");
    }
    text.push_str(TAIL);
    text
}

fn ports(name: &str, all: &[(ElementType, &[usize])], text: &mut String) {
    let _ = writeln!(text, "static const std::vector<Port> {name} = {{");
    for (ty, dims) in all {
        let kind = match ty {
            ElementType::F32 => "real32",
            ElementType::F64 => "real64",
            ElementType::Pred => "truth",
            _ => "whole",
        };
        let count: usize = dims.iter().product();
        let dims: Vec<String> = dims.iter().map(ToString::to_string).collect();
        let _ = writeln!(
            text,
            "  {{xla::ffi::DataType::{}, Kind::{kind}, {}, {}, {count}, {{{}}}}},",
            ty.name().to_uppercase(),
            !ty.name().starts_with('u'),
            width(*ty),
            dims.join(", ")
        );
    }
    text.push_str("};\n\n");
}

/// How an element lies in an array of XLA.
fn file_type(ty: ElementType) -> &'static str {
    match ty {
        ElementType::F32 => "float",
        ElementType::F64 => "double",
        ty => type_name(ty),
    }
}

const TAIL: &str = r#"}

static xla::ffi::Error region(xla::ffi::RemainingArgs args, xla::ffi::RemainingRets rets) {
  return handle(INPUTS, OUTPUTS, args, rets);
}

}  // namespace emulated

XLA_FFI_DEFINE_HANDLER_SYMBOL(ridgeline_region, emulated::region, xla::ffi::Ffi::Bind().RemainingArgs().RemainingRets());

extern "C" int ridgeline_count_in(const char* path) {
  return emulated::count_in(path, emulated::INPUTS.size(), emulated::OUTPUTS.size());
}
"#;
