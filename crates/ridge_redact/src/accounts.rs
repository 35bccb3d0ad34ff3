//! Accounts in paths that are no homes: scratch file systems, mounts, the temporary folders of macOS, `~NAME/`.

use crate::found::Found;
use crate::removed::What;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Folders of a shared file system below which accounts have theirs.
const ROOTS: &str = "scratch[0-9]*|[a-z]?scratch|netscratch|lustre[0-9]*|gpfs[0-9]*|beegfs|mnt";
/// Folders between one of them and the accounts; so are single letters and names with a number behind, such as `fs1`.
const BETWEEN: [&str; 22] = [
    "scratch", "work", "lustre", "gpfs", "beegfs", "home", "homes", "users", "user", "usr", "projects", "project",
    "fs", "fsw", "fsx", "nfs", "disk", "disks", "nvme", "ssd", "sd", "storage",
];
/// Folders that are of no account, and hold none: the search ends there.
const SHARED: [&str; 22] = [
    "data",
    "datasets",
    "dataset",
    "models",
    "model",
    "checkpoints",
    "tmp",
    "temp",
    "shared",
    "share",
    "public",
    "opt",
    "cache",
    "logs",
    "output",
    "outputs",
    "imagenet",
    "src",
    "bin",
    "lib",
    "conda",
    "envs",
];
/// So many folders are looked at behind a root.
const MOST_BETWEEN: usize = 4;

static SHARED_ROOT: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = format!(r"(?:/[0-9A-Za-z_.+-]+){{0,3}}?/(?:{ROOTS})/");
    Regex::new(&pattern).expect("a sound pattern")
});
/// What macOS gives an account as its temporary folder: two letters, and a code of its own.
static MAC_FOLDERS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"/var/folders/([0-9A-Za-z_+-]{2}/[0-9A-Za-z_+-]+)").expect("a sound pattern"));
static TILDE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"~([A-Za-z_][0-9A-Za-z_.-]*)/").expect("a sound pattern"));

/// Adds the accounts in the paths of `text`.
pub(crate) fn find(text: &str, found: &mut Vec<Found>) {
    let mut add = |place: Range<usize>| found.push(Found { place, what: What::UserName });
    let before = |at: usize| text[..at].chars().next_back();
    let begins_path = |at: usize| before(at).is_none_or(|c| !c.is_alphanumeric() && !"._~-<>*".contains(c));
    for root in SHARED_ROOT.find_iter(text).filter(|root| begins_path(root.start())) {
        // A mount is one only at the beginning of a path.
        let is_mount = root.as_str().ends_with("/mnt/");
        if !is_mount || root.as_str() == "/mnt/" {
            account_behind(text, root.end()).into_iter().for_each(&mut add);
        }
    }
    MAC_FOLDERS.captures_iter(text).filter_map(|folders| folders.get(1)).for_each(|code| add(code.range()));
    for account in TILDE.captures_iter(text) {
        let (whole, name) = (account.get(0).expect("all of it"), account.get(1).expect("a group of the pattern"));
        if before(whole.start()).is_none_or(|c| c.is_whitespace() || "\"'`=:,;([".contains(c)) {
            add(name.range());
        }
    }
}

/// The folder of an account, where `at` is behind the root of a shared file system.
fn account_behind(text: &str, mut at: usize) -> Option<Range<usize>> {
    let is_of_name = |c: char| c.is_alphanumeric() || "_.+-@".contains(c);
    for _ in 0..=MOST_BETWEEN {
        let length = text[at..].find(|c| !is_of_name(c)).unwrap_or(text.len() - at);
        let name = &text[at..at + length];
        let goes_on = text[at + length..].starts_with('/');
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit()).to_ascii_lowercase();
        if name.len() <= 1 || BETWEEN.contains(&plain.as_str()) {
            if !goes_on {
                return None;
            }
            at += length + 1;
            continue;
        }
        // The last part with a dot is a file.
        let is_file = !goes_on && name.contains('.');
        return (!is_file && !SHARED.contains(&plain.as_str())).then_some(at..at + length);
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::removed::Removed;
    use crate::words::Words;

    #[test]
    fn accounts_leave_shared_file_systems() {
        for (text, expected) in [
            ("/scratch/ada/run/x.py", "/scratch/<user>/run/x.py"),
            ("/pscratch/sd/a/ada/run", "/pscratch/sd/a/<user>/run"),
            ("/lustre/fsw/users/ada/run", "/lustre/fsw/users/<user>/run"),
            ("/lustre/fs1/portfolios", "/lustre/fs1/<user>"),
            ("/global/scratch/ada", "/global/scratch/<user>"),
            ("open(/mnt/ada/x)", "open(/mnt/<user>/x)"),
            ("/mnt/disk1/ada/x", "/mnt/disk1/<user>/x"),
            ("/mnt/data/imagenet/train", "/mnt/data/imagenet/train"),
            ("/mnt/x.py", "/mnt/x.py"),
            ("./scratch/x/y.py", "./scratch/x/y.py"),
            ("/work/src/mnt/x", "/work/src/mnt/x"),
            ("/private/var/folders/zz/zyx_n0000gn/T/x", "/private/var/folders/<user>/T/x"),
            ("cd ~ada/x; ~/y; Foo::~Foo(); !~mask", "cd ~<user>/x; ~/y; Foo::~Foo(); !~mask"),
        ] {
            assert_eq!(Words::default().clean(text, &mut Removed::default()), expected);
        }
    }
}
