//! Names of a sentence that its quotes do not have: several words with capital letters, acronyms, and single words where
//! the quote names another.

use super::language::{folded, is_cyrillic, is_same_word};

/// Maximum number of words of a text that are compared.
const MAX_WORDS: usize = 400;

/// A word of a text.
#[derive(Debug, Clone)]
struct Word {
    written: String,
    folded: String,
    is_capital: bool,
    is_acronym: bool,
    /// It is the first of a sentence, which has a capital letter anyway.
    is_first: bool,
    /// Only a space is between it and the word before.
    follows: bool,
}

/// Whether the sentence has a name that neither the quotes nor the titles of their sources have.
pub(super) fn is_missing(sentence: &str, quotes: &[&str], titles: &str) -> bool {
    let said = words(sentence);
    let quoted: Vec<Word> = quotes.iter().flat_map(|quote| words(quote)).collect();
    if quoted.is_empty() {
        return false;
    }
    let known: Vec<Word> = quoted.iter().cloned().chain(words(titles)).collect();
    names(&said).any(|name| {
        is_in_script_of(name, &quoted)
            && !is_known(name, &known)
            && is_lost(name, &said, &quoted, &known)
    })
}

/// The names of a text: words with capital letters that follow each other, also joined by "of" and the like.
fn names(words: &[Word]) -> impl Iterator<Item = &[Word]> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < words.len() && !is_of_name(&words[at]) {
            at += 1;
        }
        let start = at;
        let mut end = start;
        while at < words.len() {
            let word = &words[at];
            let joins = at == start || word.follows;
            if joins && is_of_name(word) {
                at += 1;
                end = at;
            } else if joins
                && is_particle(word)
                && words
                    .get(at + 1)
                    .is_some_and(|next| next.follows && is_of_name(next))
            {
                at += 1;
            } else {
                break;
            }
        }
        (end > start).then(|| &words[start..end])
    })
}

fn is_of_name(word: &Word) -> bool {
    word.is_capital && !is_common(&word.folded)
}

fn is_particle(word: &Word) -> bool {
    matches!(
        word.folded.as_str(),
        "of" | "de" | "la" | "del" | "der" | "von" | "van" | "da" | "di" | "al" | "bin"
    )
}

/// Words that have capital letters without being names.
fn is_common(folded: &str) -> bool {
    const COMMON: &str = "the a an in on at of and or but not no it he she they we you i this that these those there his her \
        its their our my as by for from with to if when while after before since according about between under over during \
        both only all some many most more one two three four five six several half however although because also each every \
        january february march april may june july august september october november december monday tuesday wednesday \
        thursday friday saturday sunday mr mrs ms dr \
        в на с со к ко у о об от до из за по под при для и а но или не ни нет это он она оно они мы вы я его ее их этот эта эти \
        так как если когда пока после перед между около более менее одно один одна два две три все всего по-прежнему";
    COMMON.split_whitespace().any(|known| known == folded)
}

/// Whether the texts are in the script of the name. Names in another are not compared.
fn is_in_script_of(name: &[Word], quoted: &[Word]) -> bool {
    let is_of_script = |word: &Word| word.folded.chars().any(is_cyrillic);
    let name_is = name.iter().any(is_of_script);
    quoted
        .iter()
        .any(|word| is_of_script(word) == name_is && word.folded.chars().count() > 1)
}

fn is_known(name: &[Word], known: &[Word]) -> bool {
    name.iter()
        .all(|word| is_particle(word) || has(known, word))
        || is_short_for(name, known)
}

fn has(known: &[Word], word: &Word) -> bool {
    known.iter().any(|other| is_form_of(word, other))
}

/// Whether two words are forms of one name, in English or Russian.
fn is_form_of(one: &Word, other: &Word) -> bool {
    if one.folded == other.folded {
        return true;
    }
    if one.is_acronym || other.is_acronym {
        return false;
    }
    let (a, b) = (one.folded.as_str(), other.folded.as_str());
    is_same_word(a, b) || is_inflected(a, b)
}

/// Whether two Russian words differ only in a short ending, also with a vowel that comes and goes: Лев and Львом.
fn is_inflected(one: &str, other: &str) -> bool {
    if !one.chars().all(is_cyrillic) || !other.chars().all(is_cyrillic) {
        return false;
    }
    let shared = one
        .chars()
        .zip(other.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let rest = |word: &str| word.chars().count() - shared;
    if shared >= 3 && rest(one) <= 3 && rest(other) <= 3 {
        let ending = |word: &str| word.chars().skip(shared).collect::<String>();
        return is_ending(&ending(one)) && is_ending(&ending(other));
    }
    let bones = |word: &str| {
        word.chars()
            .filter(|c| !"аеиоуыэюяьй".contains(*c))
            .collect::<String>()
    };
    let (one_bones, other_bones) = (bones(one), bones(other));
    shared >= 1
        && one.chars().count().min(other.chars().count()) <= 4
        && one_bones.chars().count() >= 2
        && other_bones
            .strip_prefix(one_bones.as_str())
            .or_else(|| one_bones.strip_prefix(other_bones.as_str()))
            .is_some_and(|rest| matches!(rest, "" | "м" | "в" | "х" | "г"))
}

fn is_ending(ending: &str) -> bool {
    const ENDINGS: &str = "а я о е у ю ы и ь й ой ей ом ем ым им ая яя ое ее ый ий ые ие ого его ому ему ую юю ых их ами ями ах ях \
        ам ям ов ев ыми ими ья ью";
    ending.is_empty() || ENDINGS.split_whitespace().any(|known| known == ending)
}

/// Whether the name is an acronym of words that follow each other in the text, or such words whose acronym it has.
fn is_short_for(name: &[Word], known: &[Word]) -> bool {
    let initials = |words: &[&Word]| -> String {
        let first = words.iter().filter_map(|word| word.folded.chars().next());
        first.collect()
    };
    let full: Vec<&Word> = name.iter().filter(|word| !is_particle(word)).collect();
    if let [acronym] = full[..]
        && acronym.is_acronym
    {
        let letters = acronym.folded.chars().count();
        let content: Vec<&Word> = known
            .iter()
            .filter(|word| !is_linking(&word.folded))
            .collect();
        return content
            .windows(letters)
            .any(|words| words[0].is_capital && initials(words) == acronym.folded);
    }
    let short = initials(&full);
    full.len() > 1
        && known
            .iter()
            .any(|word| word.is_acronym && word.folded == short)
}

fn is_linking(folded: &str) -> bool {
    matches!(
        folded,
        "of" | "the" | "and" | "for" | "in" | "on" | "по" | "и" | "в" | "на" | "для"
    )
}

/// Whether a name that is not known is one that the quotes would have to have.
fn is_lost(name: &[Word], said: &[Word], quoted: &[Word], known: &[Word]) -> bool {
    let missing: Vec<&Word> = name
        .iter()
        .filter(|word| !is_particle(word) && !has(known, word))
        .collect();
    if name.iter().any(|word| word.is_acronym && !has(known, word)) && name.len() == 1 {
        return true;
    }
    match (name, missing.as_slice()) {
        // One word with a capital letter: only if the quote has another name there.
        ([word], _) => !word.is_first && names_another(word, said, quoted),
        // What a person is, such as "President", may be left out; another first name may not.
        (_, [first]) if first.is_first => has_other_before(name, quoted),
        _ => true,
    }
}

/// Whether the quotes have another name before or behind a word that the name is next to in the sentence.
fn names_another(name: &Word, said: &[Word], quoted: &[Word]) -> bool {
    let is_other = |word: &Word| is_of_name(word) && !word.is_first && !has(said, word);
    let is_name = |word: &Word| word.written == name.written;
    let is_shared = |one: &Word, other: &Word| {
        one.folded.chars().count() > 3 && !one.is_capital && is_form_of(one, other)
    };
    said.windows(2).any(|pair| {
        quoted.windows(2).any(|other| {
            is_name(&pair[0]) && is_other(&other[0]) && is_shared(&pair[1], &other[1])
                || is_name(&pair[1]) && is_other(&other[1]) && is_shared(&pair[0], &other[0])
        })
    })
}

/// Whether the second word of the name follows another word with a capital letter in the quotes.
fn has_other_before(name: &[Word], quoted: &[Word]) -> bool {
    let Some(second) = name.get(1) else {
        return false;
    };
    quoted.windows(2).any(|pair| {
        pair[1].follows && is_form_of(&pair[1], second) && is_of_name(&pair[0]) && !pair[0].is_first
    })
}

fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut gap = String::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    loop {
        let c = chars.next();
        let joins = |c: char, next: Option<&char>| {
            matches!(c, '-' | '\'' | '’') && next.is_some_and(|next| next.is_alphabetic())
        };
        match c {
            Some(c) if c.is_alphanumeric() || (!word.is_empty() && joins(c, chars.peek())) => {
                word.push(c);
                continue;
            }
            _ => {}
        }
        if !word.is_empty() {
            words.push(read(&word, &gap, words.is_empty()));
            word.clear();
            gap.clear();
            if words.len() >= MAX_WORDS {
                return words;
            }
        }
        match c {
            Some(c) => gap.push(c),
            None => return words,
        }
    }
}

fn read(word: &str, gap: &str, is_at_begin: bool) -> Word {
    let written = word
        .strip_suffix("'s")
        .or_else(|| word.strip_suffix("’s"))
        .unwrap_or(word);
    let letters = written.chars().filter(|c| c.is_alphabetic()).count();
    let capitals = written.chars().filter(|c| c.is_uppercase()).count();
    let starts_sentence = gap.contains(['.', '!', '?', '…', ':', '\n', '“', '«', '"'])
        && !gap.starts_with(". ")
        || gap
            .trim_start()
            .starts_with(['.', '!', '?', '…', ':', '\n']);
    Word {
        folded: folded(written),
        is_capital: written.chars().next().is_some_and(char::is_uppercase),
        is_acronym: (2..=6).contains(&letters) && capitals == letters && !is_roman(written),
        is_first: is_at_begin || starts_sentence,
        follows: gap == " " || gap == "\u{a0}" || gap == ". ",
        written: written.to_owned(),
    }
}

fn is_roman(word: &str) -> bool {
    word.chars().all(|c| matches!(c, 'I' | 'V' | 'X'))
}
