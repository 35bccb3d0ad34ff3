//! Stack frames: which lines of the user's program led to an instruction.
//!
//! XLA stores call stacks as four tables that refer to each other by 1-based numbers. Files of the wild have frames
//! that are their own parent and numbers that lead nowhere; neither costs more than the frames concerned.

/// The stack frame tables of a module.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StackFrames {
    /// File names.
    pub files: Vec<String>,
    /// Function names.
    pub functions: Vec<String>,
    /// Places in files.
    pub locations: Vec<FileLocation>,
    /// Calls; entry 0 is frame 1.
    pub frames: Vec<Frame>,
}

/// A place in a file; `file` and `function` count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the same as SourceFrame's")]
pub struct FileLocation {
    pub file: u32,
    pub function: u32,
    pub line: u32,
    pub end_line: u32,
    pub column: u32,
    pub end_column: u32,
}

/// One call: where it is, and the frame it was called from (0 for the outermost). Both count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the struct says it")]
pub struct Frame {
    pub location: u32,
    pub parent: u32,
}

/// One line of a call stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SourceFrame<'a> {
    /// File name as the program had it; may be relative.
    pub file: &'a str,
    /// Function, `main` or `<module>`; empty if unsaid.
    pub function: &'a str,
    /// First line, from 1; 0 if unsaid.
    pub line: u32,
    /// Last line; 0 if unsaid.
    pub end_line: u32,
    /// First column, from 0.
    pub column: u32,
    /// Column after the last one; 0 if unsaid.
    pub end_column: u32,
}

/// Frames of one stack that are reported; Python's own recursion limit is 1000.
const DEPTH_LIMIT: usize = 1024;

impl StackFrames {
    /// Whether there is no frame at all.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The call stack of frame `id`, innermost first.
    ///
    /// It ends at the outermost frame, at a number that leads nowhere, or at a frame seen before.
    pub fn stack(&self, id: u32) -> Vec<SourceFrame<'_>> {
        let mut stack = Vec::new();
        let mut next = id;
        let mut seen = 0;
        while let Some(frame) = entry(&self.frames, next) {
            stack.extend(self.resolve(frame.location));
            seen += 1;
            // A parent is entered in the tables before the frames it calls, so a number that does not fall is a cycle.
            if frame.parent == next || seen == DEPTH_LIMIT || (frame.parent > next && self.is_cyclic(next)) {
                break;
            }
            next = frame.parent;
        }
        stack
    }

    fn resolve(&self, location: u32) -> Option<SourceFrame<'_>> {
        let location = entry(&self.locations, location)?;
        Some(SourceFrame {
            file: entry(&self.files, location.file).map_or("", String::as_str),
            function: entry(&self.functions, location.function).map_or("", String::as_str),
            line: location.line,
            end_line: location.end_line,
            column: location.column,
            end_column: location.end_column,
        })
    }

    /// Whether the parents of `id` come back to it.
    fn is_cyclic(&self, id: u32) -> bool {
        let mut next = id;
        for _ in 0..DEPTH_LIMIT {
            match entry(&self.frames, next) {
                Some(frame) if frame.parent == id => return true,
                Some(frame) => next = frame.parent,
                None => return false,
            }
        }
        true
    }
}

/// Entry `number` of a table that counts from 1.
fn entry<T>(table: &[T], number: u32) -> Option<&T> {
    table.get(usize::try_from(number.checked_sub(1)?).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(parents: &[u32]) -> StackFrames {
        StackFrames {
            files: vec!["solver.py".to_owned()],
            functions: vec!["main".to_owned()],
            locations: (1..=parents.len() as u32)
                .map(|line| FileLocation { file: 1, function: 1, line, ..FileLocation::default() })
                .collect(),
            frames: parents.iter().zip(1..).map(|(&parent, location)| Frame { location, parent }).collect(),
        }
    }

    fn lines(parents: &[u32], id: u32) -> Vec<u32> {
        frames(parents).stack(id).iter().map(|frame| frame.line).collect()
    }

    #[test]
    fn stacks_run_outwards_and_end() {
        assert_eq!(lines(&[0, 1, 2], 3), [3, 2, 1]);
        assert_eq!(lines(&[1, 1, 2], 3), [3, 2, 1], "the outermost frame may be its own parent");
        assert_eq!(lines(&[2, 1], 1), [1], "a cycle ends where it would close");
        assert_eq!(lines(&[0, 9], 2), [2], "a parent that is not there");
        assert_eq!(lines(&[0], 7), [0u32; 0], "a frame that is not there");
        assert_eq!(lines(&[3, 0, 2], 1), [1, 3, 2], "parents may come later");
    }
}
