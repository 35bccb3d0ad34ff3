//! Bytes in, values out: the pure crates open no file, read no environment and no clock, start no process.
//!
//! Clippy says so too where it runs (`clippy.toml` in each of them, which must be there); this scan needs no clippy.
//! Tests are free.

use crate::tree::Tree;

/// Crates that get all they know as arguments.
const PURE: &[&str] = &[
    "ridge_analysis",
    "ridge_compile",
    "ridge_diagnose",
    "ridge_diff",
    "ridge_hlo",
    "ridge_import",
    "ridge_npy",
    "ridge_offload",
    "ridge_redact",
    "ridge_replay",
    "ridge_sqlite",
    "ridge_table",
    "ridge_trace",
];

/// What reaches outside, and must be named in each `clippy.toml` where it is a method.
const REACHES_OUT: &[&str] = &[
    "std::fs",
    "File::open",
    "OpenOptions::",
    "std::env",
    "env::var",
    "SystemTime",
    "Instant::now",
    "std::process",
    "Command::new",
    "std::net",
    "std::io::stdin",
    "println!",
    "eprintln!",
];

/// What breaks the rule.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut violations = Vec::new();
    let expected = tree.text("crates/ridge_trace/clippy.toml").unwrap_or_default();
    for name in PURE {
        let config = format!("crates/{name}/clippy.toml");
        match tree.text(&config) {
            Some(text) if text == expected && text.contains("std::fs::File::open") => {}
            Some(_) => violations.push(format!("{config} does not ban what the other pure crates ban")),
            None => violations.push(format!("{config} is missing")),
        }
        let folder = format!("crates/{name}/src/");
        let only_tests = modules_of_tests(tree, &folder);
        for (path, text) in
            tree.texts(&folder, ".rs").filter(|(path, _)| !only_tests.iter().any(|test| path.starts_with(test)))
        {
            violations.extend(reaching_out(text).map(|(line, what)| format!("{path}:{line}: `{what}`")));
        }
    }
    violations
}

/// Lines of code, before the tests at the end of the file, that reach out.
fn reaching_out(text: &str) -> impl Iterator<Item = (usize, &'static str)> {
    let tested = text.lines().position(|line| line.trim() == "mod tests {").unwrap_or(usize::MAX);
    let code = text.lines().enumerate().take(tested).filter(|(_, line)| !line.trim_start().starts_with("//"));
    code.flat_map(|(at, line)| {
        REACHES_OUT.iter().filter(move |word| line.contains(*word)).map(move |word| (at + 1, *word))
    })
}

/// Paths, without their ends, of modules declared under `#[cfg(test)]`.
fn modules_of_tests(tree: &Tree, folder: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for (path, text) in tree.texts(folder, ".rs") {
        let inside = match path.strip_suffix("/lib.rs") {
            Some(source) => source.to_owned(),
            None => path.trim_end_matches(".rs").to_owned(),
        };
        for pair in text.lines().collect::<Vec<_>>().windows(2) {
            let name = pair[1].strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';'));
            if let (true, Some(name)) = (pair[0].trim() == "#[cfg(test)]", name) {
                paths.push(format!("{inside}/{name}"));
            }
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(code: &str) -> Vec<String> {
        let config = "disallowed-methods = [\"std::fs::File::open\"]";
        let mut files: Vec<(String, String)> =
            PURE.iter().map(|name| (format!("crates/{name}/clippy.toml"), config.to_owned())).collect();
        files.push(("crates/ridge_hlo/src/lib.rs".to_owned(), code.to_owned()));
        files.push(("crates/ridge_hlo/src/compared.rs".to_owned(), "fn f() { std::fs::read(\"x\"); }".to_owned()));
        let borrowed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        check(&Tree::made_up(&borrowed))
    }

    #[test]
    fn a_file_opened_and_a_clock_read_are_found() {
        let code = "#[cfg(test)]\nmod compared;\nfn f() {\n    let t = std::time::Instant::now();\n}\n";
        assert_eq!(found(code), ["crates/ridge_hlo/src/lib.rs:4: `Instant::now`"]);
        let code = "mod compared;\n";
        assert_eq!(found(code), ["crates/ridge_hlo/src/compared.rs:1: `std::fs`"]);
    }

    #[test]
    fn comments_and_tests_are_free() {
        let code =
            "//! Uses no std::fs.\n#[cfg(test)]\nmod compared;\n#[cfg(test)]\nmod tests {\n    use std::env;\n}\n";
        assert_eq!(found(code), Vec::<String>::new());
    }

    #[test]
    fn a_missing_configuration_is_found() {
        assert_eq!(check(&Tree::made_up(&[])).len(), PURE.len());
    }
}
