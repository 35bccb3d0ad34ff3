//! The test bench: reads vectors, runs the kernel, compares bit by bit.

use super::type_name;
use crate::program::Program;
use ridge_hlo::ElementType;
use std::fmt::Write as _;

/// A program that takes folders of vectors and the name of the engine to be compared with, and ends with 0 where all bits are
/// the same; what is no number is the same as what is no number.
pub fn test_bench(program: &Program) -> String {
    let mut text = String::from(HEAD);
    text.push_str("static long run(const std::string& folder, const std::string& engine, long& compared) {\n");
    let mut arguments = Vec::new();
    for (at, port) in program.inputs.iter().enumerate() {
        let (ty, count): (_, usize) = (type_name(port.element_type), port.dims.iter().product());
        let _ = writeln!(
            text,
            "  std::vector<{}> i{at} = load<{}>(folder + \"/in{at}.bin\", {count});",
            file_type(port.element_type),
            file_type(port.element_type)
        );
        let _ = writeln!(
            text,
            "  static {ty} in{at}[{count}];\n  for (size_t k = 0; k < {count}; ++k) in{at}[k] = hlo::convert<{ty}>({}i{at}[k]);",
            truth(port.element_type)
        );
        arguments.push(format!("in{at}"));
    }
    for (at, node) in program.outputs.iter().enumerate() {
        let node = &program.nodes[*node];
        let _ = writeln!(text, "  static {} out{at}[{}];", type_name(node.element_type), node.elements());
        arguments.push(format!("out{at}"));
    }
    let _ = writeln!(text, "  kernel({});\n  long wrong = 0;", arguments.join(", "));
    for (at, node) in program.outputs.iter().enumerate() {
        let node = &program.nodes[*node];
        let _ = writeln!(
            text,
            "  wrong += compare(out{at}, {}, folder + \"/\" + engine + \".out{at}.bin\", compared);",
            node.elements()
        );
    }
    text.push_str("  return wrong;\n}\n");
    text.push_str(TAIL);
    text
}

/// How an element stands in a file.
fn file_type(ty: ElementType) -> &'static str {
    match ty {
        ElementType::F32 => "float",
        ElementType::F64 => "double",
        ElementType::Pred => "uint8_t",
        ty => type_name(ty),
    }
}

fn truth(ty: ElementType) -> &'static str {
    if ty == ElementType::Pred { "0 != " } else { "" }
}

const HEAD: &str = r#"// Test bench: tb ENGINE FOLDER… compares the kernel with the vectors of ENGINE, bit by bit.
#include "kernel.h"
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

template <typename T> static std::vector<T> load(const std::string& path, size_t count) {
  std::vector<T> values(count);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
  if (!file || file.peek() != EOF) {
    std::fprintf(stderr, "error: expected %zu values in %s\n", count, path.c_str());
    std::exit(2);
  }
  return values;
}

template <typename T> static bool same(T a, T b) { return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b); }

template <typename T> static long compare(const T* found, size_t count, const std::string& path, long& compared) {
  long wrong = 0;
  compared += static_cast<long>(count);
  if constexpr (hlo::is_fixed<T>::value) {
    std::vector<int32_t> expected = load<int32_t>(path, count);
    for (size_t k = 0; k < count; ++k) wrong += found[k].raw != expected[k];
  } else if constexpr (std::is_same<T, bool>::value) {
    std::vector<uint8_t> expected = load<uint8_t>(path, count);
    for (size_t k = 0; k < count; ++k) wrong += found[k] != (expected[k] != 0);
  } else {
    std::vector<T> expected = load<T>(path, count);
    for (size_t k = 0; k < count; ++k) wrong += !same(found[k], expected[k]);
  }
  return wrong;
}

"#;

const TAIL: &str = r#"
int main(int count, char** words) {
  if (count < 3) {
    std::fprintf(stderr, "usage: tb ENGINE FOLDER...\n");
    return 2;
  }
  long wrong = 0, compared = 0;
  for (int at = 2; at < count; ++at) wrong += run(words[at], words[1], compared);
  std::printf("%ld of %ld values differ\n", wrong, compared);
  return wrong == 0 ? 0 : 1;
}
"#;
