//! Terms of scripts without spaces between words: n-grams of characters.
//!
//! Measured against segmentation by dictionary, they find as much in Chinese and Japanese and more in Thai, and a query
//! whose words are segmented differently than the text's still finds it.

/// The n-grams of a run of letters, and the grams that are one shorter, by which shorter queries find a text. `each` is
/// told whether it is such a one.
pub(super) fn of_text(run: &str, each: impl FnMut(&str, bool)) {
    grams(run, true, each);
}

/// The n-grams of a run of letters in a query. Single characters beside them tell something where they are words of
/// their own.
pub(super) fn of_query(run: &str, each: impl FnMut(&str, bool)) {
    grams(run, length(run) == PAIR, each);
}

const PAIR: usize = 2;

/// Characters that are a term together. The alphabets of Thai, Lao, Burmese and Khmer need more than the many characters
/// of Chinese, Japanese and Korean: pairs of them match by chance.
fn length(run: &str) -> usize {
    match run.chars().next() {
        Some('\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}') => PAIR + 1,
        _ => PAIR,
    }
}

fn grams(run: &str, with_shorter: bool, mut each: impl FnMut(&str, bool)) {
    let folded = folding::fold(run);
    let length = length(run);
    let mut ends: Vec<usize> = folded.char_indices().map(|(at, _)| at).collect();
    ends.push(folded.len());
    if ends.len() <= length {
        if !folded.is_empty() {
            each(&folded, false);
        }
        return;
    }
    let mut of_length = |length: usize, is_shorter: bool| {
        for window in ends.windows(length + 1) {
            each(&folded[window[0]..window[length]], is_shorter);
        }
    };
    of_length(length, false);
    if with_shorter {
        of_length(length - 1, true);
    }
}
