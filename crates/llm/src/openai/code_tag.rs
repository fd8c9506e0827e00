//! Finds code between `<code_interpreter type="code" lang="python">` and its closing tag.

/// The beginning of the opening tag.
pub(crate) const CODE_TAG: &str = "<code_interpreter";

/// The closing tag.
const CODE_END: &str = "</code_interpreter>";

/// Maximum length of the opening tag, bytes.
const MAX_TAG_BYTES: usize = 200;

/// Maximum length of the code, bytes; no tool accepts more.
const MAX_CODE_BYTES: usize = 400_000;

/// The result of looking for the opening tag.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// More text is needed to decide.
    Undecided,
    /// No tag.
    No,
    /// The tag: its language in lower case, and its length in bytes.
    Whole(String, usize),
}

/// Reads the opening tag at the beginning of `text`.
pub(crate) fn read_head(text: &str) -> Head {
    let Some(after) = text.strip_prefix(CODE_TAG) else {
        return Head::No;
    };
    if !after.is_empty() && !after.starts_with(|c: char| c.is_whitespace() || c == '>') {
        return Head::No;
    }
    match after.find('>') {
        Some(end) if end <= MAX_TAG_BYTES => {
            let language = attribute(&after[..end], "lang")
                .unwrap_or("python")
                .to_lowercase();
            Head::Whole(language, CODE_TAG.len() + end + 1)
        }
        None if after.len() <= MAX_TAG_BYTES => Head::Undecided,
        _ => Head::No,
    }
}

fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let mut words = attributes.split_whitespace();
    let value = words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))?;
    Some(value.trim_matches(['"', '\'']))
}

/// Code whose closing tag has not come yet.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) language: String,
    /// How many bytes were searched.
    searched: usize,
}

/// The progress of reading the code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Open,
    /// The length of the code in bytes, without and with its closing tag.
    Ended(usize, usize),
    TooLong,
}

impl Code {
    pub(crate) fn new(language: String) -> Self {
        Self {
            language,
            searched: 0,
        }
    }

    /// Looks for the closing tag in `text`, which begins with the code and only grows at its end.
    pub(crate) fn advance(&mut self, text: &str) -> Progress {
        let from = text.floor_char_boundary(self.searched.saturating_sub(CODE_END.len()));
        self.searched = text.len();
        match text[from..].find(CODE_END) {
            Some(end) => Progress::Ended(from + end, from + end + CODE_END.len()),
            None if text.len() > MAX_CODE_BYTES => Progress::TooLong,
            None => Progress::Open,
        }
    }

    /// Whether it is for Python.
    pub(crate) fn is_python(&self) -> bool {
        matches!(self.language.as_str(), "" | "python" | "python3" | "py")
    }

    /// Code that is not run, as a Markdown block, with the reason if given.
    pub(crate) fn shown(&self, code: &str, why: Option<&str>) -> String {
        let code = bare(code);
        let fence = if code.contains("```") { "~~~~" } else { "```" };
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-');
        let language: String = self
            .language
            .chars()
            .filter(|c| word(*c))
            .take(20)
            .collect();
        let why = why.map(|why| format!("\n{why}\n")).unwrap_or_default();
        format!("\n{fence}{language}\n{code}\n{fence}\n{why}")
    }
}

/// The code without the fence that many models put around it, and without a partial closing tag.
pub(crate) fn bare(code: &str) -> &str {
    let half = (2..CODE_END.len())
        .rev()
        .find(|size| code.ends_with(&CODE_END[..*size]))
        .unwrap_or(0);
    let code = code[..code.len() - half]
        .trim_end()
        .trim_start_matches(['\r', '\n']);
    let Some(inside) = code.trim_start().strip_prefix("```") else {
        return code;
    };
    let Some((_, inside)) = inside.split_once('\n') else {
        return code;
    };
    let inside = inside.strip_suffix("```").unwrap_or(inside);
    inside.trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_tags_are_distinguished_from_text() {
        let whole = |language: &str, size| Head::Whole(language.to_owned(), size);
        for (text, head) in [
            ("<code_interpreter>x", whole("python", 18)),
            (
                "<code_interpreter type=\"code\" lang=\"python\">",
                whole("python", 44),
            ),
            (
                "<code_interpreter lang='JavaScript' >",
                whole("javascript", 37),
            ),
            ("<code_interpreter", Head::Undecided),
            ("<code_interpreter type=", Head::Undecided),
            ("<code_interpreters>", Head::No),
        ] {
            assert_eq!(read_head(text), head, "{text}");
        }
        assert_eq!(
            read_head(&format!("<code_interpreter {}", "x".repeat(300))),
            Head::No
        );
    }

    #[test]
    fn code_loses_its_fence() {
        for (written, code) in [
            ("\nprint(1)\n", "print(1)"),
            ("\n    x = 1\n", "    x = 1"),
            ("```python\nprint(1)\n```\n", "print(1)"),
            ("\n```\na = '''```'''\n```", "a = '''```'''"),
            ("print(1)\n</code_inter", "print(1)"),
            ("a </", "a"),
            ("```", "```"),
            ("", ""),
        ] {
            assert_eq!(bare(written), code, "{written}");
        }
        assert_eq!(
            Code::new("r`\nx".into()).shown("1", None),
            "\n```rx\n1\n```\n"
        );
        assert_eq!(
            Code::new("go".into()).shown("a ``` b", Some("Not run.")),
            "\n~~~~go\na ``` b\n~~~~\n\nNot run.\n"
        );
    }
}
