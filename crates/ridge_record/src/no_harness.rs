//! Why no Python process loaded the harness, as far as the command tells.

use crate::programs::{find_program, search_path};
use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Bytes of a script in which its first line must end.
const FIRST_LINE_BYTES: u64 = 512;

/// Why `command` loaded no harness; `refused` is what processes said that could not load it.
pub(crate) fn why_no_harness(command: &[OsString], refused: &[String]) -> String {
    if let Some(why) = refused.first() {
        return format!("Python could not load the harness: {why}");
    }
    let words: Vec<String> = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(flag) = shutting_flag(&words) {
        return because_of(flag, "Python was started with it");
    }
    let line = words.first().and_then(|name| first_line(&on_path(name)?));
    let interpreter: Vec<String> = line.iter().flat_map(|line| line.split_whitespace()).map(str::to_owned).collect();
    if let Some(flag) = shutting_flag(&interpreter) {
        return because_of(flag, &format!("requested by the first line of {}", words[0]));
    }
    "no Python process loaded the harness: the program is not Python, or it starts Python with another environment or with -I, -E or \
     -S; a system profiler such as nsys or rocprof can record it"
        .to_owned()
}

fn because_of(flag: char, who: &str) -> String {
    let does =
        if flag == 'S' { "skips what loads the harness" } else { "has Python ignore PYTHONPATH, where the harness is" };
    format!("-{flag} {does}, and {who}: leave it out to record")
}

/// The flag among those of a Python in `words` that keeps the harness out.
fn shutting_flag(words: &[String]) -> Option<char> {
    let python = words.iter().position(|word| is_python(word))?;
    let flags = words[python + 1..].iter().take_while(|word| word.starts_with('-') && !word.starts_with("--"));
    for word in flags {
        // What follows these in a word, and after it, is theirs.
        let mine = word[1..].split(['c', 'm', 'W', 'X']).next().unwrap_or_default();
        if let Some(flag) = mine.chars().find(|letter| "IES".contains(*letter)) {
            return Some(flag);
        }
    }
    None
}

fn is_python(word: &str) -> bool {
    let name = word.trim_start_matches("#!").rsplit('/').next().unwrap_or_default();
    let version = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"));
    version.is_some_and(|version| version.chars().all(|letter| letter.is_ascii_digit() || letter == '.'))
}

/// The file that a shell would run for `name`.
fn on_path(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name));
    }
    find_program(Path::new(name), search_path())
}

/// The line of a script that names its interpreter.
fn first_line(script: &Path) -> Option<String> {
    let mut head = Vec::new();
    File::open(script).ok()?.take(FIRST_LINE_BYTES).read_to_end(&mut head).ok()?;
    let text = String::from_utf8_lossy(&head);
    text.starts_with("#!").then(|| text.lines().next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn the_flag_that_keeps_the_harness_out_is_named() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let script = dir.path().join("tool");
        std::fs::write(&script, "#!/usr/bin/python3 -sE\nimport jax\n").expect("a file");
        let script = script.to_string_lossy().into_owned();
        let commands = [
            "python -I x.py",
            "uv run python3.12 -uS x.py",
            "/usr/bin/python3 -X dev x.py -I",
            "python -c Import -I",
            "python -mSite",
            "pythonic -I",
            &script,
        ];
        let told = commands.map(|command| {
            let words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
            let why = why_no_harness(&words, &[]).replace(&script, "tool");
            format!("{}: {}\n", command.replace(&script, "tool"), why.chars().take(130).collect::<String>())
        });
        expect![[r#"
            python -I x.py: -I has Python ignore PYTHONPATH, where the harness is, and Python was started with it: leave it out to record
            uv run python3.12 -uS x.py: -S skips what loads the harness, and Python was started with it: leave it out to record
            /usr/bin/python3 -X dev x.py -I: no Python process loaded the harness: the program is not Python, or it starts Python with another environment or with -I, -E or -S
            python -c Import -I: no Python process loaded the harness: the program is not Python, or it starts Python with another environment or with -I, -E or -S
            python -mSite: no Python process loaded the harness: the program is not Python, or it starts Python with another environment or with -I, -E or -S
            pythonic -I: no Python process loaded the harness: the program is not Python, or it starts Python with another environment or with -I, -E or -S
            tool: -E has Python ignore PYTHONPATH, where the harness is, and requested by the first line of tool: leave it out to record
        "#]].assert_eq(&told.concat());
    }

    #[test]
    fn what_a_process_says_itself_goes_first() {
        let why = why_no_harness(&["python".into(), "-I".into()], &["it needs Python 3.10 or newer, found 3.8".into()]);
        assert_eq!(why, "Python could not load the harness: it needs Python 3.10 or newer, found 3.8");
    }
}
