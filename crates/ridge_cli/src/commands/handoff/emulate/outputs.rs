//! Files that the program writes as its results: taken after each run, and at the end as the unmodified program wrote them.

use crate::failure::Failure;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The files, and what they were.
pub(super) struct Outputs {
    files: Vec<Output>,
}

struct Output {
    path: PathBuf,
    /// When it was written before the run, and its length.
    before: Option<(SystemTime, u64)>,
    /// As the unmodified program wrote it.
    original: Option<PathBuf>,
    is_restored: bool,
}

impl Outputs {
    pub(super) fn new(paths: &[PathBuf]) -> Result<Outputs, Failure> {
        if let Some(path) = paths.iter().find(|path| path.extension().is_none_or(|extension| extension != "npy")) {
            let failure = Failure::usage("expected a NumPy file with a name that ends in .npy").at(path);
            return Err(
                failure.hint("numpy.save writes one; or call `ridgeline.result(\"name\", array)` in the program")
            );
        }
        let one = |path: &PathBuf| Output { path: path.clone(), before: None, original: None, is_restored: true };
        Ok(Outputs { files: paths.iter().map(one).collect() })
    }

    /// A run begins.
    pub(super) fn begin(&mut self) {
        self.files.iter_mut().for_each(|one| one.before = written(&one.path));
    }

    /// A run ended: what it wrote is copied to `folder/results`.
    pub(super) fn collect(&mut self, folder: &Path) -> Result<(), Failure> {
        for (at, one) in self.files.iter_mut().enumerate() {
            let now = written(&one.path);
            if now.is_none() || now == one.before {
                continue;
            }
            let results = folder.join("results");
            let stem = one.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let copy = results.join(format!("{stem}.file{at}.001.npy"));
            fs::create_dir_all(&results)
                .and_then(|()| fs::copy(&one.path, &copy))
                .map_err(|error| Failure::io("could not copy the result", &error).at(&one.path))?;
            one.is_restored = one.original.is_none();
            one.original.get_or_insert(copy);
        }
        Ok(())
    }

    /// What the program did not write.
    pub(super) fn missing(&self) -> Vec<String> {
        let absent = self.files.iter().filter(|one| one.original.is_none());
        absent.map(|one| format!("the program did not write {}", one.path.display())).collect()
    }

    /// Puts the unmodified program's files back.
    pub(super) fn restore(&mut self) -> Result<(), Failure> {
        for one in self.files.iter_mut().filter(|one| !one.is_restored) {
            let Some(original) = &one.original else { continue };
            fs::File::open(original)
                .and_then(|mut original| ridge_files::replace(&one.path, |file| std::io::copy(&mut original, file)))
                .map_err(|error| Failure::io("could not put the program's own result back", &error).at(&one.path))?;
            one.is_restored = true;
        }
        Ok(())
    }
}

impl Drop for Outputs {
    fn drop(&mut self) {
        // Where a run failed, too; that it fails then is the lesser failure.
        let _ = self.restore();
    }
}

fn written(path: &Path) -> Option<(SystemTime, u64)> {
    let kept = fs::metadata(path).ok()?;
    Some((kept.modified().ok()?, kept.len()))
}
