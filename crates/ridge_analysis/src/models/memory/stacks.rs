//! Call stacks as words.

use ridge_trace::{StackRow, Trace};

/// Frames of a stack that are written out.
const FRAMES_SHOWN: usize = 64;

/// The innermost frame outside installed packages and the interpreter, else the innermost; `None` without a stack.
pub(crate) fn frame_of_user(trace: &Trace, stack: Option<StackRow>) -> Option<String> {
    let stack = stack?;
    let frames = || trace.memory.stacks.frames(stack.0).map(|frame| trace.strings.get(frame));
    frames().find(|frame| is_users(frame)).or_else(|| frames().next()).map(str::to_owned)
}

/// The frames of a stack, innermost first, with ` < ` between.
pub(crate) fn stack_text(trace: &Trace, stack: Option<StackRow>) -> Option<String> {
    let frames = trace.memory.stacks.frames(stack?.0).take(FRAMES_SHOWN);
    let words: Vec<&str> = frames.map(|frame| trace.strings.get(frame)).collect();
    (!words.is_empty()).then(|| words.join(" < "))
}

/// Whether a frame (`file:line function`) is of the program rather than of a package it uses.
fn is_users(frame: &str) -> bool {
    let path = frame.rsplit_once(':').map_or(frame, |(path, _)| path);
    let is_python = path.ends_with(".py") || path.contains("ipython-input") || path.starts_with('<');
    let is_package =
        ["/site-packages/", "/dist-packages/", "/lib/python", "<frozen"].iter().any(|part| path.contains(part));
    is_python && !is_package
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_not_the_program() {
        for (frame, expected) in [
            ("/home/me/train.py:12 step", true),
            ("/usr/lib/python3/dist-packages/torch/nn/linear.py:9 forward", false),
            ("/venv/lib/python3.12/site-packages/jax/_src/api.py:3 jit", false),
            ("??:0 c10::cuda::malloc", false),
            ("<frozen importlib>:1 load", false),
        ] {
            assert_eq!(is_users(frame), expected, "{frame}");
        }
    }
}
