//! Queries as other engines write them: names in any case and in brackets, SQLite's types, its GLOB and its hexadecimal numbers.
//!
//! The tokens of a query are rewritten before it is parsed; what is inside of texts and comments stays.
//! DataFusion tells `streamId` from `streamid`, while SQLite, DuckDB and Perfetto's engine do not, and `REAL` is four bytes to
//! it and eight to them.

use crate::failure::Failure;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer, Word};
use std::collections::HashMap;

/// How names are spelled, by their lower-case letters.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spelling {
    known: HashMap<String, String>,
}

impl Spelling {
    /// Adds a name; the first spelling of one stays.
    pub(crate) fn add(&mut self, name: &str) {
        self.known.entry(name.to_lowercase()).or_insert_with(|| name.to_owned());
    }

    /// The statements of `sql`, each with its names as they are spelled here.
    ///
    /// # Errors
    /// [`Failure`] where the text is no sequence of tokens, or a statement of another engine that has no equivalent.
    pub(crate) fn statements(&self, sql: &str) -> Result<Vec<String>, Failure> {
        let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize();
        let tokens = tokens.map_err(|error| Failure::new(format!("cannot read the query: {error}")))?;
        let statements = tokens.split(|token| *token == Token::SemiColon);
        let has_words = |tokens: &&[Token]| tokens.iter().any(|token| !matches!(token, Token::Whitespace(_)));
        statements.filter(has_words).map(|tokens| self.clone().rewritten(tokens.to_vec())).collect()
    }

    fn rewritten(mut self, mut tokens: Vec<Token>) -> Result<String, Failure> {
        let places: Vec<usize> = (0..tokens.len()).filter(|at| !matches!(tokens[*at], Token::Whitespace(_))).collect();
        refuse_other_engines(&places.iter().take(3).map(|at| &tokens[*at]).collect::<Vec<_>>())?;
        for place in 0..places.len() {
            unbracketed(&mut tokens, &places, place);
        }
        for (place, at) in places.iter().copied().enumerate() {
            if let Token::HexStringLiteral(digits) = &tokens[at]
                && let Ok(number) = i64::from_str_radix(digits, 16)
            {
                tokens[at] = Token::Number(number.to_string(), false);
                continue;
            }
            let before = place.checked_sub(1).map(|before| tokens[places[before]].clone());
            let next = places.get(place + 1).map(|next| tokens[*next].clone());
            let Token::Word(word) = &tokens[at] else { continue };
            if let (Some(Token::Word(by)), Some(Token::RParen)) = (&before, &next)
                && by.keyword == Keyword::AS
                && let Some(wide) = wide(word)
            {
                tokens[at] = Token::make_keyword(wide);
                continue;
            }
            if word.value.eq_ignore_ascii_case("glob")
                && let Some(Token::SingleQuotedString(pattern)) = &next
            {
                let is_not = matches!(&before, Some(Token::Word(not)) if not.keyword == Keyword::NOT);
                let pattern = Token::SingleQuotedString(regex_of_glob(pattern));
                if is_not {
                    tokens[places[place - 1]] = Token::make_keyword("");
                }
                tokens[at] = if is_not { Token::ExclamationMarkTilde } else { Token::Tilde };
                tokens[places[place + 1]] = pattern;
                continue;
            }
            // A name in quotes that nobody knows is a new one, with its own letters.
            if let Some(spelled) = self.spelled(word) {
                let quote_style = word.quote_style;
                tokens[at] = Token::Word(Word { value: spelled, quote_style, keyword: word.keyword });
            }
        }
        Ok(tokens.iter().map(ToString::to_string).collect())
    }

    fn spelled(&mut self, word: &Word) -> Option<String> {
        let lower = word.value.to_lowercase();
        if word.keyword != Keyword::NoKeyword && word.quote_style.is_none() && !self.known.contains_key(&lower) {
            return None;
        }
        Some(self.known.entry(lower).or_insert_with(|| word.value.clone()).clone())
    }
}

/// Words behind which a value begins; what stands behind any other in brackets is an index.
const BEFORE_VALUES: [Keyword; 15] = [
    Keyword::SELECT,
    Keyword::DISTINCT,
    Keyword::WHERE,
    Keyword::AND,
    Keyword::OR,
    Keyword::NOT,
    Keyword::ON,
    Keyword::BY,
    Keyword::HAVING,
    Keyword::BETWEEN,
    Keyword::CASE,
    Keyword::WHEN,
    Keyword::THEN,
    Keyword::ELSE,
    Keyword::IN,
];

/// `[end]`, which is no index of an array, is a name in quotes.
fn unbracketed(tokens: &mut [Token], places: &[usize], place: usize) {
    let token = |place: usize| places.get(place).map(|at| &tokens[*at]);
    let (Some(Token::LBracket), Some(Token::Word(word)), Some(Token::RBracket)) =
        (token(place), token(place + 1), token(place + 2))
    else {
        return;
    };
    let is_index = match place.checked_sub(1).and_then(token) {
        Some(Token::Word(before)) => !BEFORE_VALUES.contains(&before.keyword),
        Some(Token::RParen | Token::RBracket) => true,
        _ => false,
    };
    if !is_index {
        let name = Word { quote_style: Some('"'), ..word.clone() };
        (tokens[places[place]], tokens[places[place + 2]]) = (Token::make_keyword(""), Token::make_keyword(""));
        tokens[places[place + 1]] = Token::Word(name);
    }
}

/// The type that holds what SQLite's type of this name does.
fn wide(word: &Word) -> Option<&'static str> {
    match word.value.to_ascii_uppercase().as_str() {
        "INT" | "INTEGER" => Some("BIGINT"),
        "REAL" | "FLOAT" => Some("DOUBLE"),
        _ => None,
    }
}

/// The regular expression that matches what a GLOB pattern does.
fn regex_of_glob(pattern: &str) -> String {
    let mut regex = String::from("(?s)^");
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            '[' => {
                regex.push('[');
                for letter in letters.by_ref() {
                    if letter == '[' || letter == '\\' {
                        regex.push('\\');
                    }
                    regex.push(letter);
                    if letter == ']' {
                        break;
                    }
                }
            }
            _ if letter.is_ascii_punctuation() => {
                regex.push('\\');
                regex.push(letter);
            }
            _ => regex.push(letter),
        }
    }
    regex.push('$');
    regex
}

/// Statements that only another engine has.
fn refuse_other_engines(first: &[&Token]) -> Result<(), Failure> {
    let words: Vec<String> = first.iter().map(|token| token.to_string().to_uppercase()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["INCLUDE", "PERFETTO", ..] | ["IMPORT", ..] => Err(Failure::new(
            "INCLUDE PERFETTO MODULE is not supported: modules of Perfetto's standard library are not here",
        )
        .hint("its tables are: slice, thread, process, counter, args, track, thread_track, gpu_slice, flow")
        .hint("`ridgeline export PATH --to perfetto` writes a trace for its own trace processor")),
        ["CREATE", "PERFETTO", ..] => Err(Failure::new("CREATE PERFETTO is not supported")
            .hint("CREATE VIEW name AS SELECT … names a query for the statements behind it")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(sql: &str) -> String {
        let mut spelling = Spelling::default();
        ["streamId", "CUPTI_ACTIVITY_KIND_KERNEL", "end"].iter().for_each(|name| spelling.add(name));
        spelling.statements(sql).expect("tokens").join("|")
    }

    #[test]
    fn names_have_the_letters_of_the_tables() {
        assert_eq!(
            rewritten("select STREAMID, 'streamid' from cupti_activity_kind_kernel -- streamid"),
            "select streamId, 'streamid' from CUPTI_ACTIVITY_KIND_KERNEL -- streamid"
        );
        assert_eq!(rewritten("select 1 as Foo order by FOO"), "select 1 as Foo order by Foo");
        assert_eq!(rewritten("select \"STREAMID\" from t"), "select \"streamId\" from t");
    }

    #[test]
    fn types_and_patterns_of_sqlite_are_those_of_datafusion() {
        assert_eq!(rewritten("select cast(x as REAL), cast(x as int)"), "select cast(x as DOUBLE), cast(x as BIGINT)");
        assert_eq!(rewritten("select x glob '*a.b?'"), "select x ~ '(?s)^.*a\\.b.$'");
        assert_eq!(rewritten("select x not glob '[a-c]*'"), "select x  !~ '(?s)^[a-c].*$'");
    }

    #[test]
    fn names_in_brackets_and_hexadecimal_numbers_are_read() {
        assert_eq!(rewritten("select k.[END] - start, sum([end])"), "select k.\"end\" - start, sum(\"end\")");
        assert_eq!(rewritten("select list[at], x % 0x1000000"), "select list[at], x % 16777216");
    }

    #[test]
    fn statements_are_told_apart() {
        assert_eq!(rewritten("select ';'; ; select 2;"), "select ';'| select 2");
        assert!(Spelling::default().statements("INCLUDE PERFETTO MODULE slices.with_context").is_err());
        assert!(Spelling::default().statements("select 'open").is_err());
    }
}
