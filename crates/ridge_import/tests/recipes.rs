//! Follows every recipe of CONTRIBUTING.md in the project as it is: what a recipe lists is there for its example, what it lists
//! as shared names all that are of the kind, and no other file does.
//!
//! A file that names all formats, tabs or boards is a list to which the next one must be added; where the recipe does not say so,
//! it has drifted. `recipe.rs` beside this file makes up a format, a table and a rule and builds them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// A recipe and those that were made by it.
struct Followed {
    title: &'static str,
    /// Where those are of its kind: a path with `*` for the name.
    members: &'static str,
    /// What a file of one of them holds, where other files stand beside them.
    mark: &'static str,
    /// One that has everything that the recipe lists.
    example: &'static str,
    /// Listed files that do not name each of them: what they say is about one, or they hold another name of it.
    partial: &'static [&'static str],
}

const FOLLOWED: [Followed; 15] = [
    Followed {
        title: "a trace format",
        members: "crates/ridge_import/src/formats/*.rs",
        mark: "impl Format for",
        example: "xplane",
        partial: &["fuzz/src/lib.rs", "docs/formats.md"],
    },
    Followed {
        title: "a rule",
        members: "crates/ridge_diagnose/src/rules/*.rs",
        mark: "RULE: Rule",
        example: "kernel_hotspot",
        partial: &[],
    },
    Followed {
        title: "a table",
        members: "crates/ridge_analysis/src/tables/*.rs",
        mark: "View::of(",
        example: "copy",
        partial: &[],
    },
    Followed { title: "a table of recorded data", members: "", mark: "", example: "memory", partial: &[] },
    Followed {
        title: "names of another tool",
        members: "crates/ridge_export/src/tables/dialects/*.sql",
        mark: "",
        example: "nsys",
        partial: &[],
    },
    Followed {
        title: "an answer of the page",
        // Their files are called by everyday words, which texts are full of.
        members: "",
        mark: "",
        example: "flame",
        partial: &[],
    },
    Followed {
        title: "a tab of the page",
        members: "ui/src/views/*/index.tsx",
        mark: "",
        example: "flame",
        partial: &[
            "ui/src/source/types.ts",
            "crates/ridge_web/src/capture.rs",
            "crates/ridge_web/src/report/part.rs",
            "crates/ridge_web/src/report/plan.rs",
            "docs/view.md",
        ],
    },
    Followed {
        title: "a subcommand",
        members: "crates/ridge_cli/src/commands/*.rs",
        mark: "fn run(",
        example: "annotate",
        partial: &["docs/json/README.md", "README.md"],
    },
    Followed {
        title: "a kind of subject",
        members: "crates/ridge_table/src/subject.rs",
        mark: "",
        example: "",
        partial: &[],
    },
    Followed {
        title: "a device",
        members: "crates/ridge_analysis/devices/*.toml",
        mark: "",
        example: "nvidia-h200",
        // The page has their names for people.
        partial: &["docs/devices.md"],
    },
    Followed {
        title: "a GPU to compile for",
        members: "crates/ridge_compile/targets/*.toml",
        mark: "",
        example: "h200",
        partial: &[],
    },
    Followed {
        title: "a board, or a published kernel",
        members: "crates/ridge_offload/boards/*.toml",
        mark: "",
        example: "u280",
        partial: &["src/published.rs"],
    },
    Followed { title: "a suite", members: "suites/*.py", mark: "", example: "kernels", partial: &[] },
    Followed { title: "a file", members: "", mark: "", example: "", partial: &[] },
    Followed {
        title: "a guard",
        members: "xtask/src/*.rs",
        mark: "pub(crate) fn check(",
        example: "purity",
        partial: &["ARCHITECTURE.md"],
    },
];

/// The words of a text.
type Words = HashSet<String>;

/// Of so many, a file that names all but this part is a list of them.
const ALL_BUT: f64 = 0.1;
/// Fewer are named together by chance.
const FEWEST: usize = 5;
/// Where lists are looked for.
const FOLDERS: [&str; 9] = ["crates", "docs", "fuzz", "python", "scripts", "suites", "ui/mock", "ui/src", "ui/test"];
/// Kinds of files that lists are in; a made page is none of them.
const TEXTS: [&str; 7] = ["rs", "md", "ts", "tsx", "mjs", "py", "toml"];

#[test]
fn every_recipe_is_followed() {
    let page = contributing();
    let there: BTreeSet<&str> =
        page.split("\n## Recipe: ").skip(1).filter_map(|recipe| recipe.lines().next()).collect();
    assert_eq!(there, FOLLOWED.iter().map(|followed| followed.title).collect());
}

#[test]
fn what_a_recipe_lists_is_there_for_its_example() {
    let found: Vec<String> = FOLLOWED.iter().flat_map(missing).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_list_is_in_its_recipe() {
    let texts = texts();
    let found: Vec<String> = FOLLOWED.iter().flat_map(|followed| drifted(followed, &texts)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// What the recipe lists and its example does not have.
fn missing(followed: &Followed) -> Vec<String> {
    let (title, example) = (followed.title, followed.example);
    let here = |path: &String| !root().join(path).exists();
    let listed = listed(title).into_iter().map(|path| put(&path, example));
    listed.filter(here).map(|path| format!("{title}: {path} is not there, and the recipe lists it")).collect()
}

/// Files that name all of a kind though the recipe does not list them, and those that it lists and that do not.
fn drifted(followed: &Followed, texts: &BTreeMap<String, Words>) -> Vec<String> {
    let members = members(followed);
    if members.len() < FEWEST {
        return Vec::new();
    }
    let named = |text: &Words| members.iter().filter(|member| is_named(text, member)).count();
    let title = followed.title;
    let mentioned = mentioned(title);
    let fewest = (members.len() as f64 * (1.0 - ALL_BUT)).ceil() as usize;
    let lists = texts.iter().filter(|(_, text)| named(text) >= fewest).map(|(path, _)| path);
    let unlisted = lists.filter(|path| !mentioned.contains(*path));
    let unlisted =
        unlisted.map(|path| format!("{title}: {path} names nearly all of them, and the recipe does not say so"));
    let shared = listed(title).into_iter().filter(|path| !path.contains(['<', '*']) && !path.contains("foo"));
    let shared = shared.filter(|path| !followed.partial.contains(&path.as_str()));
    let lacking = shared.filter(|path| texts.get(path).is_some_and(|text| named(text) < members.len()));
    let lacking = lacking.map(|path| format!("{title}: the recipe lists {path}, which does not name all of them"));
    unlisted.chain(lacking).collect()
}

/// The names of those that are there.
fn members(followed: &Followed) -> Vec<String> {
    let Some((folder, rest)) = followed.members.split_once('*') else { return Vec::new() };
    let entries = std::fs::read_dir(root().join(folder)).expect("the folder of a recipe").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let names = names.map(|name| name.strip_suffix(rest).unwrap_or(&name).to_owned());
    let is_one = |name: &String| {
        let text = std::fs::read_to_string(root().join(format!("{folder}{name}{rest}")));
        text.is_ok_and(|text| text.contains(followed.mark))
    };
    names.filter(is_one).collect()
}

/// Whether `words` have `name`, in Rust's spelling or in that of command lines.
fn is_named(words: &Words, name: &str) -> bool {
    words.contains(name) || words.contains(&name.replace('_', "-"))
}

/// `path` of one that is called `name`.
fn put(path: &str, name: &str) -> String {
    let (vendor, model) = name.split_once('-').unwrap_or((name, name));
    let path = path.replace("<vendor>-<model>", &format!("{vendor}-{model}"));
    ["<id>", "<what>", "<name>", "<rule>"].iter().fold(path, |path, place| path.replace(place, name))
}

/// The paths at the heads of a recipe's lines; a format's are those of one called foo.
fn listed(title: &str) -> Vec<String> {
    let recipe = recipe(title);
    let heads = recipe.lines().filter_map(|line| line.strip_prefix("- `")?.split_once('`'));
    let is_of_another = |path: &str| path.contains("<paper>") || path.contains("foo");
    heads.map(|(path, _)| path.to_owned()).filter(|path| !is_of_another(path)).collect()
}

/// Every path that a recipe mentions; a tab's answer is made by the recipe before it.
fn mentioned(title: &str) -> BTreeSet<String> {
    let more = if title == "a tab of the page" { recipe("an answer of the page") } else { String::new() };
    let text = recipe(title) + &more;
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn recipe(title: &str) -> String {
    let page = contributing();
    let recipe = page.split(&format!("\n## Recipe: {title}\n")).nth(1).expect("the recipe is there");
    recipe.split("\n## ").next().unwrap_or_default().to_owned()
}

fn contributing() -> String {
    std::fs::read_to_string(root().join("CONTRIBUTING.md")).expect("CONTRIBUTING.md")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The words of each text of the project, by its path.
fn texts() -> BTreeMap<String, Words> {
    let mut folders: Vec<PathBuf> = FOLDERS.iter().map(|folder| root().join(folder)).collect();
    folders.push(root().join("xtask/src"));
    let mut texts = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && !["target", "node_modules", "page"].contains(&name.as_str()) {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| TEXTS.iter().any(|text| ending == *text))
                && let Ok(text) = std::fs::read_to_string(&path)
            {
                let inside = path.strip_prefix(root()).expect("it was found below the root");
                let words = text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == '-'));
                texts.insert(inside.to_string_lossy().into_owned(), words.map(str::to_owned).collect());
            }
        }
    }
    texts
}
