//! Ways to divide the time: what an item belongs to in each, and what that is called.
//!
//! Each of them divides all of the time, so its rows add up to the whole: what a division is not about has rows of its own.

use crate::matching::{Side, TEMPLATE};
use crate::names::{base, template, unnumbered};
use crate::place::Place;
use crate::summary::{Item, Kind};

/// A division of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum By {
    /// Operations, copies, and idle time by its cause and what kind of thing the host did.
    Part,
    /// Operations; idle time by its cause.
    Op,
    /// Kernels.
    Kernel,
    /// Kinds of work.
    Category,
    /// Lines of the program.
    Line,
    /// Copies, and everything else.
    Copy,
    /// Causes of idleness with what the host did, and everything else.
    Idle,
}

/// What stands for the part of the time that nothing explains.
pub(crate) const REST: &str = "nothing recorded explains it";
/// The cause that says that no cause is known.
const UNKNOWN: &str = "unknown";
/// The activity that says that nothing was recorded.
const NOTHING: &str = "nothing recorded";

impl By {
    /// Every division.
    pub const ALL: [By; 7] = [By::Part, By::Op, By::Kernel, By::Category, By::Line, By::Copy, By::Idle];

    /// The name in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            By::Part => "part",
            By::Op => "op",
            By::Kernel => "kernel",
            By::Category => "category",
            By::Line => "line",
            By::Copy => "copy",
            By::Idle => "idle",
        }
    }

    /// What may tell that `item` is the same thing as another, the most telling first; the empty key tells nothing.
    pub(crate) fn keys(self, item: &Item) -> Vec<String> {
        if is_rest(item) {
            return vec!["rest".to_owned()];
        }
        let idle = || match self {
            By::Part => vec![format!("idle|{}|{}", item.name, item.category)],
            By::Idle => idle_keys(item),
            By::Copy => vec!["idle".to_owned()],
            _ => vec![format!("idle|{}", item.name)],
        };
        match (item.kind, self) {
            (Kind::Idle, _) => idle(),
            (_, By::Idle) => vec!["work".to_owned()],
            (Kind::Work, By::Copy) => vec!["work".to_owned()],
            (_, By::Category) => vec![format!("category|{}", item.category)],
            (_, By::Line) if item.place.is_some() => item.place.as_ref().map(line_keys).unwrap_or_default(),
            (Kind::Work, By::Line) => vec!["no line".to_owned()],
            (_, By::Kernel) if item.kernel.is_some() => kernel_keys(item),
            (Kind::Copy, _) => copy_keys(item),
            (Kind::Work, _) => op_keys(item),
        }
    }

    /// What the items of a row are together, of the side that has them.
    pub(crate) fn subject(self, items: &Side<'_>) -> String {
        let Some((_, most)) = items.iter().max_by_key(|(_, item)| item.ns) else { return String::new() };
        if is_rest(most) {
            return REST.to_owned();
        }
        match (most.kind, self) {
            (Kind::Idle, By::Part | By::Idle) => idle_subject(most),
            (Kind::Idle, By::Copy) => "no work".to_owned(),
            (Kind::Idle, _) => most.name.clone(),
            (_, By::Idle) => "work of devices".to_owned(),
            (Kind::Work, By::Copy) => "work that copies nothing".to_owned(),
            (_, By::Category) => most.category.clone(),
            (_, By::Line) => most.place.as_ref().map_or("no line known".to_owned(), Place::to_string),
            (_, By::Kernel) if most.kernel.is_some() => {
                common(items, |item| item.kernel.as_deref().unwrap_or_default())
            }
            _ if most.name.contains(['<', '(']) => template(&most.name),
            _ => common(items, |item| &item.name),
        }
    }

    /// What kind of thing the row is.
    pub(crate) fn what(self, item: &Item) -> What {
        match (item.kind, self) {
            _ if is_rest(item) => What::Rest,
            (Kind::Idle, _) => What::Idle,
            (_, By::Idle) | (Kind::Work, By::Copy) => What::Work,
            (_, By::Category) => What::Category,
            (_, By::Line) => What::Line,
            (_, By::Kernel) if item.kernel.is_some() => What::Kernel,
            (Kind::Copy, _) => What::Copy,
            (Kind::Work, _) if item.operations == 0 && item.kernel.is_some() => What::Kernel,
            (Kind::Work, _) => What::Operation,
        }
    }
}

/// What a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    /// An operation, or several that are alike.
    Operation,
    /// A kernel.
    Kernel,
    /// A kind of work.
    Category,
    /// A line of the program.
    Line,
    /// A copy or memory set.
    Copy,
    /// Idle time of one cause.
    Idle,
    /// All work together.
    Work,
    /// What nothing explains.
    Rest,
}

impl What {
    /// The name in text and JSON.
    pub fn name(self) -> &'static str {
        match self {
            What::Operation => "operation",
            What::Kernel => "kernel",
            What::Category => "category",
            What::Line => "line",
            What::Copy => "copy",
            What::Idle => "idle",
            What::Work => "work",
            What::Rest => "rest",
        }
    }
}

pub(crate) fn is_rest(item: &Item) -> bool {
    item.kind == Kind::Idle && item.name == UNKNOWN && item.category == NOTHING
}

/// The name of all, or what their names begin with.
fn common(items: &Side<'_>, name: impl Fn(&Item) -> &str) -> String {
    let mut names: Vec<&str> = items.iter().map(|(_, item)| name(item)).collect();
    names.sort_unstable();
    names.dedup();
    let operations: u64 = items.iter().map(|(_, item)| item.operations).max().unwrap_or(0);
    let most = items.iter().max_by_key(|(_, item)| item.ns).map_or("", |(_, item)| name(item));
    match names.len() {
        // Only instructions have numbers that mean nothing.
        1 if operations <= 1 => most.to_owned(),
        _ => base(most).to_owned(),
    }
}

fn op_keys(item: &Item) -> Vec<String> {
    let base = base(&item.name);
    let module = item.module.as_deref().unwrap_or_default();
    let Some(structure) = item.structure else { return unstructured_keys(item, base, module) };
    let (file, identity, function) = match &item.place {
        Some(place) => (place.file_name(), place.identity(), place.function.as_str()),
        None => ("", String::new(), ""),
    };
    let with_line = |key: String| if item.place.is_some() { key } else { String::new() };
    vec![
        format!("op|{structure:x}|{module}|{file}|{identity}"),
        format!("structure|{structure:x}|{module}|{function}"),
        format!("structure|{structure:x}"),
        with_line(format!("line|{base}|{file}|{identity}")),
        with_line(format!("line|{}|{file}|{identity}", item.category)),
        with_line(format!("line|{file}|{identity}")),
        format!("name|{base}|{}|{module}|{function}", item.category),
        format!("kind|{}|{function}", item.category),
    ]
}

/// Operators of frameworks, and kernels that nothing else is known of.
fn unstructured_keys(item: &Item, base: &str, module: &str) -> Vec<String> {
    match &item.kernel {
        Some(kernel) if item.operations == 0 => vec![
            format!("kernel|{}|{}", unnumbered(kernel), item.launch.as_deref().unwrap_or_default()),
            format!("kernel|{}", unnumbered(kernel)),
            format!("{TEMPLATE}{}|{}", template(kernel), item.launch.as_deref().unwrap_or_default()),
            format!("{TEMPLATE}{}", template(kernel)),
        ],
        _ => vec![format!("operator|{module}|{base}"), format!("operator|{base}")],
    }
}

fn kernel_keys(item: &Item) -> Vec<String> {
    let kernel = item.kernel.as_deref().unwrap_or_default();
    vec![format!("kernel|{}", unnumbered(kernel)), format!("{TEMPLATE}{}", template(kernel))]
}

fn copy_keys(item: &Item) -> Vec<String> {
    if item.structure.is_some() {
        return op_keys(item).into_iter().map(|key| if key.is_empty() { key } else { format!("copy|{key}") }).collect();
    }
    let each = item.bytes.checked_div(item.events).unwrap_or(0);
    vec![format!("copy|{}|{each}", item.name), format!("copy|{}", item.name)]
}

fn line_keys(place: &Place) -> Vec<String> {
    let (file, identity) = (place.file_name(), place.identity());
    vec![format!("line|{file}|{identity}"), format!("line|{identity}"), format!("number|{file}|{}", place.line)]
}

fn idle_keys(item: &Item) -> Vec<String> {
    let during = item.during.as_deref().unwrap_or_default();
    vec![
        format!("idle|{}|{}|{during}", item.name, item.category),
        format!("idle|{}|{}|{}", item.name, item.category, base(during)),
    ]
}

/// `host late: program's own code (load)`.
fn idle_subject(item: &Item) -> String {
    let cause = if item.name == UNKNOWN { "no cause known" } else { &item.name };
    match (&item.during, item.category.as_str()) {
        (_, NOTHING) => format!("{cause}: {NOTHING} of the host"),
        (Some(during), doing) => format!("{cause}: {doing} ({})", crate::why::short(during)),
        (None, doing) => format!("{cause}: {doing}"),
    }
}
