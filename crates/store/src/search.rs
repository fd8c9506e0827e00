//! Substring search in texts that are stored in folded form.

/// Maximum length of a query, characters; longer ones are cut.
const MAX_QUERY_CHARS: usize = 200;

/// The text in its comparison form.
pub(crate) fn fold(text: &str) -> String {
    folding::fold(text).into_owned()
}

/// The pattern for `LIKE … ESCAPE '\'` that finds the query anywhere in a folded text.
pub(crate) fn pattern(query: &str) -> String {
    containing(&folding::fold(start_of(query)))
}

/// The pattern that finds the query in a text that was stored in lower case only, with its accents, as versions before
/// this folding did; `None` if that is the same.
pub(crate) fn earlier_pattern(query: &str) -> Option<String> {
    // Independent of context: a Greek sigma does not depend on its position in the word.
    let lower: String = start_of(query)
        .chars()
        .flat_map(char::to_lowercase)
        .collect();
    let earlier = containing(&lower);
    (earlier != pattern(query)).then_some(earlier)
}

/// The pattern that finds the query in the key of an entity, which keeps its accents.
pub(crate) fn key_pattern(query: &str) -> String {
    containing(&folding::normalize(start_of(query)).replace('ё', "е"))
}

fn start_of(query: &str) -> &str {
    let end = query.char_indices().nth(MAX_QUERY_CHARS);
    end.map_or(query, |(end, _)| &query[..end])
}

fn containing(text: &str) -> String {
    let mut pattern = String::from("%");
    for character in text.chars() {
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
        assert_eq!(
            fold("Привет, ΌΔΟΣ, Straße, ÀB, Новыи\u{306}, كِتَاب, ＡＢ, wal\u{ad}rus"),
            "привет, οδοσ, strasse, ab, новый, كتاب, ab, walrus"
        );
    }

    #[test]
    fn escapes_what_like_would_read() {
        assert_eq!(pattern(r"50%_\Х"), r"%50\%\_\\х%");
        assert_eq!(pattern(""), "%%");
    }

    #[test]
    fn finds_texts_of_earlier_versions() {
        assert_eq!(earlier_pattern("Crème").as_deref(), Some("%crème%"));
        assert_eq!(earlier_pattern("ΟΔΟΣ").as_deref(), None);
        assert_eq!(earlier_pattern("Plain, простой"), None);
    }

    #[test]
    fn keys_keep_accents() {
        assert_eq!(key_pattern("Mu\u{308}ller"), "%müller%");
        assert_eq!(key_pattern("Фёдор"), "%федор%");
    }

    #[test]
    fn cuts_a_long_query() {
        assert_eq!(
            pattern(&"ю".repeat(500)).chars().count(),
            MAX_QUERY_CHARS + 2
        );
    }
}
