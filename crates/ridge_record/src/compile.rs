//! Compile modules for GPUs that are not there, in a Python environment of its own that has XLA's plugin for them.
//!
//! What a GPU is, the caller says in text; here modules are found, the environment is looked for, and one worker is followed.
//! A module that ends the worker costs itself alone: the others go to a new one.

mod dump;
mod environment;
mod event;
mod function;
mod run;
mod sources;
mod write;

pub use dump::{Dump, DumpedModule, dump_of, lay_out, why_no_dump};
pub use environment::{Compiler, CompilerParts, InstallError, compiler, compiler_folder, compiler_parts, install};
pub use function::{LowerError, lower};
pub use run::{CompileError, CompileEvent, Compiled, CompiledModule, Job, compile};
pub use sources::{SourceError, SourceModule, Sources, sources_of};
pub use write::{WriteError, begin, claim, write_manifest};
