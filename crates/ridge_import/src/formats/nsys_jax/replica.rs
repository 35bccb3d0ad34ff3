//! The files of one process, by the names that `nsys-jax` gives them.

use crate::folder::{Content, Files};
use crate::import::Import;
use crate::note::Severity;
use crate::parquet::Parquet;
use ridge_sqlite::Row;

/// The projection of ranges onto device work.
pub(super) const PROJECTION: &str = "nvtx_gpu_proj_trace/trace.parquet";

/// All ranges on their threads, newer and older.
pub(super) const HOST_RANGES: &str = "report_nvtx_pushpop_trace.parquet";

pub(super) const HOST_RANGES_CSV: &str = "report_nvtx_pushpop_trace.csv.xz";

/// One process's files, or several processes' that ran under one profiler.
pub(super) struct Replica<'f, 'a> {
    pub(super) files: &'f Files<'a>,
    pub(super) slug: Option<&'f str>,
}

impl<'a> Replica<'_, 'a> {
    /// What messages and processes are called.
    pub(super) fn name(&self) -> String {
        self.slug.map_or_else(|| self.files.name.to_owned(), |slug| format!("{}/{slug}", self.files.name))
    }

    /// What the file `name` of this process is called, or the one that all processes share.
    pub(super) fn file(&self, name: &str) -> String {
        let own = self.slug.map(|slug| format!("{name}/{slug}"));
        own.filter(|own| self.files.has(own)).unwrap_or_else(|| name.to_owned())
    }

    /// The file `name` of this process, or the one that all processes share; what is wrong with it is noted.
    pub(super) fn content(&self, name: &str, import: &mut Import) -> Option<Content<'a>> {
        match self.files.read(&self.file(name))? {
            Ok(content) => {
                if let Some(damage) = &content.damage {
                    import.note(Severity::Lost, &self.name(), None, 1, format!("{name}: {damage}"));
                }
                Some(content)
            }
            Err(what) => {
                import.note(Severity::Lost, &self.name(), None, 1, what);
                None
            }
        }
    }

    /// Collects what `visit` makes of the rows of the table `name`; what could not be read is noted.
    pub(super) fn table<T: Default + Send>(
        &self,
        name: &str,
        columns: &[&str],
        import: &mut Import,
        visit: impl Fn(&mut T, &Row<'_>) + Sync,
    ) -> Vec<T> {
        let Some(content) = self.content(name, import) else { return Vec::new() };
        let file = match Parquet::open(&content.bytes) {
            Ok(file) => file,
            Err(error) => {
                import.note(Severity::Lost, &self.name(), Some(error.offset), 1, format!("{name}: {}", error.what));
                return Vec::new();
            }
        };
        let found = file.scan(columns, &self.files.bound, visit);
        if let Some(error) = found.error {
            let message = format!("{name}: {}", error.what);
            import.note(Severity::Lost, &self.name(), Some(error.offset), found.scanned.damaged, message);
        }
        found.scanned.parts
    }
}
