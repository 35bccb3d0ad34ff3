//! The suites that the binary carries.

/// A file of a suite: its path in the folder of suites, and its text.
pub(super) type SuiteFile = (&'static str, &'static str);

/// The named files of `suites`.
macro_rules! suite_files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../suites/", $name)))),*]
    };
}

/// Suites carried in the binary, by name: the suite's own file, then those that it imports.
pub(super) const SUITES: &[(&str, &[SuiteFile])] = &[
    ("kernels", suite_files!["kernels.py"]),
    ("mbirjax", suite_files!["mbirjax.py"]),
    ("shallow_water", suite_files!["shallow_water.py", "programs/shallow_water.py"]),
];

/// Names of the suites that need no file.
pub fn built_in_suites() -> Vec<&'static str> {
    SUITES.iter().map(|(name, _)| *name).collect()
}
