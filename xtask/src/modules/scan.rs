//! One file as the modules in it: what each defines, what it takes by `use`, and which paths it names.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeSet;

/// One module, in a file of its own or within one.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// Its file.
    pub(super) file: String,
    /// Modules below it, in files of their own or not.
    pub(super) children: BTreeSet<String>,
    /// Those in files of their own.
    pub(super) in_files: Vec<String>,
    /// Names that it defines.
    pub(super) items: BTreeSet<String>,
    /// Names that it takes from elsewhere.
    pub(super) uses: Vec<Use>,
    /// Paths of two parts or more, wherever they stand.
    pub(super) paths: Vec<Vec<String>>,
    /// Every word of its code outside of `use`.
    pub(super) idents: BTreeSet<String>,
}

impl Module {
    /// Whether a `use` gives it the name.
    pub(super) fn imports(&self, name: &str) -> bool {
        self.uses.iter().any(|used| used.name == name)
    }
}

/// One name of a `use`.
#[derive(Debug)]
pub(super) struct Use {
    /// What it is called here; of `*`, nothing.
    pub(super) name: String,
    pub(super) path: Vec<String>,
    /// Whether others may take it from here.
    pub(super) public: bool,
    /// Whether it is `*`.
    pub(super) glob: bool,
}

/// Words behind which the name of an item stands.
const DEFINE: &[&str] = &["fn", "struct", "enum", "union", "trait", "type", "const", "static", "macro_rules"];

/// The modules in a file, by path; `None` where it is not Rust.
pub(super) fn scan(text: &str, path: &[String], file: &str) -> Option<Vec<(Vec<String>, Module)>> {
    let tokens: TokenStream = text.parse().ok()?;
    let mut found = Vec::new();
    module(tokens.into_iter().collect(), path.to_vec(), file, &mut found);
    Some(found)
}

fn module(tokens: Vec<TokenTree>, path: Vec<String>, file: &str, found: &mut Vec<(Vec<String>, Module)>) {
    let mut it = Module { file: file.to_owned(), ..Module::default() };
    let (mut at, mut test, mut public) = (0, false, false);
    while at < tokens.len() {
        match (&tokens[at], tokens.get(at + 1), tokens.get(at + 2)) {
            (TokenTree::Punct(mark), Some(TokenTree::Group(attribute)), _) if mark.as_char() == '#' => {
                test |= attribute.stream().to_string().replace(' ', "").starts_with("cfg(test)");
                at += 2;
                continue;
            }
            // What stands in the head of a file is about all of it.
            (TokenTree::Punct(mark), Some(TokenTree::Punct(_)), Some(TokenTree::Group(_))) if mark.as_char() == '#' => {
                at += 3;
                continue;
            }
            (TokenTree::Ident(word), next, _) if word == "pub" => {
                public = true;
                let visibility =
                    matches!(next, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
                at += if visibility { 2 } else { 1 };
                continue;
            }
            (TokenTree::Ident(word), Some(TokenTree::Ident(name)), Some(behind)) if word == "mod" && !test => {
                it.children.insert(name.to_string());
                match behind {
                    TokenTree::Group(body) => {
                        let inner = [path.as_slice(), &[name.to_string()]].concat();
                        module(body.stream().into_iter().collect(), inner, file, found);
                    }
                    _ => it.in_files.push(name.to_string()),
                }
                at += 3;
            }
            (TokenTree::Ident(word), ..) if word == "use" => {
                let end = item_end(&tokens, at);
                if !test {
                    uses(&tokens[at + 1..end], &[], public, &mut it.uses);
                }
                at = end;
            }
            _ => {
                let end = item_end(&tokens, at).max(at + 1);
                if !test {
                    define(&tokens[at..end], &mut it.items);
                    body(&tokens[at..end], &mut it);
                }
                at = end;
            }
        }
        (test, public) = (false, false);
    }
    found.push((path, it));
}

/// The place behind an item: its `;` or its braces.
fn item_end(tokens: &[TokenTree], from: usize) -> usize {
    let ends_at_mark = has_value(&tokens[from..]);
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == ';' => return at + 1,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && !ends_at_mark => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Whether an item ends at its `;` alone, because what stands in it may have braces.
fn has_value(item: &[TokenTree]) -> bool {
    match item {
        [TokenTree::Ident(word), TokenTree::Ident(next), ..] if word == "const" => {
            !["fn", "unsafe", "async", "extern"].iter().any(|function| next == function)
        }
        [TokenTree::Ident(word), ..] => ["use", "static", "type", "const"].iter().any(|valued| word == valued),
        _ => false,
    }
}

/// The name that an item gives.
fn define(item: &[TokenTree], items: &mut BTreeSet<String>) {
    for pair in item.windows(2) {
        match pair {
            [TokenTree::Ident(word), _] if word == "impl" => return,
            [TokenTree::Ident(word), TokenTree::Ident(name)]
                if DEFINE.iter().any(|define| word == define)
                    && !["fn", "mut", "unsafe"].iter().any(|word| name == word) =>
            {
                items.insert(name.to_string());
                return;
            }
            [TokenTree::Ident(word), TokenTree::Punct(_)] if word == "macro_rules" => {
                let name = item.iter().skip(2).find_map(|token| {
                    matches!(token, TokenTree::Ident(name) if name != "macro_rules").then(|| token.to_string())
                });
                items.extend(name);
                return;
            }
            _ => {}
        }
    }
}

/// The names of a `use`, `a::{b, c as d}` taken apart.
fn uses(tokens: &[TokenTree], before: &[String], public: bool, found: &mut Vec<Use>) {
    for part in tokens.split(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',')) {
        let mut path = before.to_vec();
        let mut alias = None;
        let mut glob = false;
        let mut tokens = part.iter().peekable();
        let mut whole = true;
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Ident(word) if word == "as" => alias = tokens.next().map(ToString::to_string),
                TokenTree::Ident(word) if word == "self" && !path.is_empty() => {}
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Punct(mark) if mark.as_char() == '*' => glob = true,
                TokenTree::Group(group) => {
                    uses(&group.stream().into_iter().collect::<Vec<_>>(), &path, public, found);
                    whole = false;
                }
                _ => {}
            }
        }
        if let Some(last) = path.last().filter(|_| whole && (path.len() > before.len() || !part.is_empty())) {
            let name = if glob { String::new() } else { alias.unwrap_or_else(|| last.clone()) };
            found.push(Use { name, path, public, glob });
        }
    }
}

/// The words and paths of a body; a `use` within one counts as paths.
fn body(tokens: &[TokenTree], it: &mut Module) {
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(word)
                if word == "use"
                    && tokens[at..]
                        .iter()
                        .any(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ';')) =>
            {
                let end = item_end(tokens, at);
                let mut inner = Vec::new();
                uses(&tokens[at + 1..end], &[], false, &mut inner);
                it.paths.extend(inner.into_iter().map(|used| used.path));
                at = end;
                continue;
            }
            TokenTree::Ident(word) if word == "pub" => {
                let visibility = matches!(tokens.get(at + 1), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
                at += if visibility { 2 } else { 1 };
                continue;
            }
            TokenTree::Ident(word) => {
                let mut path = vec![word.to_string()];
                let mut end = at + 1;
                while let [TokenTree::Punct(a), TokenTree::Punct(b), TokenTree::Ident(next), ..] = &tokens[end..]
                    && a.as_char() == ':'
                    && b.as_char() == ':'
                {
                    path.push(next.to_string());
                    end += 3;
                }
                let begins = !matches!(at.checked_sub(1).map(|before| &tokens[before]), Some(TokenTree::Punct(mark)) if mark.as_char() == ':')
                    || !matches!(at.checked_sub(2).map(|before| &tokens[before]), Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
                it.idents.insert(path[0].clone());
                if path.len() > 1 && begins {
                    it.paths.push(path);
                }
                at = end;
                continue;
            }
            TokenTree::Group(group) => body(&group.stream().into_iter().collect::<Vec<_>>(), it),
            _ => {}
        }
        at += 1;
    }
}
