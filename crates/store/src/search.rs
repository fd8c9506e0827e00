//! Case-insensitive substring search that treats all alphabets alike: SQLite's own folds ASCII only.

/// Maximum length of a query, characters; longer ones are cut.
const MAX_QUERY_CHARS: usize = 200;

/// The text in its comparison form: every character in lower case, independent of context (a Greek sigma does not
/// depend on its position in the word).
pub(crate) fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// The pattern for `LIKE … ESCAPE '\'` that finds the query anywhere in a folded text.
pub(crate) fn pattern(query: &str) -> String {
    let mut pattern = String::from("%");
    for character in query
        .chars()
        .take(MAX_QUERY_CHARS)
        .flat_map(char::to_lowercase)
    {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_all_alphabets() {
        assert_eq!(fold("Привет, ΌΔΟΣ, Straße, ÀB"), "привет, όδοσ, straße, àb");
    }

    #[test]
    fn escapes_what_like_would_read() {
        assert_eq!(pattern(r"50%_\Х"), r"%50\%\_\\х%");
        assert_eq!(pattern(""), "%%");
    }

    #[test]
    fn cuts_a_long_query() {
        assert_eq!(
            pattern(&"ю".repeat(500)).chars().count(),
            MAX_QUERY_CHARS + 2
        );
    }
}
