//! A position in HLO text: white space, comments, names, and spans of balanced brackets.

/// A position in text that only moves forward.
pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
    /// Whether a span may run over line ends; off once one ran to the end of the text, so that reading stays linear.
    spans_lines: bool,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Cursor<'t> {
        Cursor { text, at: 0, spans_lines: true }
    }

    /// Bytes from the start of the text.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek_byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn skip_space(&mut self) {
        self.skip_blank(true);
    }

    /// Skips blanks and comments, but not line ends.
    pub(super) fn skip_space_in_line(&mut self) {
        self.skip_blank(false);
    }

    fn skip_blank(&mut self, over_lines: bool) {
        loop {
            match self.peek_byte() {
                Some(b'\n') if !over_lines => return,
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                Some(b'/') if self.rest().starts_with("/*") => match self.rest().find("*/") {
                    Some(length) => self.at += length + 2,
                    None => self.at = self.text.len(),
                },
                Some(b'/') if self.rest().starts_with("//") => self.at += self.peek_line().len(),
                _ => return,
            }
        }
    }

    /// The rest of the line, without its end.
    pub(super) fn peek_line(&self) -> &'t str {
        let rest = self.rest();
        &rest[..rest.find('\n').unwrap_or(rest.len())]
    }

    pub(super) fn skip_line(&mut self) {
        self.at = (self.at + self.peek_line().len() + 1).min(self.text.len());
    }

    /// Takes `expected` if it stands here.
    pub(super) fn take(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        self.at += if found { expected.len() } else { 0 };
        found
    }

    /// A name: everything up to a blank or one of `=(){}[],:`; may be empty.
    pub(super) fn take_name(&mut self) -> &'t str {
        let rest = self.rest();
        let end = rest.bytes().position(|byte| b" \t\r\n=(){}[],:".contains(&byte)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Everything up to a comma, a closing bracket or a line end outside brackets and quotes.
    ///
    /// `None` where brackets or quotes do not close; the position is then unchanged.
    pub(super) fn take_value(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let mut depth = 0u32;
        let mut bytes = rest.bytes().enumerate();
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'"' => {
                    let mut escaped = false;
                    // A quote ends where it is closed and runs over no line end.
                    loop {
                        match bytes.next()?.1 {
                            _ if escaped => escaped = false,
                            b'\\' => escaped = true,
                            b'"' => break,
                            b'\n' => return None,
                            _ => {}
                        }
                    }
                }
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' if depth > 0 => depth -= 1,
                b')' | b']' | b'}' | b',' if depth == 0 => return Some(self.advance(at)),
                b'\n' if depth == 0 => return Some(self.advance(at)),
                b'\n' if !self.spans_lines => return None,
                _ => {}
            }
        }
        if depth == 0 {
            return Some(self.advance(rest.len()));
        }
        self.spans_lines = false;
        None
    }

    /// What stands between the bracket here and the one that closes it; both are passed.
    pub(super) fn take_brackets(&mut self) -> Option<&'t str> {
        let start = self.at;
        let open = self.peek_byte().filter(|byte| b"([{".contains(byte))?;
        let close = match open {
            b'(' => b')',
            b'[' => b']',
            _ => b'}',
        };
        self.at += 1;
        let inner_start = self.at;
        loop {
            if self.take_value().is_none() || self.peek_byte() == Some(b'\n') && !self.spans_lines {
                break;
            }
            match self.peek_byte() {
                Some(b',') => self.at += 1,
                Some(b'\n') => self.at += 1,
                Some(byte) if byte == close => {
                    let inner = &self.text[inner_start..self.at];
                    self.at += 1;
                    return Some(inner);
                }
                Some(_) => break,
                None => {
                    self.spans_lines = false;
                    break;
                }
            }
        }
        self.at = start;
        None
    }

    fn advance(&mut self, length: usize) -> &'t str {
        let taken = &self.text[self.at..self.at + length];
        self.at += length;
        taken
    }
}
