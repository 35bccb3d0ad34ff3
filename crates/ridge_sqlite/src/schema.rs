//! Tables as `sqlite_master` declares them: column names out of the text of `CREATE TABLE` (section 2.6).
//!
//! Types, defaults and constraints are not kept, but for the two that change how a row is stored: the column that is
//! the row id itself, and columns that are computed and not stored.

use super::page::PageNumber;

/// One table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSchema {
    /// Its name as declared.
    pub name: String,
    /// Columns that rows store, in order.
    pub columns: Vec<String>,
    pub(super) root: PageNumber,
    /// Position of the `INTEGER PRIMARY KEY`, whose value is the row id (section 2.3).
    pub(super) row_id: Option<usize>,
    /// Whether it is stored as an index, which is not read here.
    pub without_row_id: bool,
}

impl TableSchema {
    /// Positions of the columns called `names`, without case; `None` for one that the table lacks.
    pub fn columns_called(&self, names: &[&str]) -> Vec<Option<usize>> {
        let find = |name: &&str| self.columns.iter().position(|column| column.eq_ignore_ascii_case(name));
        names.iter().map(find).collect()
    }
}

/// The schema table itself: page 1.
pub(super) fn schema_table() -> TableSchema {
    let columns = ["type", "name", "tbl_name", "rootpage", "sql"];
    TableSchema {
        name: "sqlite_master".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        root: 1,
        row_id: None,
        without_row_id: false,
    }
}

/// Reads the columns of `sql`, a `CREATE TABLE` statement.
pub(super) fn parse(name: &str, root: PageNumber, sql: &str) -> TableSchema {
    let tokens = tokens(sql);
    let body = tokens.iter().position(|token| token.is("(")).map_or(tokens.len(), |open| open + 1);
    let (parts, rest) = split(&tokens[body..]);
    let mut table = TableSchema {
        name: name.to_owned(),
        columns: Vec::new(),
        root,
        row_id: None,
        without_row_id: rest.windows(2).any(|pair| pair[0].is("WITHOUT") && pair[1].is("ROWID")),
    };
    let mut integers = Vec::new();
    let mut key_of_table = None;
    for part in parts {
        let Some(first) = part.first() else { continue };
        if is_constraint(first) {
            key_of_table = key_of_table.or_else(|| single_key(part));
            continue;
        }
        let said = |word: &str| part[1..].iter().any(|token| token.is(word));
        if said("AS") && !said("STORED") {
            continue;
        }
        let is_integer = part.get(1).is_some_and(|token| token.is("INTEGER"));
        if is_integer {
            integers.push(first.text.clone());
        }
        if is_integer && said("PRIMARY") && !said("DESC") {
            table.row_id = Some(table.columns.len());
        }
        table.columns.push(first.text.clone());
    }
    if let Some(key) = key_of_table.filter(|key| integers.iter().any(|name| name.eq_ignore_ascii_case(key))) {
        table.row_id = table.columns.iter().position(|column| column.eq_ignore_ascii_case(&key));
    }
    table
}

/// The column of a table's own `PRIMARY KEY (column)`, if that is one alone.
fn single_key(part: &[Token]) -> Option<String> {
    let primary = part.iter().position(|token| token.is("PRIMARY"))?;
    match &part[primary..] {
        [_, key, open, column, close] if key.is("KEY") && open.is("(") && close.is(")") => Some(column.text.clone()),
        _ => None,
    }
}

fn is_constraint(token: &Token) -> bool {
    ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"].iter().any(|word| token.is(word))
}

/// A word, a quoted name, or one mark.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    text: String,
    quoted: bool,
}

impl Token {
    /// Whether it is the keyword or mark `word`; a quoted name never is.
    fn is(&self, word: &str) -> bool {
        !self.quoted && self.text.eq_ignore_ascii_case(word)
    }
}

/// The parts between top-level commas up to the closing parenthesis, and what follows that.
fn split(tokens: &[Token]) -> (Vec<&[Token]>, &[Token]) {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, token) in tokens.iter().enumerate() {
        if token.is("(") {
            depth += 1;
        } else if token.is(")") && depth > 0 {
            depth -= 1;
        } else if token.is(")") {
            parts.push(&tokens[start..at]);
            return (parts, &tokens[at + 1..]);
        } else if token.is(",") && depth == 0 {
            parts.push(&tokens[start..at]);
            start = at + 1;
        }
    }
    parts.push(&tokens[start..]);
    (parts, &[])
}

fn tokens(sql: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = sql;
    while let Some(letter) = rest.chars().next() {
        let after = &rest[letter.len_utf8()..];
        if rest.starts_with("--") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if rest.starts_with("/*") {
            rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
        } else if letter.is_whitespace() {
            rest = after;
        } else if let Some(close) = closing_quote(letter) {
            let (text, end) = quoted(after, close);
            tokens.push(Token { text, quoted: true });
            rest = end;
        } else {
            let is_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
            let end = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len()).max(letter.len_utf8());
            tokens.push(Token { text: rest[..end].to_owned(), quoted: false });
            rest = &rest[end..];
        }
    }
    tokens
}

fn closing_quote(letter: char) -> Option<char> {
    match letter {
        '"' | '\'' | '`' => Some(letter),
        '[' => Some(']'),
        _ => None,
    }
}

/// The text up to `close`, which stands for itself where it is doubled, and what follows.
fn quoted(text: &str, close: char) -> (String, &str) {
    let mut found = String::new();
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        if letter != close {
            found.push(letter);
        } else if letters.peek().is_some_and(|(_, next)| *next == close) {
            found.push(letter);
            letters.next();
        } else {
            return (found, &text[at + close.len_utf8()..]);
        }
    }
    (found, "")
}
