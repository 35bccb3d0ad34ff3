//! Prints what each instruction of a module costs: `cargo run -p ridge_hlo --example cost -- module.txt`.
//!
//! A look at the cost model without a capture; the command line shows the same beside measured times.
//! Given a number instead of a path it makes a module of about so many instructions and says how long costing it took.

use std::error::Error;

use ridge_hlo::HloModule;
use ridge_hlo::cost::{Cost, ModuleCosts};

#[allow(clippy::disallowed_methods, reason = "an example reads the file it is given and takes the time")]
fn main() -> Result<(), Box<dyn Error>> {
    let argument = std::env::args().nth(1).ok_or("expected a path of HLO text or of an HLO proto, or a number")?;
    let made = argument.parse::<usize>().ok().map(made_up);
    let bytes = made.clone().map_or_else(|| std::fs::read(&argument), |text| Ok(text.into_bytes()))?;
    let module = match std::str::from_utf8(&bytes) {
        Ok(text) => HloModule::from_text(text)?,
        Err(_) => HloModule::from_proto(&bytes)?,
    };
    let started = std::time::Instant::now();
    let costs = ModuleCosts::new(&module);
    let took = started.elapsed();
    let entry = module.entry.filter(|_| made.is_none());
    for id in entry.iter().flat_map(|&entry| module.computation(entry).instruction_ids()) {
        print(&module, &module.instruction(id).name, costs.of(id));
    }
    print(&module, "total", costs.total());
    if let Some(entry) = module.entry {
        println!("boundary of {}: {:.6e} B", module.computation(entry).name, costs.boundary(entry).total());
    }
    println!("{} instructions costed in {took:.1?}", module.instructions.len());
    Ok(())
}

/// Text of a module with about so many instructions: a chain of fusions with shifted slices, pads and products.
fn made_up(instructions: usize) -> String {
    // Each link of the chain has nine instructions in a fusion and four outside.
    let links = instructions.div_ceil(13);
    let (mut bodies, mut chain) = (String::from("HloModule made_up\n\n"), String::new());
    let mut last = "x".to_owned();
    for link in 0..links {
        bodies += &BODY.replace('#', &link.to_string());
        chain += &LINK.replace('#', &link.to_string()).replace('@', &last);
        last = format!("pad.{link}");
    }
    let entry = "ENTRY %main (x: f32[64,128], y: f32[64,128]) -> f32[64,128] {\n  %x = f32[64,128]{1,0} parameter(0)\n  \
                 %y = f32[64,128]{1,0} parameter(1)\n";
    format!("{bodies}{entry}{chain}  ROOT %end = f32[64,128]{{1,0}} copy(%{last})\n}}\n")
}

const BODY: &str = "\
%body.# (p.#: f32[64,128], q.#: f32[64,128]) -> f32[62,128] {
  %p.# = f32[64,128]{1,0} parameter(0)
  %q.# = f32[64,128]{1,0} parameter(1)
  %add.# = f32[64,128]{1,0} add(%p.#, %q.#)
  %exp.# = f32[64,128]{1,0} exponential(%add.#)
  %s.# = f32[62,128]{1,0} slice(%exp.#), slice={[0:62], [0:128]}
  %t.# = f32[62,128]{1,0} slice(%exp.#), slice={[1:63], [0:128]}
  %u.# = f32[62,128]{1,0} slice(%p.#), slice={[2:64], [0:128]}
  %m.# = f32[62,128]{1,0} multiply(%s.#, %t.#)
  ROOT %r.# = f32[62,128]{1,0} subtract(%m.#, %u.#)
}

";

const LINK: &str = "\
  %f.# = f32[62,128]{1,0} fusion(%@, %y), kind=kLoop, calls=%body.#
  %zero.# = f32[] constant(0)
  %pad.# = f32[64,128]{1,0} pad(%f.#, %zero.#), padding=0_2x0_0
  %dot.# = f32[64,64]{1,0} dot(%pad.#, %y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
";

fn print(module: &HloModule, name: &str, cost: &Cost) {
    println!(
        "{name}: {:.6e} FLOP, {:.6e} integer, {:.6e} B compulsory, {:.6e} B accessed{}",
        cost.work.flops(),
        cost.work.integer_ops(),
        cost.compulsory.total(),
        cost.bytes_accessed.total(),
        cost.unknown.map_or(String::new(), |unknown| format!(", unknown: {}", unknown.reason(module))),
    );
    for item in cost.work.by() {
        println!("    {} {} {:?} {}", item.kind.name(), item.element_type, item.unit, item.count);
    }
    if !cost.assumptions.is_empty() {
        println!("    assumes: {}", cost.assumptions);
    }
}
