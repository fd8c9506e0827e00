//! Sentences and quotes of which a person has said whether the quote confirms the sentence, with the precision and recall
//! of what code says of them.

use domain::event::Unconfirmed;

use super::*;

/// A case: a sentence, the quote that it cites, and what of the sentence is not in the quote.
struct Case {
    language: &'static str,
    sentence: &'static str,
    quote: &'static str,
    expected: Option<Unconfirmed>,
}

/// The cases that the rules were written for.
const CASES: &str = include_str!("../../tests/claims/cases.tsv");
/// Cases that were written when the rules were there, with longer quotes. The rules are not fitted to them.
const UNSEEN: &str = include_str!("../../tests/claims/unseen.tsv");

fn case(line: &'static str) -> Case {
    let fields: Vec<&str> = line.split('\t').collect();
    let [language, sentence, quote, mark] = fields[..] else {
        panic!("{line}")
    };
    let expected = match mark {
        "-" => None,
        "number" => Some(Unconfirmed::Number),
        "negation" => Some(Unconfirmed::Negation),
        "name" => Some(Unconfirmed::Name),
        other => panic!("{other}"),
    };
    Case {
        language,
        sentence,
        quote,
        expected,
    }
}

/// How often the mark is right.
struct Measured {
    cases: usize,
    /// Of a hundred marked sentences, those that people mark too.
    precision: usize,
    /// Of a hundred sentences that people mark, those that are marked.
    recall: usize,
    wrong: Vec<String>,
}

fn measure(cases: &'static str, language: &str) -> Measured {
    let cases = cases.lines().skip(1).map(case);
    let cases: Vec<Case> = cases.filter(|case| case.language == language).collect();
    let mut right = 0;
    let mut marked = 0;
    let mut expected = 0;
    let mut wrong = Vec::new();
    for case in &cases {
        let found = Evidence::new([case.quote], []).objection(case.sentence);
        marked += usize::from(found.is_some());
        expected += usize::from(case.expected.is_some());
        right += usize::from(found.is_some() && case.expected.is_some());
        if found != case.expected {
            wrong.push(format!(
                "{found:?} instead of {:?}: {} | {}",
                case.expected, case.sentence, case.quote
            ));
        }
    }
    let measured = Measured {
        cases: cases.len(),
        precision: right * 100 / marked.max(1),
        recall: right * 100 / expected.max(1),
        wrong,
    };
    println!(
        "{language}: precision {} %, recall {} % of {} cases",
        measured.precision, measured.recall, measured.cases
    );
    println!("{}", measured.wrong.join("\n"));
    measured
}

#[test]
fn the_mark_is_right_about_the_cases() {
    for language in ["en", "ru"] {
        let measured = measure(CASES, language);
        assert_eq!(measured.cases, 100);
        assert!(measured.precision >= 97, "{:?}", measured.wrong);
        assert!(measured.recall >= 97, "{:?}", measured.wrong);
    }
}

#[test]
fn the_mark_is_mostly_right_about_unseen_cases() {
    for language in ["en", "ru"] {
        let measured = measure(UNSEEN, language);
        assert_eq!(measured.cases, 30);
        assert!(measured.precision >= 75, "{:?}", measured.wrong);
        assert!(measured.recall >= 90, "{:?}", measured.wrong);
    }
}

fn objects(sentence: &str, quote: &str) -> Option<Unconfirmed> {
    Evidence::new([quote], []).objection(sentence)
}

#[test]
fn several_quotes_confirm_together() {
    let quotes = [
        "It is 18 metres high.",
        "It was built in 1702 by Ida Halovic.",
    ];
    let evidence = Evidence::new(quotes, []);
    assert_eq!(evidence.objection("Built in 1702, it is 18 m high."), None);
    assert_eq!(
        evidence.objection("Built in 1703, it is 18 m high."),
        Some(Unconfirmed::Number)
    );
    assert_eq!(evidence.objection("Ida Halovic built it 18 m high."), None);
}

#[test]
fn a_title_has_the_name_that_a_quote_leaves_out() {
    let quote = "In 1898 she discovered radium with her husband.";
    let sentence = "Marie Curie discovered radium.";
    assert_eq!(objects(sentence, quote), Some(Unconfirmed::Name));
    let evidence = Evidence::new([quote], ["Marie Curie - Encyclopedia"]);
    assert_eq!(evidence.objection(sentence), None);
}

#[test]
fn words_in_quotation_marks_have_to_be_in_a_quote() {
    let quote = "He said that the sea was calm on that day.";
    let check = |sentence: &str, expected: Option<Unconfirmed>| {
        assert_eq!(objects(sentence, quote), expected, "{sentence}");
    };
    check("He said “the sea was calm”.", None);
    check("He said \"the sea was calm on\" deck.", None);
    check(
        "He said “the sea was very rough”.",
        Some(Unconfirmed::Quotation),
    );
    check("The “calm sea” was his.", None);
    check(
        "Он сказал: «море было очень спокойным».",
        Some(Unconfirmed::Quotation),
    );
}

#[test]
fn other_languages_are_only_compared_by_numbers() {
    let check = |sentence: &str, quote: &str, expected: Option<Unconfirmed>| {
        assert_eq!(objects(sentence, quote), expected, "{sentence}");
    };
    check(
        "Das Mittel ist nicht wirksam und kostet 12.500 Euro.",
        "The drug is effective and costs 12,500 euros.",
        None,
    );
    check(
        "Der Leuchtturm ist 19 Meter hoch.",
        "The lighthouse is 18 metres high.",
        Some(Unconfirmed::Number),
    );
    check(
        "该药的价格是12500美元。",
        "The price is 12,500 dollars.",
        None,
    );
    check(
        "该药的价格是1250美元。",
        "The price is 12,500 dollars.",
        Some(Unconfirmed::Number),
    );
    check(
        "Маяк построил Иван Петров.",
        "The lighthouse was built by Ivan Petrov.",
        None,
    );
}

#[test]
fn odd_texts_are_compared() {
    for odd in [
        "",
        " ",
        "—",
        "[",
        "1",
        "9".repeat(400).as_str(),
        "не",
        "A",
        "…",
        "1.2.3.4",
        "99/99/9999",
    ] {
        _ = objects(odd, "It is 18 metres high.");
        _ = objects("It is 18 metres high.", odd);
    }
    let long = "Не 12,5 тыс. Иван Петров “and so on it is” and not. ".repeat(5_000);
    _ = objects(&long, &long);
}
