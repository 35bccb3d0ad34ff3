//! Files and folders that are written whole or not at all, and trees that are copied without following links.
//!
//! Whatever a command writes goes through here, so that it keeps the same promises everywhere:
//!
//! - [`replace`] and [`write()`]: a file is the old one or the new one, and never a part, whenever the program is killed.
//! - [`NewFolder`]: a folder gets its name when all of it is there; an earlier one stays whole until then.
//! - [`Tree`]: a folder whose files are opened relative to its handle, so that no link leads out of it.
//!
//! What is being written has a name that begins with a dot and ends in `.ridgeline-partial`, and is locked for as long as its
//! writer lives; the next that writes the same path removes what one that was killed left behind.
//! Nothing here knows what the files mean.

mod file;
mod folder;
mod partial;
mod tree;

pub use file::{replace, write};
pub use folder::{NewFolder, exchange, remove};
pub use partial::is_partial;
pub use tree::{Copied, Tree};
