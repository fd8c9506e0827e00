//! Whether one of two texts negates what the other says, by clauses that share words.

use super::language::{folded, is_same_word};

/// Maximum number of clauses of a text and of words of a clause that are compared.
const MAX_CLAUSES: usize = 60;
const MAX_WORDS: usize = 60;
/// How much a shared word and a pair of opposite words count.
const SAME_WORD: usize = 2;
const OPPOSITE_WORD: usize = 1;
/// Number of words after "and" that still belong to the negation before it.
const SHORT_CLAUSE: usize = 2;

/// A part of a sentence.
#[derive(Debug, Default)]
struct Clause {
    is_negated: bool,
    /// The few words after an "and" may share the negation before it: "no deaths and injuries".
    is_unsure: bool,
    /// Its content words, folded.
    words: Vec<String>,
}

/// Whether a clause of the sentence is negated while the clause of the quote that shares its words is not, or the other
/// way round.
pub(super) fn differs(sentence: &str, quote: &str) -> bool {
    let quoted = clauses(quote);
    let said = clauses(sentence);
    said.iter().filter(|said| !said.is_unsure).any(|said| {
        let shared: Vec<(usize, bool)> = quoted
            .iter()
            .map(|other| {
                let (shared, turns) = overlap(said, other);
                let differs = (said.is_negated != other.is_negated) != turns;
                (shared, differs && !other.is_unsure)
            })
            .collect();
        let most = shared.iter().map(|(shared, _)| *shared).max().unwrap_or(0);
        let needed = if said.words.len() > 3 { 2 } else { 1 };
        most >= needed * SAME_WORD
            && shared
                .iter()
                .filter(|(shared, _)| *shared == most)
                .all(|(_, differs)| *differs)
    })
}

/// How much the clauses have in common, and whether a word of one is the opposite of one of the other.
fn overlap(said: &Clause, other: &Clause) -> (usize, bool) {
    let mut shared = 0;
    let mut turns = false;
    for word in &said.words {
        if other.words.iter().any(|known| is_same_word(word, known)) {
            shared += SAME_WORD;
        } else if other.words.iter().any(|known| is_opposite(word, known)) {
            shared += OPPOSITE_WORD;
            turns = !turns;
        }
    }
    (shared, turns)
}

/// Pairs of stems that say the opposite of each other.
const OPPOSITES: [(&str, &str); 14] = [
    ("open", "close"),
    ("increas", "decreas"),
    ("rose", "fell"),
    ("rise", "fall"),
    ("grew", "shrank"),
    ("accept", "reject"),
    ("approv", "reject"),
    ("confirm", "deni"),
    ("открыт", "закрыт"),
    ("вырос", "упал"),
    ("увелич", "уменьш"),
    ("повыс", "сниз"),
    ("приня", "отклон"),
    ("подтверд", "опроверг"),
];

fn is_opposite(one: &str, other: &str) -> bool {
    const PREFIXES: [&str; 9] = ["un", "in", "im", "ir", "dis", "non-", "non", "не", "без"];
    let is_without = |long: &str, short: &str| {
        PREFIXES
            .iter()
            .filter_map(|prefix| long.strip_prefix(prefix))
            .any(|rest| rest.chars().count() >= 4 && is_same_word(rest, short))
    };
    let are = |one: &str, other: &str| {
        OPPOSITES
            .iter()
            .any(|(a, b)| one.starts_with(a) && other.starts_with(b))
    };
    is_without(one, other) || is_without(other, one) || are(one, other) || are(other, one)
}

/// The clauses of a text.
fn clauses(text: &str) -> Vec<Clause> {
    let words = words(text);
    let mut clauses: Vec<Clause> = vec![Clause::default()];
    let mut is_joined = false;
    for (at, word) in words.iter().enumerate() {
        if clauses.len() >= MAX_CLAUSES {
            break;
        }
        let next = words.get(at + 1).map_or("", String::as_str);
        // "It is not true, that …": the clause belongs to the negation.
        let parts = is_break(word) && !matches!(next, "that" | "что" | "чтобы");
        if parts {
            let is_and = matches!(word.as_str(), "and" | "or" | "nor" | "и" | "или" | "ни");
            mark_unsure(&mut clauses, is_joined);
            is_joined = is_and;
            clauses.push(Clause::default());
        }
        let Some(clause) = clauses.last_mut() else {
            break;
        };
        clause.is_negated |= is_negation(&words, at);
        if is_content(word) && clause.words.len() < MAX_WORDS {
            clause.words.push(word.clone());
        }
    }
    mark_unsure(&mut clauses, is_joined);
    clauses
}

fn mark_unsure(clauses: &mut [Clause], is_joined: bool) {
    if let [.., before, last] = clauses
        && is_joined
        && before.is_negated
        && !last.is_negated
    {
        last.is_unsure = last.words.len() <= SHORT_CLAUSE;
    }
}

/// The words of a text, folded, and the marks that part clauses.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let chars: Vec<char> = text.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        let next = chars.get(at + 1);
        let joins = matches!(c, '\'' | '’' | '-')
            && next.is_some_and(|c| c.is_alphanumeric())
            && !word.is_empty();
        if c.is_alphanumeric() || joins {
            word.push(if *c == '’' { '\'' } else { *c });
            continue;
        }
        if !word.is_empty() {
            words.push(folded(&std::mem::take(&mut word)));
        }
        let is_in_number =
            at > 0 && chars[at - 1].is_numeric() && next.is_some_and(|c| c.is_numeric());
        if matches!(
            c,
            ',' | '.' | ';' | ':' | '!' | '?' | '(' | ')' | '–' | '—' | '-'
        ) && !is_in_number
        {
            words.push(c.to_string());
        }
    }
    if !word.is_empty() {
        words.push(folded(&word));
    }
    words
}

fn is_break(word: &str) -> bool {
    const BREAKS: &str = ", . ; : ! ? ( ) – — - but although though while whereas however because and or nor yet except \
        но однако хотя зато потому пока и или а ни";
    BREAKS.split_whitespace().any(|known| known == word)
}

/// Whether the word at this place negates its clause.
fn is_negation(words: &[String], at: usize) -> bool {
    let word = words[at].as_str();
    let next = words.get(at + 1).map_or("", String::as_str);
    let before = at
        .checked_sub(1)
        .map_or("", |before| words[before].as_str());
    match word {
        "not" => !matches!(next, "only" | "just" | "merely" | "least"),
        "no" => !matches!(next, "less" | "more" | "fewer" | "doubt" | "." | "matter"),
        "nothing" => next != "but",
        "without" => next != "doubt",
        "never" | "none" | "nobody" | "nowhere" | "neither" | "nor" | "cannot" | "hardly"
        | "barely" | "untrue" | "false" | "unable" | "absent" | "absence" => true,
        "не" => {
            !matches!(
                next,
                "только" | "менее" | "более" | "меньше" | "больше" | "раз" | "просто"
            ) && !matches!(before, "нельзя" | "едва")
        }
        "нельзя" => next != "не",
        "без" => next != "сомнения",
        "нет"
        | "ни"
        | "никогда"
        | "нигде"
        | "никуда"
        | "нечего"
        | "некому"
        | "невозможно"
        | "неверно"
        | "неправда"
        | "ложно"
        | "вряд"
        | "нисколько"
        | "отнюдь"
        | "недостаточно" => true,
        _ => {
            word.ends_with("n't")
                || word.ends_with("-free")
                || ["fail", "lack"].iter().any(|stem| is_form(word, stem))
                || [
                    "никто",
                    "никого",
                    "никому",
                    "никем",
                    "никак",
                    "ничто",
                    "ничего",
                    "ничему",
                    "отсутств",
                ]
                .iter()
                .any(|stem| word.starts_with(stem))
        }
    }
}

fn is_form(word: &str, stem: &str) -> bool {
    word.strip_prefix(stem)
        .is_some_and(|ending| matches!(ending, "" | "s" | "ed" | "ing" | "ure" | "ures"))
}

/// Whether a word says what a clause is about.
fn is_content(word: &str) -> bool {
    const FUNCTION: &str = "the and for with was were are has had have been that this these those its their his her from \
        than into onto over under about they them which who will would can could may might must shall should did does \
        not never without none nobody nothing neither also only but however although though while any all some there \
        это эта этот эти того тому что как так для при над под или его ему она они оно был была были было быть \
        есть нет без никто никогда также тоже только еще уже хотя однако чтобы";
    word.chars().count() >= 3
        && word.chars().any(char::is_alphabetic)
        && !FUNCTION.split_whitespace().any(|known| known == word)
}
