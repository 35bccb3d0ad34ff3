//! A folder of XLA's own dumps (`--xla_dump_to`) as a run folder: what a compilation here would have left, as far as it is there.

use super::run::{Compiled, CompiledModule};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How the names of a module's files end in a dump, and what they are called here; of one name the first counts.
const KEPT: [(&str, &str); 7] = [
    (".before_optimizations.txt", "before.txt"),
    ("gpu_after_optimizations.txt", "after.txt"),
    ("gpu_after_optimizations.hlo.pb", "after.hlo.pb"),
    (".thunk_sequence_after_thunk_passes.txt", "thunks.txt"),
    (".thunk_sequence.txt", "thunks.txt"),
    (".thunk_metadata.txt", "thunk_metadata.txt"),
    (".priority_fusion_dump.txt", "fusion_steps.txt"),
];

/// The file that names the GPU of a module.
const TARGET: &str = ".gpu_target_config.pbtxt";

/// How the name of a file ends that every module has once.
const OPTIMIZED: [&str; 2] = ["gpu_after_optimizations.txt", "gpu_after_optimizations.hlo.pb"];

/// Files of a dump that are looked at; a dump of all passes has hundreds a module.
const MOST_FILES: usize = 1 << 20;

/// Bytes of the file that names the GPU.
const MOST_TARGET_BYTES: u64 = 1 << 20;

/// What a dump holds of modules for GPUs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dump {
    /// The modules, by their numbers.
    pub modules: Vec<DumpedModule>,
    /// The GPU's name as XLA has it, where a file says it.
    pub device: Option<String>,
}

/// A module of a dump.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DumpedModule {
    /// `module_0001.jit_f`.
    pub name: String,
    /// Its files, and what they are called in a run folder.
    pub files: Vec<(PathBuf, String)>,
}

/// What of `folder` is a dump; `None` where there is no optimized module for a GPU.
///
/// # Errors
/// What the system says of a folder that cannot be listed.
pub fn dump_of(folder: &Path) -> io::Result<Option<Dump>> {
    let names = fs::read_dir(folder)?.take(MOST_FILES).filter_map(Result::ok);
    let mut names: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    let mut stems: Vec<String> = names.iter().filter_map(|name| stem_of(name)).collect();
    stems.dedup();
    let module = |stem: &String| {
        let start = names.partition_point(|name| name < stem);
        let own = names[start..].iter().take_while(|name| name.starts_with(stem.as_str()));
        let own: Vec<&str> = own.map(|name| &name[stem.len()..]).filter(|rest| rest.starts_with('.')).collect();
        DumpedModule { name: stem.clone(), files: files_of(folder, stem, &own) }
    };
    let modules: Vec<DumpedModule> = stems.iter().map(module).collect();
    let device = names.iter().find(|name| name.ends_with(TARGET)).and_then(|name| device_in(&folder.join(name)));
    Ok((!modules.is_empty()).then_some(Dump { modules, device }))
}

/// Why a folder that holds a dump of XLA's is none of modules for GPUs; `None` where it is no dump at all.
///
/// # Errors
/// What the system says of a folder that cannot be listed.
pub fn why_no_dump(folder: &Path) -> io::Result<Option<&'static str>> {
    let names = fs::read_dir(folder)?.take(MOST_FILES).filter_map(Result::ok);
    let names: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let any = |part: &str| names.iter().any(|name| name.starts_with("module_") && name.contains(part));
    Ok(match () {
        () if any("cpu_after_optimizations") => Some("a dump of modules for a CPU"),
        () if any("gpu_after_optimizations") => Some("a dump with only drawings, without text or protos"),
        () if any("before_optimizations") => Some("a dump with only modules before optimization"),
        () => None,
    })
}

/// `module_0001.jit_f` of `module_0001.jit_f.sm_9.0a_gpu_after_optimizations.txt`; the platform's own dots are in the way.
fn stem_of(name: &str) -> Option<String> {
    let rest = OPTIMIZED.iter().find_map(|ending| name.strip_suffix(ending))?;
    let platform = rest.rfind(".sm_").or_else(|| rest.rfind(".gfx")).or_else(|| rest.rfind('.'))?;
    Some(rest[..platform].to_owned())
}

/// The number in `module_0001.jit_f`.
fn number_of(stem: &str) -> Option<u64> {
    stem.strip_prefix("module_")?.split('.').next()?.parse().ok()
}

fn files_of(folder: &Path, stem: &str, own: &[&str]) -> Vec<(PathBuf, String)> {
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    for (ending, name) in KEPT {
        let is_there = files.iter().any(|(_, kept)| kept == name);
        if let Some(rest) = own.iter().find(|rest| rest.ends_with(ending) && !is_there) {
            files.push((folder.join(format!("{stem}{rest}")), name.to_owned()));
        }
    }
    let number = |rest: &str| rest.strip_prefix('.')?.strip_suffix(".ptx")?.parse::<u32>().ok();
    let mut programs: Vec<(u32, &str)> = own.iter().filter_map(|rest| Some((number(rest)?, *rest))).collect();
    programs.sort_unstable();
    let named = programs.iter().enumerate();
    files.extend(named.map(|(at, (_, rest))| (folder.join(format!("{stem}{rest}")), format!("kernels/{at}.ptx"))));
    files
}

fn device_in(path: &Path) -> Option<String> {
    use std::io::Read as _;
    let mut text = String::new();
    fs::File::open(path).ok()?.take(MOST_TARGET_BYTES).read_to_string(&mut text).ok()?;
    let value = text.lines().find_map(|line| line.trim().strip_prefix("device_description_str:"))?;
    Some(value.trim().trim_matches('"').to_owned()).filter(|name| !name.is_empty())
}

/// Copies the modules of `dump` into the run folder `folder`; one that cannot be copied is one of [`Compiled::failed`].
pub fn lay_out(dump: &Dump, folder: &Path) -> Compiled {
    let mut compiled = Compiled::default();
    for module in &dump.modules {
        let place = folder.join("hlo").join(&module.name);
        let copied = module.files.iter().try_for_each(|(from, name)| {
            let to = place.join(name);
            to.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::copy(from, to).map(drop)
        });
        match copied {
            Err(error) => compiled.failed.push((module.name.clone(), error.to_string())),
            Ok(()) => compiled.modules.push(CompiledModule {
                folder: module.name.clone(),
                name: module.name.split_once('.').map_or(module.name.as_str(), |(_, name)| name).to_owned(),
                number: number_of(&module.name),
                files: module.files.iter().map(|(_, name)| name.clone()).collect(),
                ..CompiledModule::default()
            }),
        }
    }
    compiled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_is_laid_out_as_a_compilation() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in [
            "module_0001.jit_f.before_optimizations.txt",
            "module_0001.jit_f.sm_9.0a_gpu_after_optimizations.txt",
            "module_0001.jit_f.sm_9.0a_gpu_after_optimizations-buffer-assignment.txt",
            "module_0001.jit_f.thunk_sequence.txt",
            "module_0001.jit_f.thunk_sequence_after_thunk_passes.txt",
            "module_0001.jit_f.10.ptx",
            "module_0001.jit_f.2.ptx",
            "module_0010.jit_f.sm_9.0a_gpu_after_optimizations.txt",
            "module_0002.jit_g.cpu_after_optimizations.txt",
        ] {
            fs::write(folder.path().join(name), name).expect("written");
        }
        let config = "gpu_device_info {\n}\ndevice_description_str: \"NVIDIA H100 80GB HBM3\"\n";
        fs::write(folder.path().join("module_0001.jit_f.gpu_target_config.pbtxt"), config).expect("written");
        let dump = dump_of(folder.path()).expect("listed").expect("a dump");
        assert_eq!(dump.device.as_deref(), Some("NVIDIA H100 80GB HBM3"));
        let out = tempfile::tempdir().expect("a folder");
        let laid = lay_out(&dump, out.path());
        let told: Vec<String> =
            laid.modules.iter().map(|module| format!("{}: {}", module.folder, module.files.join(" "))).collect();
        assert_eq!(
            told,
            [
                "module_0001.jit_f: before.txt after.txt thunks.txt kernels/0.ptx kernels/1.ptx",
                "module_0010.jit_f: after.txt"
            ]
        );
        let read =
            |name: &str| fs::read_to_string(out.path().join("hlo/module_0001.jit_f").join(name)).expect("copied");
        assert_eq!(read("kernels/0.ptx"), "module_0001.jit_f.2.ptx");
        assert_eq!(read("thunks.txt"), "module_0001.jit_f.thunk_sequence_after_thunk_passes.txt");
        assert_eq!(dump_of(out.path()).expect("listed"), None);
        assert_eq!(laid.modules[1].number, Some(10));
    }

    #[test]
    fn a_dump_that_cannot_be_laid_out_says_what_it_is() {
        for (name, why) in [
            (
                "module_0001.jit_f.sm_9.0a_gpu_after_optimizations.html",
                Some("a dump with only drawings, without text or protos"),
            ),
            ("module_0001.jit_f.cpu_after_optimizations.txt", Some("a dump of modules for a CPU")),
            ("module_0001.jit_f.before_optimizations.txt", Some("a dump with only modules before optimization")),
            ("notes.txt", None),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            fs::write(folder.path().join(name), name).expect("written");
            assert_eq!(dump_of(folder.path()).expect("listed"), None, "{name}");
            assert_eq!(why_no_dump(folder.path()).expect("listed"), why, "{name}");
        }
    }
}
