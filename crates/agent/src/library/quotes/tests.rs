//! Quotes that are in a text and quotes that are not: cut words and numbers, few words, other marks and letters.

use super::*;

/// The quote is found, as these words of the text.
fn found(text: &str, quote: &str, expected: &str) {
    let Some((place, words)) = Quotable::new(text).find(quote) else {
        panic!("{quote:?} is not found in {text:?}");
    };
    assert_eq!(words, expected, "{quote:?} in {text:?}");
    let there: String = text.chars().skip(place.start).take(place.len()).collect();
    let there = there.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(there, expected, "the place of {quote:?} in {text:?}");
}

/// The quote is found with the same words.
fn same(text: &str, quote: &str) {
    found(text, quote, quote);
}

fn absent(text: &str, quote: &str) {
    let found = Quotable::new(text).find(quote);
    assert_eq!(found, None, "{quote:?} in {text:?}");
}

#[test]
fn white_space_and_quotation_marks_may_differ() {
    let text = "Вот.  Она сказала: «Луна\n   далеко от нас» — и ушла.";
    found(
        text,
        "Она сказала: \"Луна далеко от нас\"",
        "Она сказала: «Луна далеко от нас",
    );
    found(
        "a\u{a0}b  \u{ad}cdefghijk lm",
        "“a b cdefghijk lm”",
        "a b \u{ad}cdefghijk lm",
    );
    let place = Quotable::new(text)
        .find("Луна далеко от нас")
        .map(|(place, _)| place);
    assert_eq!(place, Some(20..41));
}

#[test]
fn other_words_are_not_found() {
    let text = "The moon is far away from here.";
    same(text, "moon is far away");
    absent(text, "The moon is very far away.");
    absent(text, "The moon ... away from here");
    absent(text, "The Moon is far away");
    absent(text, "the moon is FAR away");
    absent(text, "Луна находится далеко от нас");
    absent(text, "  ");
    absent(text, "");
    absent("", "The moon is far");
    // A Cyrillic letter that looks the same.
    absent(text, "The mооn is far away");
}

#[test]
fn words_are_not_cut() {
    let text = "It was ineffective for children under the age of twelve.";
    same(text, "ineffective for children under the age");
    absent(text, "effective for children under the age of twelve");
    absent(text, "It was ineffective for child");
    absent(
        "It is non-effective for all of them.",
        "effective for all of them",
    );
    absent("They don't know it at all.", "They don");
    absent("I think they don't know it at", "t know it at");
    same(
        "The dam—built in 1931 by hand—is old.",
        "built in 1931 by hand",
    );
    same(
        "The dam - built in 1931 by hand - is old.",
        "The dam - built in 1931",
    );
    // The second place has whole words.
    found(
        "Unsafe for us all. It is safe for us all.",
        "safe for us all",
        "safe for us all",
    );
    absent(
        "Это небезопасно для всех детей.",
        "безопасно для всех детей",
    );
    absent("Это безопасность для всех детей.", "Это безопасно");
    absent(
        "Очень северо-западный ветер дул весь день.",
        "западный ветер дул весь день",
    );
    same(
        "Очень северо-западный ветер дул весь день.",
        "северо-западный ветер дул весь",
    );
}

#[test]
fn numbers_are_not_cut() {
    let text = "The price is 12,500 dollars for each patient.";
    same(text, "12,500 dollars for each patient.");
    absent(text, "500 dollars for each patient");
    absent(text, "The price is 12");
    absent(text, "2,500 dollars for each patient");
    let text = "Препарат стоит 2 500 рублей в день для каждого.";
    same(text, "2 500 рублей в день");
    absent(text, "500 рублей в день для каждого");
    absent(text, "Препарат стоит всего 2");
    absent(text, "Препарат для детей стоит 2");
    absent("Цена для всех нас 2\u{a0}500 рублей", "500 рублей");
    absent(
        "Цена для всех нас 2\u{202f}500 рублей",
        "Цена для всех нас 2",
    );
    let text = "Seen in 3.7% of patients in all.";
    same(text, "3.7% of patients");
    absent(text, "7% of patients in all");
    absent(text, "Of all it was seen in 3.7");
    absent(text, "Seen in 3");
    absent("Отмечено у 3,7 % больных в группе.", "7 % больных в группе");
    absent(
        "Отмечено всего лишь у 3,7 % больных.",
        "Отмечено всего лишь у 3,7",
    );
    absent("At night it was -40 degrees cold.", "40 degrees cold");
    absent("It costs us $500 for each of them.", "500 for each of them");
    absent(
        "It is 10–15 people in each of them.",
        "15 people in each of them",
    );
    absent("The meeting begins at 19:30 in the hall.", "30 in the hall");
    absent(
        "On 06.09.1620 it sailed from Plymouth.",
        "09.1620 it sailed from Plymouth",
    );
    absent("It is 10^6 units of it in all.", "6 units of it in all");
    // A year and a number, a list, and the ends of sentences are no single number.
    same(
        "In 2019 500 people came to see it.",
        "500 people came to see",
    );
    same(
        "In 2019, 500 people came to see it.",
        "500 people came to see",
    );
    same(
        "It was in 1702. 18 metres is its height.",
        "18 metres is its height",
    );
    same("It was built in 1702.", "It was built in 1702");
    same("He won on page 5, then left us.", "He won on page 5");
}

#[test]
fn a_quote_has_four_words_or_a_figure_with_its_unit() {
    let text =
        "It was ineffective in patients. It is 18 metres high, at $94 or 7 % more, built in 1702.";
    absent(text, "patients.");
    absent(text, "ineffective in patients");
    same(text, "was ineffective in patients");
    same(text, "18 metres");
    same(text, "$94");
    same(text, "7 %");
    absent(text, "1702");
    absent(text, "built in 1702");
    absent("Ineffectiveness itself", "Ineffectiveness itself");
    let text = "Маяк высотой 18 м, построен в 1702 году, стоит далеко от города.";
    same(text, "18 м");
    same(text, "1702 году");
    absent(text, "далеко от города");
    same(text, "стоит далеко от города");
}

#[test]
fn markdown_marks_may_be_left_out() {
    let text = "# A heading\n\nThe **Mayflower** was an [English ship](https://a.example/(x)) of *180* tons.\n\n\
                - It sailed in `1620` from here\\*.\n> He said ~~not~~ this to all of us.";
    found(
        text,
        "The Mayflower was an English ship of 180 tons.",
        "The **Mayflower** was an [English ship](https://a.example/(x)) of *180* tons.",
    );
    found(
        text,
        "It sailed in 1620 from here*.",
        "It sailed in `1620` from here\\*.",
    );
    found(
        text,
        "an [English ship](https://a.example/(x)) of 180 tons",
        "an [English ship](https://a.example/(x)) of *180* tons",
    );
    found(
        text,
        "He said not this to all",
        "He said ~~not~~ this to all",
    );
    found(
        "See ![a ship](s.png) and the [![logo](l.png) site](https://a.example) of it.",
        "a ship and the logo site of it",
        "a ship](s.png) and the [![logo](l.png) site](https://a.example) of it",
    );
    // These are no marks.
    absent("The value is 2*30 in all of it.", "The value is 230 in all");
    absent("The name is a_b in all of it.", "The name is ab in all");
    same(
        "The name is [a] or [b](c d, in all.",
        "name is [a] or [b](c d, in all",
    );
    same("The x < y > z of all.", "x < y > z of all");
}

#[test]
fn dashes_accents_and_the_first_letter_may_differ() {
    found(
        "The years 1998–2005 were good – very good.",
        "years 1998-2005 were good - very good",
        "years 1998–2005 were good – very good",
    );
    found(
        "It is minus −40 degrees here.",
        "It is minus -40 degrees",
        "It is minus −40 degrees",
    );
    let decomposed = "Le cafe\u{301} est tre\u{300}s bon ici.";
    found(
        decomposed,
        "café est très bon",
        "cafe\u{301} est tre\u{300}s bon",
    );
    found(
        "Le café est très bon ici.",
        "cafe\u{301} est tre\u{300}s bon",
        "café est très bon",
    );
    found(
        "Ещё один её ребёнок уже взрослый.",
        "Еще один ее ребенок",
        "Ещё один её ребёнок",
    );
    found(
        "Елка стоит там весь день.",
        "Ёлка стоит там весь день",
        "Елка стоит там весь день",
    );
    found(
        "\u{110b}\u{1161}\u{11ab}\u{1102}\u{1167}\u{11bc} 하세요 여러분 모두 함께",
        "안녕 하세요 여러분 모두",
        "\u{110b}\u{1161}\u{11ab}\u{1102}\u{1167}\u{11bc} 하세요 여러분 모두",
    );
    found(
        "It is said: the moon is far away.",
        "The moon is far away.",
        "the moon is far away.",
    );
    found(
        "The moon is far away.",
        "the moon is far away",
        "The moon is far away",
    );
    found(
        "Сказано: луна далеко от нас.",
        "Луна далеко от нас",
        "луна далеко от нас",
    );
    absent("The moon is far away.", "The moon is Far away");
    // An accent that is left out makes another word.
    absent("Le café est très bon ici.", "Le cafe est tres bon");
    absent("Le cafe\u{301} est", "Le cafe");
}

#[test]
fn scripts_without_spaces_have_edges_between_characters() {
    let text = "月球距离地球约38万公里，非常遥远。东京タワーの高さは333メートルです。";
    same(text, "距离地球约38万公里");
    same(text, "非常遥远。东京タワーの高さ");
    same(text, "333メートル");
    absent(text, "月球距离地球约3");
    absent(text, "8万公里，非常遥远");
    absent(text, "33メートルです。");
    absent(text, "非常遥远");
    same("ดวงจันทร์อยู่ไกลจากโลกมาก", "อยู่ไกลจากโลก");
}

#[test]
fn a_few_words_are_evidence_of_a_name() {
    let text = "Ida Halovic was its keeper.";
    let words = |quote| {
        Quotable::new(text)
            .find_words(quote)
            .map(|(_, words)| words)
    };
    assert_eq!(words("Ida Halovic").as_deref(), Some("Ida Halovic"));
    assert_eq!(words("da Halovic"), None);
    assert_eq!(words("Ida"), None);
}

#[test]
fn hostile_texts_are_searched_in_bounded_time() {
    for piece in ["[", "[](", "111 ", "\\", "> ", "a\u{301}\u{301}", "*_"] {
        let text = piece.repeat(300_000 / piece.len());
        let quotable = Quotable::new(&text);
        assert_eq!(quotable.find("111 111 111 111 and more"), None);
        _ = quotable.find(&"111 ".repeat(80));
    }
}
