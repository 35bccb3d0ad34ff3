//! What `ptxas -v` reports of each kernel: registers, shared memory, spills.

use rustc_hash::FxHashMap;

/// What a kernel takes of a multiprocessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory of a block that the kernel itself declares.
    pub static_shared_bytes: u32,
    /// Bytes that a thread stores to local memory because registers did not suffice: of the code, not of a run.
    pub spill_store_bytes: u32,
    /// Bytes that it loads again.
    pub spill_load_bytes: u32,
    /// Bytes of local memory of a thread.
    pub stack_bytes: u32,
}

/// Usage by the kernels' names, from the text that the assembler wrote for one or several programs.
pub fn usage(text: &str) -> FxHashMap<String, Usage> {
    let mut found: FxHashMap<String, Usage> = FxHashMap::default();
    let mut kernel = None;
    for line in text.lines() {
        if let Some(rest) = line.split_once("Compiling entry function '").map(|(_, rest)| rest) {
            kernel = rest.split('\'').next().map(str::to_owned);
            continue;
        }
        let Some(name) = &kernel else { continue };
        if line.contains("bytes stack frame") {
            let usage = found.entry(name.clone()).or_default();
            usage.stack_bytes = before(line, " bytes stack frame").unwrap_or(0);
            usage.spill_store_bytes = before(line, " bytes spill stores").unwrap_or(0);
            usage.spill_load_bytes = before(line, " bytes spill loads").unwrap_or(0);
        } else if line.contains("Used ") && line.contains(" registers") {
            let usage = found.entry(name.clone()).or_default();
            usage.registers = before(line, " registers").unwrap_or(0);
            usage.static_shared_bytes = before(line, " bytes smem").unwrap_or(0);
        }
    }
    found
}

/// The number that ends where `words` begin.
fn before(line: &str, words: &str) -> Option<u32> {
    let head = line.split_once(words)?.0;
    head.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_by_kernel() {
        let text = "\
ptxas info    : 640 bytes gmem
ptxas info    : Compiling entry function 'sort_6_1' for 'sm_90a'
ptxas info    : Function properties for sort_6_1
    24 bytes stack frame, 16 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 4096 bytes smem
ptxas info    : Compile time = 310.801 ms
ptxas info    : Compiling entry function 'add' for 'sm_90a'
ptxas info    : Function properties for add
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers
";
        let found = usage(text);
        let sort = Usage {
            registers: 32,
            static_shared_bytes: 4096,
            spill_store_bytes: 16,
            spill_load_bytes: 12,
            stack_bytes: 24,
        };
        assert_eq!((found.get("sort_6_1"), found["add"].registers, found.len()), (Some(&sort), 8, 2));
        assert!(usage("ptxas fatal   : Unresolved extern\n Used 8 registers").is_empty());
    }
}
