//! A bundle's code in the place of its region, in the program that it came from: the library that does it, and what came of it.
//!
//! Running the program is left to others; here is what is compiled for it, and how what it leaves is read.

mod counted;
mod events;
mod library;
mod numpy;
mod predicted;

pub use counted::{Calls, Difference, Seen, Tally, calls, tally};
pub use events::{Events, Other, events};
pub use library::{CannotBuild, build, version};
pub use numpy::{NoArray, compare};
pub use predicted::{Board, Predicted, predicted};

use crate::arithmetic::Fixed;
use crate::program::Program;
use crate::verify::Opened;
use ridge_hlo::ElementType;

/// What goes into a program, or comes out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// Each in XLA's words, `f32[8,8]`.
    pub ports: Vec<String>,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// What goes in, and what comes out.
pub fn sides(program: &Program) -> (Side, Side) {
    let of = |all: Vec<(ElementType, &[usize])>| Side {
        ports: all.iter().map(|(ty, dims)| port(*ty, dims)).collect(),
        bytes: all.iter().map(|(ty, dims)| (dims.iter().product::<usize>() * crate::vectors::width(*ty)) as u64).sum(),
    };
    let outputs = program.outputs.iter().map(|output| &program.nodes[*output]);
    (
        of(program.inputs.iter().map(|port| (port.element_type, port.dims.as_slice())).collect()),
        of(outputs.map(|node| (node.element_type, node.dims.as_slice())).collect()),
    )
}

fn port(ty: ElementType, dims: &[usize]) -> String {
    let dims: Vec<String> = dims.iter().map(ToString::to_string).collect();
    format!("{}[{}]", ty.name(), dims.join(","))
}

/// Number formats that the bundle has vectors of.
pub fn formats(bundle: &Opened) -> Vec<Fixed> {
    let document = bundle.json("spec/numerics.json").unwrap_or_default();
    let rows = document["formats"].as_array().into_iter().flatten().filter(|row| row["why_not"].is_null());
    rows.filter_map(|row| row["format"].as_str()?.parse().ok()).collect()
}

/// Where a region is in a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its name, as `offload` has it.
    pub region: String,
    /// The compiled module that it is, or is a part of.
    pub module: String,
    /// Whether it is the whole of that.
    pub is_whole: bool,
    /// File and line of the program; empty where not known.
    pub location: String,
}

/// Where the bundle says that its region is.
pub fn place(bundle: &Opened) -> Place {
    let source = &bundle.manifest["source"];
    let text = |key: &str| source[key].as_str().unwrap_or_default().to_owned();
    Place {
        region: text("region"),
        module: text("module"),
        is_whole: source["whole_module"] == true,
        location: text("location"),
    }
}

impl Place {
    /// The name by which a program may call a function this region: what the module was called for, or the region's own.
    pub fn hook(&self) -> String {
        let own = self.region.split([':', ' ']).next().unwrap_or_default();
        let named = self.module.strip_prefix("jit_").filter(|_| self.is_whole && self.region == self.module);
        let plain = named.unwrap_or(own);
        let plain: String =
            plain.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
        let starts_well = plain.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
        if starts_well { plain } else { format!("region_{plain}") }
    }

    /// All names by which a program may call a function this region.
    pub fn hooks(&self) -> Vec<String> {
        let mut names = vec![self.hook()];
        names.extend(self.module.strip_prefix("jit_").filter(|_| self.is_whole).map(str::to_owned));
        names.dedup();
        names
    }
}
