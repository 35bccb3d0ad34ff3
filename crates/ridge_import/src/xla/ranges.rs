//! What XLA says in its NVTX ranges: `TSL:Thunk:#hlo_op=dot.1#` and the like.
//!
//! The grammar is that of `tsl::profiler::TraceMeEncode` and of `ScopedAnnotation` in XLA's GPU executor: a name, then
//! keys and values between two `#`. Values may hold commas, so known keys are looked for and not split at.

/// What a range says XLA was doing.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum XlaRange {
    /// Running a module.
    Module { name: String, program_id: Option<u64> },
    /// Running one operation of a module.
    Thunk { op: String, scope: String },
    /// Compiling.
    Compile,
}

/// Reads the name of a range, with its domain in front.
pub(crate) fn range(name: &str) -> Option<XlaRange> {
    said(name.strip_prefix("TSL:")?)
}

/// Reads the name of a range that was written without its domain: XLA's own is known by its grammar.
pub(crate) fn range_without_domain(name: &str) -> Option<XlaRange> {
    let is_its = ["Thunk:#", "XlaModule:#", "XlaCompile:#"].iter().any(|start| name.starts_with(start));
    if is_its { said(name) } else { None }
}

fn said(said: &str) -> Option<XlaRange> {
    if said.starts_with("XlaCompile") || said.starts_with("XlaPass") || said.starts_with("XlaAutotuner") {
        return Some(XlaRange::Compile);
    }
    let (kind, arguments) = said.split_once(":#")?;
    let arguments = arguments.strip_suffix('#').unwrap_or(arguments);
    match kind {
        "XlaModule" => Some(XlaRange::Module {
            name: value(arguments, "hlo_module").to_owned(),
            program_id: value(arguments, "program_id").parse().ok().filter(|id| *id != 0),
        }),
        "Thunk" => Some(XlaRange::Thunk {
            op: value(arguments, "hlo_op").to_owned(),
            scope: value(arguments, "name").to_owned(),
        }),
        _ => None,
    }
}

/// Keys that these ranges have.
const KEYS: [&str; 6] = ["prefix", "name", "hlo_op", "hlo_module", "program_id", "run_id"];

/// The value of `key`: up to the next known key or the end; empty where there is none.
fn value<'a>(arguments: &'a str, key: &str) -> &'a str {
    let starts = |key: &str| {
        let at = |(at, _): (usize, &str)| (at == 0 || arguments.as_bytes()[at - 1] == b',').then_some(at);
        arguments.match_indices(&format!("{key}=")).find_map(at)
    };
    let Some(start) = starts(key) else { return "" };
    let next = KEYS.iter().filter_map(|key| starts(key)).filter(|at| *at > start).min();
    let end = next.map_or(arguments.len(), |next| next - 1);
    &arguments[start + key.len() + 1..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_say_module_and_operation() {
        let module = |name: &str, id| Some(XlaRange::Module { name: name.to_owned(), program_id: Some(id) });
        let thunk = |op: &str, scope: &str| Some(XlaRange::Thunk { op: op.to_owned(), scope: scope.to_owned() });
        for (name, expected) in [
            ("TSL:XlaModule:#hlo_module=jit_f,program_id=5#", module("jit_f", 5)),
            ("TSL:XlaModule:#prefix=jit(f)/a,b,hlo_module=jit_f,program_id=5#", module("jit_f", 5)),
            ("TSL:Thunk:#hlo_op=all-reduce-start#", thunk("all-reduce-start", "")),
            ("TSL:Thunk:#name=jit(f)/g(a=1,b=2)/dot,hlo_op=dot.1#", thunk("dot.1", "jit(f)/g(a=1,b=2)/dot")),
            ("TSL:XlaCompile:#module=jit_f,program_id=5#", Some(XlaRange::Compile)),
            ("TSL:Thunk:#", thunk("", "")),
            ("TSL:other", None),
            ("Thunk:#hlo_op=x#", None),
        ] {
            assert_eq!(range(name), expected, "{name}");
            let without = name.strip_prefix("TSL:").filter(|without| without.contains(":#"));
            assert_eq!(without.and_then(range_without_domain), expected, "{name}");
        }
        assert_eq!(range_without_domain("Thunk"), None);
    }
}
