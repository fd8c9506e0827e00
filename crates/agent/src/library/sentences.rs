//! Splits a text into sentences.

/// Abbreviations that end with a dot inside of a sentence.
const ABBREVIATIONS: &str = "mr mrs ms dr prof st vs etc e.g i.e al no fig approx inc ltd jr sr \
    т.е т.д т.п г гг в вв тыс млн млрд руб коп им ул стр рис см ср др пр";

/// The sentences of a text in order, as they are, with the spaces behind them. Lines end sentences.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = end_of_first(rest);
        let (first, others) = rest.split_at(end);
        rest = others;
        Some(first)
    })
}

/// Where the first sentence ends, in bytes.
fn end_of_first(text: &str) -> usize {
    for (at, c) in text.char_indices() {
        let next = at + c.len_utf8();
        match c {
            '\n' => return next,
            '。' | '！' | '？' => return after_closers(text, next),
            '.' | '!' | '?' | '…' | '؟' | '।' => {
                let end = after_closers(text, next);
                let is_over = text[end..].chars().next().is_none_or(char::is_whitespace);
                if is_over && !(c == '.' && ends_abbreviation(&text[..at], &text[end..])) {
                    return end;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// The end of the closing quotation marks, brackets and citation marks that belong to the end of a sentence.
fn after_closers(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let mark = rest.strip_prefix('[').and_then(|inside| {
            let digits = inside.bytes().take_while(u8::is_ascii_digit).count();
            (digits > 0 && inside[digits..].starts_with(']')).then_some(digits + 2)
        });
        let closer = rest.chars().next().filter(|c| {
            matches!(
                c,
                '.' | '!' | '?' | '…' | ')' | '"' | '\'' | '”' | '’' | '»' | '“' | '*' | '_'
            )
        });
        match (mark, closer) {
            (Some(length), _) => at += length,
            (None, Some(c)) => at += c.len_utf8(),
            (None, None) => return at,
        }
    }
}

/// Whether a dot belongs to an abbreviation or an initial, not to the end of a sentence.
fn ends_abbreviation(before: &str, after: &str) -> bool {
    let word = before
        .rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '"' | '«'))
        .next()
        .unwrap_or_default();
    // The number of a list item.
    if before.trim_start() == word && word.bytes().all(|b| b.is_ascii_digit()) {
        return true;
    }
    let next = after.trim_start().chars().next();
    let mut letters = word.chars();
    if let (Some(initial), None) = (letters.next(), letters.next()) {
        // `Jane A. Smith`, but not `in 1702 г. Он`, which is an abbreviation below.
        if initial.is_uppercase() {
            return true;
        }
    }
    let lower = word.to_lowercase();
    let is_known = ABBREVIATIONS.split_whitespace().any(|known| known == lower);
    let is_title = matches!(
        lower.as_str(),
        "mr" | "mrs" | "ms" | "dr" | "prof" | "st" | "vs" | "им" | "ул"
    );
    is_known && (is_title || next.is_some_and(|c| c.is_lowercase() || c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_in_numbers_and_names_end_no_sentence() {
        let check = |text: &str, expected: &[&str]| {
            let found = sentences(text).map(str::trim).filter(|it| !it.is_empty());
            let found: Vec<&str> = found.collect();
            assert_eq!(found, expected, "{text}");
            assert_eq!(sentences(text).collect::<String>(), text);
        };
        check(
            "It rose by 3.7% in all. Jane A. Smith said so! And e.g. this (too.) Is it?",
            &[
                "It rose by 3.7% in all.",
                "Jane A. Smith said so!",
                "And e.g. this (too.)",
                "Is it?",
            ],
        );
        check(
            "Цена 12,5 тыс. рублей в 1702 г. и позже. Так сказал И. И. Петров. Да…",
            &[
                "Цена 12,5 тыс. рублей в 1702 г. и позже.",
                "Так сказал И. И. Петров.",
                "Да…",
            ],
        );
        check(
            "So.[1][2] And “so.” [3]\nNew line",
            &["So.[1][2]", "And “so.”", "[3]", "New line"],
        );
        check(
            "1. So it is. And 2.\n2. Not",
            &["1. So it is.", "And 2.", "2. Not"],
        );
        check("月很远。月很近！好", &["月很远。", "月很近！", "好"]);
        check(
            "See a.example/x.html for it",
            &["See a.example/x.html for it"],
        );
        check("", &[]);
    }
}
