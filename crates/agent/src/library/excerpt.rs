//! Excerpts: the parts of a long text most relevant to a query, to fit a model's window or to use without a model.

use std::collections::HashSet;

use super::sentences::sentences;

/// Minimum length of a content word, characters.
const WORD_CHARS: usize = 4;
/// Minimum number of words that a matching sentence shares with the query.
const MIN_SHARED: usize = 2;
/// Size of a block, characters.
const BLOCK_CHARS: usize = 1_200;

/// The text, or if it is too long, its beginning and the blocks that share most words with `about`, in their original
/// order.
pub(crate) fn excerpt(text: &str, about: &str, max_chars: usize) -> String {
    if text.chars().count() <= max_chars {
        return text.to_owned();
    }
    let blocks = blocks(text);
    let wanted = words(about);
    let mut order: Vec<(usize, usize)> = blocks
        .iter()
        .enumerate()
        .map(|(at, block)| (shared(block, &wanted), at))
        .collect();
    // The first block says what the text is about.
    order.sort_by_key(|(shared, at)| (*at != 0, usize::MAX - shared, *at));
    let mut left = max_chars;
    let mut taken = Vec::new();
    for (_, at) in order {
        let chars = blocks[at].chars().count();
        if chars > left {
            break;
        }
        left -= chars;
        taken.push(at);
    }
    taken.sort_unstable();
    let mut parts = String::new();
    for (nth, at) in taken.iter().enumerate() {
        if nth > 0 && taken[nth - 1] + 1 != *at {
            parts.push_str("\n[…]\n");
        }
        parts.push_str(blocks[*at]);
    }
    parts
}

/// The sentences that share most words with `about`, verbatim, best first.
pub(crate) fn best_sentences(text: &str, about: &str, most: usize) -> Vec<String> {
    sentences_sharing(text, &words(about), 1, most)
}

/// The sentences that contain most of those words of `about` that occur in the text, at least a third of them and at
/// least two: what the text itself says about it. A question has additional words ("how many", "which of") that no
/// source needs to contain.
pub(crate) fn nearest_sentences(text: &str, about: &str, most: usize) -> Vec<String> {
    let wanted = words(about);
    let least = MIN_SHARED
        .max(shared(text, &wanted) / 2 + 1)
        .max(wanted.len().div_ceil(3));
    sentences_sharing(text, &wanted, least, most)
}

fn sentences_sharing(
    text: &str,
    wanted: &HashSet<String>,
    least: usize,
    most: usize,
) -> Vec<String> {
    let sentences = sentences(text).map(str::trim);
    let mut scored: Vec<(usize, &str)> = sentences
        // A heading makes no statement.
        .filter(|sentence| {
            !sentence.starts_with('#') && (20..=400).contains(&sentence.chars().count())
        })
        .map(|sentence| (shared(sentence, wanted), sentence))
        .filter(|(shared, _)| *shared >= least)
        .collect();
    scored.sort_by_key(|(shared, _)| usize::MAX - shared);
    scored
        .into_iter()
        .take(most)
        .map(|(_, sentence)| sentence.to_owned())
        .collect()
}

/// Up to `most` blocks that share most words with `about`, in their original order; the first block if none shares any.
/// Each comes with its start in the text, in characters.
pub(crate) fn best_blocks<'a>(text: &'a str, about: &str, most: usize) -> Vec<(usize, &'a str)> {
    let wanted = words(about);
    let mut begin = 0;
    let placed = blocks(text).into_iter().map(|block| {
        let from = begin;
        begin += block.chars().count();
        (shared(block, &wanted), from, block)
    });
    let mut scored: Vec<_> = placed
        .filter(|(_, _, block)| !block.trim().is_empty())
        .collect();
    // Stable: among equals, the first one wins.
    scored.sort_by_key(|(shared, ..)| usize::MAX - shared);
    let finds = scored.iter().take_while(|(shared, ..)| *shared > 0).count();
    scored.truncate(most.min(finds.max(1)));
    scored.sort_by_key(|(_, from, _)| *from);
    scored
        .into_iter()
        .map(|(_, from, block)| (from, block))
        .collect()
}

/// Blocks of about [`BLOCK_CHARS`], ending at a line end if there is one.
fn blocks(text: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let mut begin = 0;
    let mut chars = 0;
    for (at, character) in text.char_indices() {
        chars += 1;
        let is_over = chars >= BLOCK_CHARS && character == '\n' || chars >= 2 * BLOCK_CHARS;
        if is_over {
            let end = at + character.len_utf8();
            blocks.push(&text[begin..end]);
            (begin, chars) = (end, 0);
        }
    }
    blocks.push(&text[begin..]);
    blocks
}

/// The stems of the content words.
pub(crate) fn words(text: &str) -> HashSet<String> {
    text.split(is_between).filter_map(stem).collect()
}

fn is_between(c: char) -> bool {
    !(c.is_alphanumeric() || folding::is_mark(c) || folding::is_invisible(c))
}

fn shared(text: &str, wanted: &HashSet<String>) -> usize {
    let found: HashSet<String> = text
        .split(is_between)
        .filter_map(stem)
        .filter(|word| wanted.contains(word))
        .collect();
    found.len()
}

/// The beginning of a word, shared by its inflected forms; numbers are kept whole.
fn stem(word: &str) -> Option<String> {
    let word = folding::fold(word).into_owned();
    if word.chars().all(|c| c.is_ascii_digit()) {
        return (word.len() > 1).then_some(word);
    }
    let chars = word.chars().count();
    (chars >= WORD_CHARS).then(|| word.chars().take(chars.min(6)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_beginning_and_matching_blocks() {
        let filler = "Nothing of interest stands here at all.\n".repeat(200);
        let text = format!("A page on ships.\n{filler}The Mayflower sailed in 1620.\n{filler}");
        let found = excerpt(&text, "When did the Mayflower sail?", 4_000);
        assert!(found.starts_with("A page on ships."), "{found}");
        assert!(found.contains("The Mayflower sailed in 1620."), "{found}");
        assert!(found.chars().count() < 4_100 && found.contains("[…]"));
        assert_eq!(excerpt("short", "x", 10), "short");
        assert_eq!(words("Новыи\u{306} wal\u{ad}rus"), words("новый WALRUS"));
        let endless = "ё".repeat(50_000);
        assert!(excerpt(&endless, "x", 4_000).chars().count() <= 4_000);
    }

    #[test]
    fn the_best_blocks_are_at_their_offsets() {
        let filler = "Nothing of interest stands here at all, não.\n".repeat(60);
        let text = format!("Ships.\n{filler}The Mayflower sailed in 1620.\n{filler}");
        let found = best_blocks(&text, "When did the Mayflower sail?", 2);
        let [(from, block)] = found[..] else {
            panic!("{found:?}")
        };
        assert!(block.contains("The Mayflower sailed in 1620."), "{block}");
        assert_eq!(
            text.chars()
                .skip(from)
                .take(block.chars().count())
                .collect::<String>(),
            block
        );
        assert!(best_blocks(&text, "zebra", 3)[0].1.starts_with("Ships."));
        assert!(best_blocks(" ", "x", 3).is_empty());
    }

    #[test]
    fn a_number_with_a_dot_is_no_end_of_a_sentence() {
        let text = "Of those treated with Zorvex, 3.7% of patients had a headache. Birds fly over all of it.";
        assert_eq!(
            best_sentences(text, "patients with headache?", 1),
            ["Of those treated with Zorvex, 3.7% of patients had a headache."]
        );
    }

    #[test]
    fn sentences_are_as_they_stand() {
        let text = "Ships sail on the sea. The Mayflower sailed in 1620 from Plymouth. Birds fly over all of it.";
        assert_eq!(
            best_sentences(text, "Mayflower 1620?", 2),
            ["The Mayflower sailed in 1620 from Plymouth."]
        );
        assert!(best_sentences("", "x", 3).is_empty());
        let near = |about| nearest_sentences(text, about, 1);
        assert_eq!(
            near("When did the Mayflower sail from Plymouth?"),
            ["The Mayflower sailed in 1620 from Plymouth."]
        );
        assert_eq!(
            near(
                "Tell briefly about which English harbour the Mayflower sailed from: Plymouth, perhaps?"
            ),
            ["The Mayflower sailed in 1620 from Plymouth."]
        );
        assert!(
            near("When was the Mayflower built, where, and by which family of carpenters?")
                .is_empty()
        );
        assert!(near("Mayflower?").is_empty());
    }
}
