//! What a crate declares it uses: a dependency that no line of its code names is compiled, and listed, for nothing.

use crate::tree::Tree;
use regex::Regex;

/// What breaks the rule.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    tree.texts("", "Cargo.toml").flat_map(|(path, manifest)| unused(tree, path, manifest)).collect()
}

fn unused(tree: &Tree, path: &str, manifest: &str) -> Vec<String> {
    let folder = path.trim_end_matches("Cargo.toml");
    let code: Vec<&str> = tree.texts(folder, ".rs").flat_map(|(_, text)| text.lines().filter(is_code)).collect();
    let declared = declared(manifest);
    let idle = declared.into_iter().filter(|name| !code.iter().any(|line| names(line, name)));
    idle.map(|name| format!("{path} declares `{name}`, and no code beside it names it")).collect()
}

fn is_code(line: &&str) -> bool {
    !line.trim_start().starts_with("//")
}

/// Whether `line` has a path that begins with crate `name`.
fn names(line: &str, name: &str) -> bool {
    let name = name.replace('-', "_");
    // Without Unicode tables, which the workspace leaves out, a word ends where ASCII's does.
    let pattern = format!(r"(?-u:\b){name}::|(?-u:\b)use {name}(?-u:\b)");
    line.contains(&name) && Regex::new(&pattern).expect("a pattern around a crate's name").is_match(line)
}

/// The keys of the tables of dependencies, whatever they are for; those of the workspace are for its members to name.
fn declared(manifest: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_inside = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(table) = line.strip_prefix('[') {
            let table = table.trim_end_matches(']');
            is_inside = table.ends_with("dependencies") && !table.starts_with("workspace");
        } else if let Some((key, _)) = line.split_once('=').filter(|_| is_inside && !line.starts_with('#')) {
            found.push(key.trim().trim_end_matches(".workspace").trim_matches('"'));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "\
[package]
name = \"ridge_some\"

[dependencies]
arrow-array.workspace = true
libc = { version = \"0.2\", optional = true }
# not = \"one\"

[target.'cfg(unix)'.dependencies]
rustix.workspace = true

[dev-dependencies]
expect-test.workspace = true
";

    fn found(code: &str, test: &str) -> Vec<String> {
        let files = [("crates/a/Cargo.toml", MANIFEST), ("crates/a/src/lib.rs", code), ("crates/a/tests/all.rs", test)];
        check(&Tree::made_up(&files))
    }

    #[test]
    fn what_is_named_passes() {
        let code = "use arrow_array::Array;\nfn page() -> i64 {\n    libc::sysconf(1)\n}\nuse rustix::fs;";
        assert_eq!(found(code, "expect_test::expect![[\"\"]]"), Vec::<String>::new());
    }

    #[test]
    fn a_name_in_a_comment_or_inside_another_is_no_use() {
        let code = "// libc::sysconf is not asked\nuse arrow_array_more::Array;\nuse rustix;";
        let expected = ["arrow-array", "libc", "expect-test"]
            .map(|name| format!("crates/a/Cargo.toml declares `{name}`, and no code beside it names it"));
        assert_eq!(found(code, ""), expected);
    }

    #[test]
    fn what_the_workspace_pins_is_not_asked() {
        let files = [("Cargo.toml", "[workspace.dependencies]\nserde = \"1\"\n")];
        assert_eq!(check(&Tree::made_up(&files)), Vec::<String>::new());
    }
}
