//! Splits RTF into groups, control words and text.

/// The next piece of an RTF file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A group begins.
    Open,
    /// The innermost group ends.
    Close,
    /// A control word with its parameter.
    Word(&'a str, Option<i32>),
    /// A control symbol.
    Symbol(u8),
    /// A character of the current code page as a hexadecimal number.
    Hex(u8),
    /// Text in the current code page.
    Text(&'a [u8]),
}

/// Iterates over the pieces. Binary data is left out.
pub(super) struct Tokens<'a> {
    rest: &'a [u8],
}

impl<'a> Tokens<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Takes the bytes at the beginning that satisfy a condition.
    fn take_while(&mut self, condition: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| !condition(*byte));
        let (taken, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        taken
    }

    /// What follows a backslash.
    fn control(&mut self) -> Option<Token<'a>> {
        let first = *self.rest.first()?;
        if !first.is_ascii_alphabetic() {
            self.rest = &self.rest[1..];
            return Some(match first {
                b'\'' => self.hex(),
                _ => Token::Symbol(first),
            });
        }
        let name = self.take_while(|byte| byte.is_ascii_alphabetic());
        let name = std::str::from_utf8(name).unwrap_or_default();
        let value = self.parameter();
        if let Some(rest) = self.rest.strip_prefix(b" ") {
            self.rest = rest;
        }
        if name == "bin" {
            let length = usize::try_from(value.unwrap_or_default()).unwrap_or_default();
            self.rest = self.rest.get(length..).unwrap_or_default();
        }
        Some(Token::Word(name, value))
    }

    fn parameter(&mut self) -> Option<i32> {
        let after_sign = self.rest.strip_prefix(b"-");
        if !after_sign.unwrap_or(self.rest).first()?.is_ascii_digit() {
            return None;
        }
        self.rest = after_sign.unwrap_or(self.rest);
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        let number: i32 = std::str::from_utf8(digits).ok()?.parse().ok()?;
        Some(if after_sign.is_some() {
            -number
        } else {
            number
        })
    }

    fn hex(&mut self) -> Token<'a> {
        let digits = self
            .rest
            .get(..2)
            .and_then(|it| std::str::from_utf8(it).ok());
        let byte = digits.and_then(|it| u8::from_str_radix(it, 16).ok());
        if byte.is_some() {
            self.rest = self.rest.get(2..).unwrap_or_default();
        }
        byte.map_or(Token::Symbol(b'\''), Token::Hex)
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        // Line breaks only make the file readable.
        self.take_while(|byte| matches!(byte, b'\r' | b'\n' | 0));
        let first = *self.rest.first()?;
        if !matches!(first, b'{' | b'}' | b'\\') {
            let text =
                self.take_while(|byte| !matches!(byte, b'{' | b'}' | b'\\' | b'\r' | b'\n' | 0));
            return Some(Token::Text(text));
        }
        self.rest = &self.rest[1..];
        match first {
            b'{' => Some(Token::Open),
            b'}' => Some(Token::Close),
            _ => self.control(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_words_end_where_they_should() {
        let tokens: Vec<_> =
            Tokens::new(b"{\\rtf1\\b0 x\\u-10180?\n\\'e9\\~\\bin3 {}}y\\par}\\").collect();
        assert_eq!(
            tokens,
            [
                Token::Open,
                Token::Word("rtf", Some(1)),
                Token::Word("b", Some(0)),
                Token::Text(b"x"),
                Token::Word("u", Some(-10180)),
                Token::Text(b"?"),
                Token::Hex(0xe9),
                Token::Symbol(b'~'),
                Token::Word("bin", Some(3)),
                Token::Text(b"y"),
                Token::Word("par", None),
                Token::Close,
            ]
        );
    }
}
