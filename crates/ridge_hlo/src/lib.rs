//! HLO modules: what XLA compiled, read from protos and from dump text.
//!
//! An [`HloModule`] is one compiled program: computations made of [`Instruction`]s, where each came from in the
//! user's source ([`HloModule::source_stack`]), what kind of work it is ([`HloModule::category`]) and which buffers
//! it was given ([`BufferAssignment`]).
//! Both readers fill the same model, so nothing above this crate asks where a module came from.
//!
//! Protos are read field by field from the wire rather than by a generated parser: a capture made by next year's XLA
//! has fields this crate has never seen, and they must not cost the answer. For the same reason a broken part becomes
//! an [`HloNote`] and the rest of the module stays usable.
//!
//! ```
//! use ridge_hlo::HloModule;
//!
//! let module = HloModule::from_text(
//!     "HloModule jit_f, is_scheduled=true\n\n\
//!      ENTRY %main (x: f32[8]) -> f32[8] {\n  \
//!        %x = f32[8]{0} parameter(0)\n  \
//!        ROOT %sine.1 = f32[8]{0} sine(%x), metadata={op_name=\"jit(f)/sin\" source_file=\"f.py\" source_line=3}\n\
//!      }\n",
//! )?;
//! let sine = module.instruction_named("sine.1").expect("the text names it");
//! assert_eq!(module.instruction(sine).opcode, "sine");
//! assert_eq!(module.source_stack(sine)[0].line, 3);
//! # Ok::<(), ridge_hlo::HloError>(())
//! ```
//!
//! It opens no file and knows nothing of traces.
//!
//! Floors, lowest first: `ids`; `instruction`; `computation`; `module`; `proto`, `text`; `read`.

#[cfg(test)]
mod agreement;
mod attributes;
mod backend_config;
mod buffers;
mod category;
mod communication;
mod computation;
pub mod cost;
mod dot;
mod error;
mod flow;
mod frames;
mod hero;
mod ids;
mod instruction;
mod kernel_order;
mod kernels;
mod literal;
pub mod memory;
mod module;
mod names;
mod opcode;
mod origins;
mod print;
mod proto;
mod read;
mod replay;
mod shape;
pub mod sorting_network;
mod text;
mod users;
pub mod wire;

pub use attributes::{
    Attributes, ConvolutionDimensions, DotDimensions, GatherDimensions, OutputAlias, PaddingDimension, Precision,
    RaggedDotDimensions, ReplicaGroups, ScatterDimensions, SliceBounds, TriangularSolve, Window, WindowDimension,
};
pub use backend_config::BackendConfig;
pub use buffers::{
    Allocation, AssignedBuffer, BufferAlias, BufferAssignment, BufferLocation, HeapEvent, HeapEventKind, HeapTrace,
    LogicalBuffer,
};
pub use computation::Computation;
pub use error::{HloError, HloNote};
pub use flow::Flow;
pub use frames::{FileLocation, Frame, SourceFrame, StackFrames};
pub use ids::{ComputationId, InstructionId};
pub use instruction::{Instruction, Metadata};
pub use kernel_order::{FoundBy, Implemented, KernelFinder};
pub use literal::{Literal, Scalar};
pub use module::{AliasKind, BufferDonor, HloModule, InputOutputAlias};
pub use opcode::{Elementwise, Opcode, OpcodeClass, Phase};
pub use origins::{AttributedBy, Origin, Origins};
pub use replay::PeakMemory;
pub use shape::{ElementType, Layout, Shape, ShapeError, Tile};
pub use users::Users;
