//! Handing a region over: from its name to the files of a bundle.

mod recorded;

use crate::error::{Details, OpenError};
use crate::hlo::{module_hlo, module_row};
use crate::offload::{OffloadAnswer, OffloadOptions};
use crate::session::Session;
use ridge_handoff::bundle::{Files, Source, files, specification};
use ridge_handoff::jobs::Progress;
use ridge_handoff::{Fixed, Refusal, lower};
use ridge_hlo::{BufferAssignment, ComputationId, HloModule, InstructionId};
use ridge_offload::{NO_MODULE, RegionAnswer};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};
use std::path::{Component, Path, PathBuf};

/// Recorded modules of one name that are looked at.
const MOST_FOLDERS: usize = 64;

/// What is to be handed over.
#[derive(Debug, Clone, Default)]
pub struct HandoffOptions {
    /// A region of `offload`, by its number from 1 or a part of its name.
    pub region: Option<String>,
    /// A module, by its name or program id.
    pub module: Option<String>,
    /// An instruction that calls a computation, such as a fusion, or a loop, of which the body is meant.
    pub op: Option<String>,
    /// The device that is meant, by its data sheet or a word of it.
    pub meant: Option<String>,
    /// Number formats besides the program's own.
    pub formats: Vec<Fixed>,
}

/// What is handed over.
#[derive(Debug, Clone)]
pub struct Handoff {
    /// Where it came from.
    pub source: Source,
    /// The files, without those that need other programs.
    pub files: Files,
    /// Why there is no generated code, where there is none.
    pub refused: Option<Refusal>,
    /// What other hardware would gain by it and by the rest.
    pub offload: OffloadAnswer,
}

impl Session {
    /// The files of a region's bundle; `tell` hears how far they are.
    ///
    /// # Errors
    /// [`OpenError`] where nothing, or more than one thing, has the name that was given, or the capture has no HLO of it.
    pub fn handoff(&self, options: &HandoffOptions, tell: &mut dyn FnMut(&Progress)) -> Result<Handoff, OpenError> {
        let asked = OffloadOptions { meant: options.meant.clone(), ..OffloadOptions::default() };
        let offload = self.offload(&asked)?;
        let region = match &options.region {
            Some(name) => Some(region_called(&offload, name)?),
            None => None,
        };
        if options.module.is_none() && region.is_some_and(|one| one.region.module == NO_MODULE) {
            let details = Details::new("the region is work of no compiled module, and a bundle is made of one");
            return Err(OpenError::NotRecorded(details.hint("see `ridgeline guide` for how to record one")));
        }
        let name = options.module.clone().or_else(|| region.map(|one| one.region.module.clone()));
        let Some(name) = name else {
            let details = Details::new("expected a region or a module, found neither");
            return Err(OpenError::UnknownName(details.hint("`--region 1` is the one that takes most time")));
        };
        let row = self.module_of(&name, region)?;
        let module = module_hlo(self.imported(), row)?;
        let op = options.op.as_deref().or_else(|| region.and_then(|one| one.region.in_loop.as_deref()));
        let (computation, is_whole) = computation(module, op)?;
        let mut source = Source {
            region: region.map_or_else(|| op.unwrap_or(&name).to_owned(), |one| one.region.name.clone()),
            module: module.name.clone(),
            computation: module.computation(computation).name.clone(),
            is_whole,
            hlo: module.to_text(),
            region_hlo: region_text(module, computation),
            before: self.recorded(module, "before.txt"),
            stablehlo: self.recorded(module, "stablehlo.mlir"),
            buffers: self.buffers(module),
            buffers_text: self.dumped_buffers(&module.name),
            ..Source::default()
        };
        if is_whole {
            let aliases = module.input_output_aliases.iter();
            source.aliases =
                aliases.map(|alias| (alias.output_index.first().copied().unwrap_or(0), alias.parameter)).collect();
        }
        if let Some(one) = region {
            of_region(&mut source, one, &offload);
        }
        let made = lower(module, computation).and_then(|program| {
            if is_whole {
                let stablehlo = source.stablehlo.as_deref();
                source.recorded = recorded::recorded(self.manifest(), &module.name, stablehlo, &program);
            }
            files(&program, &source, &options.formats, tell)
        });
        let (files, refused) = match made {
            Ok(files) => (files, None),
            Err(refusal) => (specification(&source), Some(refusal)),
        };
        Ok(Handoff { source, files, refused, offload })
    }

    /// The plan of buffers: of the module itself, or of the same one in the recording.
    fn buffers(&self, module: &HloModule) -> Option<Value> {
        let own =
            || module.buffers.as_ref().filter(|plan| !plan.allocations.is_empty()).map(|plan| plan_of(module, plan));
        own().or_else(|| {
            let bytes = std::fs::read(self.folder_of(module)?.join("after.hlo.pb")).ok()?;
            let recorded = HloModule::from_proto(&bytes).ok()?;
            let plan = recorded.buffers.as_ref().filter(|plan| !plan.allocations.is_empty())?;
            Some(plan_of(&recorded, plan))
        })
    }

    /// What XLA's own dump says of the plan, where it dumped one module of that name.
    fn dumped_buffers(&self, name: &str) -> Option<String> {
        let entries = std::fs::read_dir(self.manifest()?.folder.join("hlo_dump")).ok()?;
        let is_its = |path: &PathBuf| {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            file.ends_with("buffer-assignment.txt") && file.contains(&format!(".{name}."))
        };
        let mut found = entries.filter_map(Result::ok).map(|entry| entry.path()).filter(is_its);
        let first = found.next()?;
        // Several of one name are not told apart.
        if found.next().is_some() { None } else { std::fs::read_to_string(first).ok() }
    }

    /// Another form of a module that the recorder kept.
    fn recorded(&self, module: &HloModule, file: &str) -> Option<String> {
        std::fs::read_to_string(self.folder_of(module)?.join(file)).ok()
    }

    /// The folder of a module in the recording: the one whose own HLO has the same instructions.
    ///
    /// Folders are named by the order of compilation, which the capture does not know; a name alone may mean several.
    fn folder_of(&self, module: &HloModule) -> Option<PathBuf> {
        let manifest = self.manifest()?;
        let named = manifest.document.modules.iter().filter(|one| one.name == module.name).take(MOST_FOLDERS);
        let mut folders = named.filter_map(|one| {
            let dir = Path::new(one.dir.as_deref()?);
            let is_inside = dir.components().all(|part| matches!(part, Component::Normal(_)));
            is_inside.then(|| manifest.folder.join(dir))
        });
        folders.find(|folder| {
            let text = std::fs::read_to_string(folder.join("after.txt")).ok();
            let theirs = text.and_then(|text| HloModule::from_text(&text).ok());
            theirs.is_some_and(|theirs| are_alike(&theirs, module))
        })
    }

    /// The module's row: where several have one name, the one whose instructions the region names.
    fn module_of(&self, name: &str, region: Option<&RegionAnswer>) -> Result<u32, OpenError> {
        let Some(region) = region else { return module_row(self.imported(), name) };
        let trace = self.trace();
        let row = region.region.ops.iter().find_map(|op| trace.operations.get(op.row?.0 as usize));
        match row.map(|operation| operation.module).filter(|row| (*row as usize) < trace.modules.len()) {
            Some(row) => Ok(row),
            None => module_row(self.imported(), name),
        }
    }
}

/// A plan of buffers as a document: pieces of memory, and which value lies where in each, in bytes.
fn plan_of(module: &HloModule, plan: &BufferAssignment) -> Value {
    let makers: FxHashMap<i64, Option<InstructionId>> =
        plan.buffers.iter().map(|buffer| (buffer.id, buffer.defined_at.instruction)).collect();
    let made_by = |id: i64| makers.get(&id).copied().flatten().map(|maker| module.instruction(maker).name.clone());
    let pieces = plan.allocations.iter().map(|piece| {
        let values = piece
            .assigned
            .iter()
            .map(|value| json!({ "value": made_by(value.buffer), "offset": value.offset, "bytes": value.size }));
        json!({
            "index": piece.index,
            "bytes": piece.size,
            "memory_space": piece.color,
            "parameter": piece.is_parameter.then_some(piece.parameter),
            "is_constant": piece.is_constant,
            "may_outlive_the_run": piece.maybe_live_out,
            "shared_with_an_output": piece.is_parameter_aliased_with_output,
            "values": values.collect::<Vec<_>>(),
        })
    });
    json!({ "of": "the whole module, as XLA assigned it", "allocations": pieces.collect::<Vec<_>>() })
}

/// Whether two modules have the same instructions, by name, operation and shape.
fn are_alike(one: &HloModule, other: &HloModule) -> bool {
    let same = |a: &ridge_hlo::Instruction| {
        let found = other.instruction_named(&a.name).map(|id| other.instruction(id));
        found.is_some_and(|b| a.opcode == b.opcode && a.shape.dimensions == b.shape.dimensions)
    };
    one.instructions.len() == other.instructions.len() && one.instructions.iter().all(same)
}

fn region_called<'a>(answer: &'a OffloadAnswer, name: &str) -> Result<&'a RegionAnswer, OpenError> {
    let regions = &answer.found.regions;
    if regions.is_empty() {
        let details = Details::new("the capture has no region: no work of a compiled module is in it");
        return Err(OpenError::NotRecorded(details.hint("see `ridgeline guide` for how to record one")));
    }
    if let Ok(number) = name.parse::<usize>() {
        let found = number.checked_sub(1).and_then(|at| regions.get(at));
        return found
            .ok_or_else(|| unknown(answer, format!("expected a region from 1 to {}, found {number}", regions.len())));
    }
    let exact: Vec<&RegionAnswer> = regions.iter().filter(|one| one.region.name == name).collect();
    let found =
        if exact.is_empty() { regions.iter().filter(|one| one.region.name.contains(name)).collect() } else { exact };
    match found[..] {
        [one] => Ok(one),
        [] => Err(unknown(answer, format!("no region is called `{name}`"))),
        _ => Err(unknown(answer, format!("`{name}` means {} regions", found.len()))),
    }
}

fn unknown(answer: &OffloadAnswer, message: String) -> OpenError {
    let regions = answer.found.regions.iter().enumerate().take(8);
    let names: Vec<String> = regions.map(|(at, one)| format!("{} `{}`", at + 1, one.region.name)).collect();
    let details = Details::new(message);
    OpenError::UnknownName(if names.is_empty() {
        details
    } else {
        details.hint(format!("there are {}", names.join(", ")))
    })
}

fn of_region(source: &mut Source, one: &RegionAnswer, offload: &OffloadAnswer) {
    if let Some(at) = &one.region.location {
        source.location = format!("{}:{}", at.file, at.line);
    }
    source.scope = one.region.scope.clone();
    source.share = Some(one.region.share);
    source.verdict = Some((one.verdict.name().to_owned(), one.why.clone()));
    let how = offload.found.baseline.host.name();
    source.call = one.call_s.as_ref().map(|call| (call.p50, format!("{} ({how})", offload.found.baseline.device)));
}

/// The computation that is meant: the module's own, or the one that an instruction calls.
fn computation(module: &HloModule, op: Option<&str>) -> Result<(ComputationId, bool), OpenError> {
    let Some(op) = op else {
        let entry = module.entry.map(|entry| (entry, true));
        return entry
            .ok_or_else(|| OpenError::NotRecorded(Details::new(format!("module `{}` has no entry", module.name))));
    };
    let found: Option<InstructionId> = module.instruction_named(op);
    let called = found.and_then(|id| module.instruction(id).called.first().copied());
    let named = called.or_else(|| module.computation_named(op));
    named.map(|called| (called, false)).ok_or_else(|| {
        let what = if found.is_some() { "calls no computation" } else { "is not there" };
        let details = Details::new(format!("`{op}` of module `{}` {what}", module.name));
        OpenError::UnknownName(
            details.hint("name a fusion, a call or a loop; `ridgeline hlo PATH --module M` lists them"),
        )
    })
}

/// HLO text of one computation and all that it calls, with that one as the entry.
fn region_text(module: &HloModule, entry: ComputationId) -> String {
    let mut order = Vec::new();
    let mut seen = FxHashSet::default();
    let mut open = vec![(entry, false)];
    while let Some((id, is_done)) = open.pop() {
        if is_done {
            order.push(id);
            continue;
        }
        if !seen.insert(id) {
            continue;
        }
        open.push((id, true));
        let called = module.instructions_of(id).iter().flat_map(|instruction| instruction.called.iter().copied());
        open.extend(called.map(|called| (called, false)));
    }
    let mut text = format!("HloModule {}\n\n", module.name);
    for id in order {
        let own = module.computation_text(id);
        let own = own.trim_start_matches("ENTRY ");
        text.push_str(if id == entry { "ENTRY " } else { "" });
        // A fusion is a call to whoever does not compile for that device.
        let own = own.replace(" fusion(", " call(").replace("calls=%", "to_apply=%");
        let kinds = [", kind=kLoop", ", kind=kInput", ", kind=kOutput", ", kind=kCustom"];
        text.push_str(&kinds.iter().fold(own, |own, kind| own.replace(kind, "")));
        text.push('\n');
    }
    text
}
