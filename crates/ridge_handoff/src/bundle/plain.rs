//! Text from outside on a page.

/// Text from outside on one line of Markdown.
pub(super) fn plain(text: &str) -> String {
    let letter = |letter: char| match letter {
        '`' => '\'',
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    text.chars().map(letter).collect()
}

/// The same in a cell of a table.
pub(super) fn plain_cell(text: &str) -> String {
    plain(text).replace('|', "/")
}
