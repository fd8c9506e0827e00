//! Cuts foreign texts to a size for people and models.

/// At most `limit` characters, on one line and without control characters.
pub(crate) fn line(text: &str, limit: usize) -> String {
    let words = text
        .split_whitespace()
        .map(|word| word.chars().filter(|c| !c.is_control()).collect::<String>());
    let mut line = String::new();
    for word in words.filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
        if line.len() > limit * 4 {
            break;
        }
    }
    cut(line, limit)
}

/// At most `limit` characters, with an ellipsis if cut.
pub(crate) fn cut(mut text: String, limit: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(limit) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_wild_texts_become_a_line() {
        assert_eq!(line(" a\n\u{1b}b\t c ", 9), "a b c");
        assert_eq!(line("ёжик в тумане", 4), "ёжик…");
        assert_eq!(cut("abc".into(), 3), "abc");
    }
}
