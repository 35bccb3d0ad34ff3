//! Which file of a crate names what stands in which other one.
//!
//! A crate is read as tokens, so that paths inside bodies and macros count as well as those of `use`.
//! A name that a file only hands on (`pub use`) counts as one of the file that it stands in:
//! the head of a folder may list what its files offer without depending on them.
//! Left out are tests, names of other crates, and methods, whose file no path says.

mod scan;

use scan::{Module, Use};
use std::collections::{BTreeMap, BTreeSet};

/// How far a name is followed from one `use` to the next.
const HOPS: usize = 16;

/// What ties one file to another: the names used.
pub(crate) type Ties = BTreeMap<(String, String), BTreeSet<String>>;

/// The files of one crate, with every module in them by its path from the root.
pub(crate) struct Crate<'a> {
    /// The crate's name, as the paths of its programs say it.
    name: &'a str,
    modules: BTreeMap<Vec<String>, Module>,
}

impl<'a> Crate<'a> {
    /// Reads a crate from its root file on; `text` gives the text of a file by its path.
    pub(crate) fn read(name: &'a str, root: &str, text: impl Fn(&str) -> Option<&'a str>) -> Crate<'a> {
        let mut modules = BTreeMap::new();
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let mut open = vec![(Vec::new(), root.to_owned())];
        while let Some((path, file)) = open.pop() {
            let Some(found) = text(&file).and_then(|text| scan::scan(text, &path, &file)) else { continue };
            for (path, module) in found {
                for child in &module.in_files {
                    let inner = [path.as_slice(), std::slice::from_ref(child)].concat();
                    let stem = format!("{folder}/{}", inner.join("/"));
                    let candidates = [format!("{stem}.rs"), format!("{stem}/mod.rs")];
                    open.extend(candidates.into_iter().find(|file| text(file).is_some()).map(|file| (inner, file)));
                }
                modules.insert(path, module);
            }
        }
        Crate { name, modules }
    }

    /// What ties its files.
    pub(crate) fn ties(&self) -> Ties {
        let mut ties = Ties::new();
        for (path, module) in &self.modules {
            let used = module.uses.iter().filter(|used| self.counts(module, used)).map(|used| &used.path);
            let globs = module.uses.iter().filter(|used| used.glob && !used.public);
            let by_glob = globs.flat_map(|used| {
                module.idents.iter().map(|ident| [used.path.as_slice(), std::slice::from_ref(ident)].concat())
            });
            let by_glob: Vec<Vec<String>> =
                by_glob.filter(|path_of| self.file_of(path, path_of, HOPS, true).is_some()).collect();
            for named in used.chain(&module.paths).chain(&by_glob) {
                let Some(file) = self.file_of(path, named, HOPS, false) else { continue };
                if file != module.file {
                    let name = named.last().cloned().unwrap_or_default();
                    ties.entry((module.file.clone(), file)).or_default().insert(name);
                }
            }
        }
        ties
    }

    /// Whether a `use` is one that the file needs itself, and not only its children or others.
    fn counts(&self, module: &Module, used: &Use) -> bool {
        let may_hand_on = used.public || !module.children.is_empty();
        !used.glob && (!may_hand_on || module.idents.contains(&used.name))
    }

    /// The file that the thing at the end of a path stands in; `None` for other crates' and for a module as such.
    fn file_of(&self, from: &[String], path: &[String], hops: usize, strictly: bool) -> Option<String> {
        let (mut at, mut rest) = match path.first()?.as_str() {
            "crate" => (Vec::new(), &path[1..]),
            first if first == self.name && !self.modules[&Vec::new()].children.contains(first) => {
                (Vec::new(), &path[1..])
            }
            "self" => (from.to_vec(), &path[1..]),
            "super" => {
                let up = path.iter().take_while(|part| *part == "super").count();
                (from[..from.len().checked_sub(up)?].to_vec(), &path[up..])
            }
            first => {
                let module = self.modules.get(from)?;
                let known =
                    module.children.contains(first) || module.uses.iter().any(|used| !used.glob && used.name == first);
                if !known {
                    return None;
                }
                (from.to_vec(), path)
            }
        };
        loop {
            let module = self.modules.get(&at)?;
            let (name, after) = rest.split_first()?;
            if module.children.contains(name) {
                at.push(name.clone());
                rest = after;
                continue;
            }
            if module.items.contains(name) {
                return Some(module.file.clone());
            }
            return self
                .handed_on(&at, module, name, after, hops)
                .or_else(|| (!strictly && !module.imports(name)).then(|| module.file.clone()));
        }
    }

    /// The file of a name that a module has by `use`.
    fn handed_on(&self, at: &[String], module: &Module, name: &str, after: &[String], hops: usize) -> Option<String> {
        let hops = hops.checked_sub(1)?;
        let by_name = module.uses.iter().filter(|used| !used.glob && used.name == name);
        let by_name = by_name.map(|used| ([used.path.as_slice(), after].concat(), false));
        let by_glob = module.uses.iter().filter(|used| used.glob);
        let by_glob = by_glob.map(|used| ([used.path.as_slice(), &[name.to_owned()], after].concat(), true));
        by_name.chain(by_glob).find_map(|(path, strictly)| self.file_of(at, &path, hops, strictly))
    }
}
