//! What a tool says: text below a limit, which ends with how much was left out.

use ridgeline::OpenError;

/// Characters of a reply where the client asks for no other number.
pub(crate) const USUAL_CHARACTERS: usize = 8_000;
/// The most that it may ask for.
pub(crate) const MOST_CHARACTERS: usize = 100_000;
/// The least that is worth a reply.
pub(crate) const LEAST_CHARACTERS: usize = 500;
/// Room for the sentence that says what was left out.
const SENTENCE: usize = 240;

/// Why a tool gives no answer, and what to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// What was expected and found.
    pub(crate) message: String,
    /// What to do instead, a sentence each.
    pub(crate) hints: Vec<String>,
}

impl Refusal {
    /// A refusal without advice.
    pub(crate) fn new(message: impl Into<String>) -> Refusal {
        Refusal { message: message.into(), hints: Vec::new() }
    }

    /// The same, with advice.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Refusal {
        self.hints.push(hint.into());
        self
    }

    /// As the text of a reply.
    pub(crate) fn text(&self) -> String {
        let hints: String = self.hints.iter().map(|hint| format!("hint: {hint}\n")).collect();
        format!("error: {}\n{hints}", self.message)
    }
}

impl From<OpenError> for Refusal {
    fn from(error: OpenError) -> Refusal {
        let path = error.path().map(|path| format!(" ({})", path.display())).unwrap_or_default();
        Refusal { message: format!("{}{path}", error.message()), hints: error.hints().to_vec() }
    }
}

/// `text` in at most `most` characters: whole lines, then what is missing and `how` to ask for it.
pub(crate) fn fitted(text: String, most: usize, how: &str) -> String {
    let all = text.chars().count();
    if all <= most {
        return text;
    }
    let room = most.saturating_sub(SENTENCE + how.chars().count());
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (mut kept, mut used) = (String::new(), 0);
    let mut shown = 0;
    for line in &lines {
        let long = line.chars().count();
        if used + long > room {
            break;
        }
        kept.push_str(line);
        (used, shown) = (used + long, shown + 1);
    }
    // One line alone may be longer than all that there is room for.
    if shown == 0 {
        kept.extend(text.chars().take(room));
        kept.push('\n');
        used = room;
    }
    kept.push_str(&format!(
        "[cut: {used} of {all} characters and {shown} of {} lines are shown; pass \"characters\": {} for all{}{how}]\n",
        lines.len(),
        all.min(MOST_CHARACTERS),
        if how.is_empty() { "" } else { ", or " },
    ));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted() {
        let text: String = (0..100).map(|line| format!("line {line:03} of a hundred\n")).collect();
        assert_eq!(fitted(text.clone(), 5_000, "less"), text);
        let cut = fitted(text.clone(), 1_000, "ask for less");
        assert!(cut.chars().count() <= 1_000, "{}", cut.chars().count());
        let last = cut.lines().last().unwrap_or_default();
        assert_eq!(
            last,
            "[cut: 748 of 2200 characters and 34 of 100 lines are shown; pass \"characters\": 2200 for all, or ask for less]"
        );
        let one = fitted("x".repeat(3_000), 1_000, "");
        assert!(one.chars().count() <= 1_000 && one.contains("[cut: 760 of 3000 characters"), "{one}");
    }
}
