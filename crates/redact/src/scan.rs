//! Finds the ranges of secrets in one pass over a text.

use std::ops::Range;

use super::{
    REDACTED,
    names::{CommandOption, Name, is_placeholder, is_program},
    tokens,
};

/// Maximum length of a name, and of the blanks between a name and its value, bytes.
const MAX_NAME_BYTES: usize = 64;
const MAX_BLANKS: usize = 8;
/// Maximum length of the user info in a URL, bytes.
const MAX_AUTHORITY_BYTES: usize = 1_024;
/// Maximum length of a header line, and of the relevant part of a word, bytes.
const MAX_LINE_BYTES: usize = 2_048;
const MAX_WORD_BYTES: usize = 256;
const PEM: &str = "-----BEGIN ";
const PEM_END: &str = "-----END ";

/// The ranges of all secrets, in order.
pub(super) fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut scan = Scan::new(text);
    let mut at = 0;
    while at < scan.bytes.len() {
        at = scan.step(at).max(at + 1);
    }
    scan.found
}

/// The range of the secret in the argument of this option.
pub(super) fn secret_in_argument(option: CommandOption, text: &str) -> Option<Range<usize>> {
    let mut scan = Scan::new(text);
    scan.argument(option, 0);
    scan.found.pop()
}

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    found: Vec<Range<usize>>,
    /// The program whose options may follow.
    program: &'a str,
}

impl<'a> Scan<'a> {
    /// A text that is a single option may be an argument of curl.
    fn new(text: &'a str) -> Self {
        let is_argument = text.starts_with("-u") && !text.contains(char::is_whitespace);
        let program = if is_argument { "curl" } else { "" };
        Self {
            text,
            bytes: text.as_bytes(),
            found: Vec::new(),
            program,
        }
    }

    /// Processes the text at this offset; returns the next offset.
    fn step(&mut self, at: usize) -> usize {
        match self.bytes[at] {
            b'-' if self.bytes[at..].starts_with(PEM.as_bytes()) => self.private_key(at),
            b':' if self.bytes[at..].starts_with(b"://") => self.authority(at + 3),
            b'=' | b':' => self.pair(at),
            // Terminal colours.
            0x1b if self.bytes.get(at + 1) == Some(&b'[') => {
                self.end_of(at + 2, |byte| byte.is_ascii_digit() || byte == b';') + 1
            }
            // A line break or a tab inside JSON: a word begins after it.
            b'\\' if self.bytes.get(at + 1).is_some_and(is_blank_escape) => at + 2,
            byte if is_word(byte) => self.word(at),
            byte if b";|\n".contains(&byte) => {
                // A command continues after a backslash.
                if !self.bytes[..at].ends_with(b"\\") {
                    self.program = "";
                }
                at + 1
            }
            _ => at + 1,
        }
    }

    fn add(&mut self, span: Range<usize>) -> usize {
        let end = span.end;
        if self
            .text
            .get(span.clone())
            .is_some_and(|secret| !secret.is_empty() && secret != REDACTED)
        {
            self.found.push(span);
        }
        end
    }

    fn end_of(&self, from: usize, is_part: impl Fn(u8) -> bool) -> usize {
        self.end_within(from, usize::MAX, is_part)
    }

    /// The same, limited to this many bytes. Lookahead that may be repeated has such a limit, so that the scan stays
    /// linear.
    fn end_within(&self, from: usize, limit: usize, is_part: impl Fn(u8) -> bool) -> usize {
        let rest = &self.bytes[from.min(self.bytes.len())..];
        let rest = &rest[..rest.len().min(limit)];
        from + rest
            .iter()
            .position(|byte| !is_part(*byte))
            .unwrap_or(rest.len())
    }

    fn slice(&self, span: Range<usize>) -> &'a str {
        self.text.get(span).unwrap_or_default()
    }

    /// The lines between the header and footer of a private key, also with line breaks written as `\n`.
    fn private_key(&mut self, at: usize) -> usize {
        let head = self.end_of(at + PEM.len(), |byte| {
            byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
        });
        let is_key = self.slice(at..head).ends_with("PRIVATE KEY")
            || self.slice(at..head).ends_with("PRIVATE KEY BLOCK");
        let from = self.end_of(head, |byte| byte == b'-').min(head + 5);
        if !is_key || from != head + 5 {
            return head;
        }
        let mut end = from;
        while end < self.bytes.len() && !self.bytes[end..].starts_with(PEM_END.as_bytes()) {
            let byte = self.bytes[end];
            if !(byte.is_ascii_alphanumeric()
                || byte.is_ascii_whitespace()
                || b"+/=\\-:,".contains(&byte))
            {
                break;
            }
            end += 1;
        }
        self.add(from..end)
    }

    /// The password, or a key without a name, before the host of a URL.
    fn authority(&mut self, from: usize) -> usize {
        let bound = self.bytes.len().min(from + MAX_AUTHORITY_BYTES);
        let is_end =
            |byte: &u8| byte.is_ascii_whitespace() || b"/?#\"'<>`\\(){}[]|,".contains(byte);
        let end = self.bytes[from..bound]
            .iter()
            .position(is_end)
            .map_or(bound, |length| from + length);
        let Some(host) = self.bytes[from..end].iter().rposition(|byte| *byte == b'@') else {
            return from;
        };
        let host = from + host;
        let secret = match self.bytes[from..host].iter().position(|byte| *byte == b':') {
            Some(colon) => from + colon + 1..host,
            None if tokens::looks_random(self.slice(from..host)) && host - from >= 16 => from..host,
            None => return host,
        };
        if is_variable(self.slice(secret.clone())) {
            return host;
        }
        self.add(secret)
    }

    /// The argument of a command option. Returns the next offset.
    fn argument(&mut self, option: CommandOption, from: usize) -> usize {
        match option {
            CommandOption::Secret => self.value(from, Name::Secret, false),
            CommandOption::Maybe => self.value(from, Name::Maybe, false),
            CommandOption::Account => self.account(from),
        }
    }

    /// The password of `name:password`, optionally in quotes.
    fn account(&mut self, from: usize) -> usize {
        let quote = self
            .bytes
            .get(from)
            .copied()
            .filter(|byte| b"\"'".contains(byte));
        let begin = from + usize::from(quote.is_some());
        let is_part = |byte: u8| match quote {
            Some(quote) => byte != quote && byte != b'\n',
            None => !byte.is_ascii_whitespace() && !b"\"'`;|)".contains(&byte),
        };
        let end = self.end_within(begin, MAX_AUTHORITY_BYTES, is_part);
        let Some(colon) = self.bytes[begin..end].iter().position(|byte| *byte == b':') else {
            return from;
        };
        let name = self.slice(begin..begin + colon);
        let password = self.slice(begin + colon + 1..end);
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // Numeric user and group ids, and a URL, are no account.
        let is_other = is_number(name) && is_number(password) || password.starts_with("//");
        if name.is_empty() || is_other || is_variable(password) || is_placeholder(password) {
            return from;
        }
        self.add(begin + colon + 1..end)
    }

    /// A word: a command option, a key by its format, or a credential after the name of its scheme.
    fn word(&mut self, at: usize) -> usize {
        // A very long word is read in pieces.
        let end = self.end_within(at, tokens::MAX_KEY_BYTES, is_word);
        if self.bytes[at] == b'-'
            && let Some(option) = CommandOption::of(self.slice(at..end))
        {
            let from = if option == CommandOption::Account && self.bytes.get(end) == Some(&b'=') {
                end + 1
            } else {
                self.blanks(end)
            };
            // A word with a dash is the next option.
            let is_argument = from > end
                && self
                    .bytes
                    .get(from)
                    .is_some_and(|byte| !b"-\r\n".contains(byte));
            if is_argument {
                return self.argument(option, from).max(end);
            }
        }
        if self.bytes[at] == b'-'
            && let Some((option, length)) =
                CommandOption::of_cluster(self.program, self.slice(at..end))
        {
            let from = if at + length == end {
                self.blanks(end)
            } else {
                at + length
            };
            return self.argument(option, from).max(end);
        }
        let kind = self.slice(at..end);
        if is_program(kind) {
            self.program = kind;
            return end;
        }
        if tokens::begins_key(kind)
            || matches!(self.bytes.get(end), Some(b'.'))
                && tokens::begins_key(self.slice(at..end + 1))
        {
            let end = self.end_within(at, tokens::MAX_KEY_BYTES, is_key_part);
            let whole = self
                .slice(at..end)
                .trim_end_matches(['.', '=', '/', '+', '~']);
            return if tokens::is_key(whole) {
                self.add(at..at + whole.len())
            } else {
                end
            };
        }
        let is_bearer = kind.eq_ignore_ascii_case("bearer");
        if !is_bearer && !kind.eq_ignore_ascii_case("basic") {
            return end;
        }
        let from = self.blanks(end);
        if from == end {
            return end;
        }
        let credential = from..self.end_within(from, tokens::MAX_KEY_BYTES, is_key_part);
        let is_credential = if is_bearer {
            tokens::is_bearer
        } else {
            tokens::is_basic
        };
        if is_credential(self.slice(credential.clone())) {
            self.add(credential)
        } else {
            end
        }
    }

    fn blanks(&self, from: usize) -> usize {
        self.end_within(from, MAX_BLANKS, |byte| byte == b' ' || byte == b'\t')
    }

    /// The value after a name and `=` or `:`.
    fn pair(&mut self, at: usize) -> usize {
        let next = self.bytes.get(at + 1).copied();
        if self.bytes[at] == b':' && matches!(next, Some(b':' | b'='))
            || at > 0 && self.bytes[at] == b':' && self.bytes[at - 1] == b':'
        {
            return at + 1;
        }
        let (place, is_parameter) = self.name_before(at);
        let name = self.slice(place.clone());
        let meaning = |name| match CommandOption::of(name) {
            // `--token=…`
            Some(CommandOption::Secret | CommandOption::Maybe) => Name::Secret,
            _ if is_parameter => Name::of_parameter(name),
            _ => Name::of(name),
        };
        let known = match (meaning(name), name.strip_prefix(['n', 'r', 't'])) {
            // After a line break inside JSON.
            (Name::Other, Some(rest)) if self.bytes[..place.start].ends_with(b"\\") => {
                meaning(rest)
            }
            (known, _) => known,
        };
        // The working directory is no password.
        let is_directory = matches!(name, "PWD" | "OLDPWD" | "pwd");
        let from = self.blanks(at + 1 + usize::from(next == Some(b'>')));
        match known {
            Name::Other => at + 1,
            Name::Header => {
                let end = self.end_of(from, |byte| !b"\r\n\"'\\".contains(&byte));
                if self.opens_text(from).is_some() {
                    self.value(from, Name::Secret, false)
                } else {
                    self.add(from..end)
                }
            }
            Name::Authorization => self.credential(from),
            Name::Secret | Name::Maybe if !is_directory => self.value(from, known, is_parameter),
            Name::Secret | Name::Maybe => at + 1,
        }
    }

    /// The name that ends here, and whether it is a parameter of a URL.
    fn name_before(&self, at: usize) -> (Range<usize>, bool) {
        let mut end = at;
        while end > 0 && at - end < MAX_BLANKS && b" \t\"'`\\]:=".contains(&self.bytes[end - 1]) {
            end -= 1;
        }
        let mut start = end;
        let is_part =
            |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte) || byte >= 0x80;
        while start > 0 && end - start < MAX_NAME_BYTES && is_part(self.bytes[start - 1]) {
            start -= 1;
        }
        let is_parameter = start > 0
            && end == at
            && self.bytes[at] == b'='
            && b"?&;".contains(&self.bytes[start - 1]);
        while !self.text.is_char_boundary(start) {
            start += 1;
        }
        (start..end, is_parameter)
    }

    /// The quote that opens a text here, and the offset of the text.
    fn opens_text(&self, from: usize) -> Option<(usize, &[u8])> {
        let escapes = self.end_within(from, 4, |byte| byte == b'\\');
        let quote = self
            .bytes
            .get(escapes)
            .filter(|byte| b"\"'`".contains(byte))?;
        Some((
            escapes + 1,
            if *quote == 0 {
                &[]
            } else {
                self.bytes.get(from..=escapes)?
            },
        ))
    }

    /// A quoted value, or one word.
    fn value(&mut self, from: usize, known: Name, is_parameter: bool) -> usize {
        if let Some((begin, mark)) = self.opens_text(from) {
            let end = self.end_of_text(begin, mark);
            let secret = self.slice(begin..end);
            let is_secret = match known {
                Name::Maybe => tokens::looks_random(secret),
                _ => !is_placeholder_text(secret),
            };
            return if is_secret {
                self.add(begin..end)
            } else {
                begin
            };
        }
        let is_part =
            |byte: u8| !byte.is_ascii_whitespace() && !b",;&\"'<>)]}|`\\([{#".contains(&byte);
        let is_part = |byte: u8| is_part(byte) || !is_parameter && b"#".contains(&byte);
        let end = self.end_of(from, is_part);
        let secret = self.slice(from..end);
        let trimmed = if is_parameter {
            secret
        } else {
            secret.trim_end_matches(['.', ':', '!', '?'])
        };
        let is_call = matches!(self.bytes.get(end), Some(b'(' | b'[' | b'<' | b'{'));
        let is_path = trimmed.contains('.') && !trimmed.bytes().any(|byte| byte.is_ascii_digit());
        let is_code = !is_parameter && (is_call || is_path && trimmed.bytes().all(is_code_part))
            || is_placeholder(trimmed);
        let is_secret = !is_code && (known == Name::Secret || tokens::looks_random(trimmed));
        let span = from..from + trimmed.len();
        // A URL may contain a secret itself.
        let has_address = span.len() < MAX_AUTHORITY_BYTES && secret.contains("://");
        match (is_secret, has_address) {
            (true, _) => self.add(span),
            (false, true) => from,
            (false, false) => end,
        }
    }

    fn end_of_text(&self, begin: usize, mark: &[u8]) -> usize {
        let mut end = begin;
        while end < self.bytes.len() {
            let is_line = mark.len() == 1 && mark != b"`" && self.bytes[end] == b'\n';
            if is_line || self.bytes[end..].starts_with(mark) {
                break;
            }
            // An escaped quote is part of the text.
            end += if self.bytes[end] == b'\\' && mark.len() == 1 {
                2
            } else {
                1
            };
        }
        let mut end = end.min(self.bytes.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        end
    }

    /// A credential after `Authorization:`, without its scheme.
    fn credential(&mut self, from: usize) -> usize {
        let (from, quote) = match self.opens_text(from) {
            Some((begin, _)) => (begin, true),
            None => (from, false),
        };
        let end = self.end_within(from, MAX_LINE_BYTES, |byte| {
            !b"\r\n\"'\\`<>{}".contains(&byte)
        });
        let end = self.text.floor_char_boundary(end);
        let line = self.slice(from..end).trim_end();
        let scheme = line.find([' ', '\t']).map_or(0, |blank| blank + 1);
        let is_scheme = scheme > 1
            && line[..scheme - 1]
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let rest = if is_scheme { &line[scheme..] } else { line };
        let word = rest.split_whitespace().next().unwrap_or_default();
        let word = &word[..word.floor_char_boundary(MAX_WORD_BYTES)];
        // Prose: “authorization: ask an administrator”.
        let is_credential = !is_placeholder(word)
            && (tokens::is_bearer(word)
                || tokens::is_basic(word)
                || tokens::looks_random(word)
                || quote)
            && !is_variable(word);
        if is_credential {
            self.add(from + line.len() - rest.len()..from + line.len())
        } else {
            from
        }
    }
}

/// Whether a quoted text is a mask: `"***"`, `"xxxx"`, `"..."`.
fn is_placeholder_text(text: &str) -> bool {
    let first = text.chars().next();
    is_variable(text) || text.len() > 2 && text.chars().all(|char| Some(char) == first)
}

/// Whether it is a template variable: `${PASSWORD}`, `<password>`, `{{password}}`, `%s`.
fn is_variable(text: &str) -> bool {
    text.is_empty() || text.starts_with(['$', '<', '{', '%', '['])
}

fn is_blank_escape(byte: &u8) -> bool {
    matches!(byte, b'n' | b'r' | b't')
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn is_key_part(byte: u8) -> bool {
    is_word(byte) || b".+/=~".contains(&byte)
}

fn is_code_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.'
}

#[cfg(test)]
mod tests;
