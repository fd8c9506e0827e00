//! Tests with words of many languages.

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

use super::*;

fn check(text: &str, expected: &str) {
    assert_eq!(fold(text), expected, "{text}");
    let decomposed: String = text.nfd().collect();
    assert_eq!(fold(&decomposed), expected, "{text} decomposed");
}

#[test]
fn latin_loses_case_and_accents() {
    check("Crème BRÛLÉE", "creme brulee");
    check("Straße STRASSE ẞ", "strasse strasse ss");
    check("Łódź, Đồng, Tiếng Việt", "lodz, dong, tieng viet");
    check(
        "Ångström œuvre Æsir smørbrød",
        "angstrom oeuvre aesir smorbrod",
    );
    check("İstanbul ISPARTA ılık", "istanbul isparta ilik");
    check("São Paulo, coração, niño", "sao paulo, coracao, nino");
    check("ăn țară Șerban", "an tara serban");
}

#[test]
fn greek_loses_tonos_and_final_sigma() {
    check("ΟΔΟΣ οδός Ὀδυσσεύς", "οδοσ οδοσ οδυσσευσ");
    check("Ελληνική ΕΛΛΗΝΙΚΉ", "ελληνικη ελληνικη");
}

#[test]
fn cyrillic_keeps_letters_that_only_look_accented() {
    check("Новый Йошкар-Ола", "новый йошкар-ола");
    check("Ёлка, за́мок", "елка, замок");
    check("Київ ґанок Ќир ўзбек", "київ ганок ќир ўзбек");
}

#[test]
fn arabic_loses_vowel_signs_and_variants() {
    check("كِتَابُ", "كتاب");
    check("أحمد إسلام آية ٱلله", "احمد اسلام ايه الله");
    check("مدرســـة على", "مدرسه علي");
    check("کتاب‌های فارسی", "كتابهاي فارسي");
    check("٢٠٢٤ ۲۰۲۴", "2024 2024");
}

#[test]
fn hebrew_loses_points() {
    check("שָׁלוֹם", "שלום");
    check("צה״ל", "צה'ל");
}

#[test]
fn indic_marks_stay() {
    check("हिन्दी", "हिंदी");
    check("हिंदी", "हिंदी");
    check("क़लम चाँद", "कलम चांद");
    check("தமிழ் বাংলা", "தமிழ் বাংলা");
    check("१२३", "123");
}

#[test]
fn east_asian_widths_are_one() {
    check("ＡＢＣ１２３", "abc123");
    check("ｶﾞｷﾞ", "ガギ");
    check("がぎ", "がぎ");
    check("한국어", "한국어");
    check("語", "語");
    check("ภาษาไทย", "ภาษาไทย");
}

#[test]
fn compatibility_forms_are_one() {
    check("ﬃ ① x² ﻛﺘﺎﺏ", "ffi 1 x2 كتاب");
    check("don’t ＇ʼ", "don't ''");
}

#[test]
fn invisible_characters_are_gone() {
    check("wal\u{ad}rus \u{feff}zero\u{200b}width", "walrus zerowidth");
    check("\u{202b}שלום\u{202c}\u{200e}", "שלום");
    check("\u{2066}a\u{2069}\u{2060}", "a");
}

#[test]
fn normalized_text_keeps_accents() {
    let check = |text: &str, expected: &str| assert_eq!(normalize(text), expected, "{text}");
    check("CRE\u{300}ME Łódź", "crème łódź");
    check("ОДОС Ёлка", "одос ёлка");
    check("İzmir", "izmir");
    check("مَدْرَسَة أحمد", "مدرسة أحمد");
    check("हिन्दी", "हिन्दी");
    check("plain", "plain");
}

#[test]
fn unchanged_text_is_borrowed() {
    for text in ["plain 1", "сова", "語", ""] {
        assert!(matches!(fold(text), Cow::Borrowed(_)), "{text}");
    }
}

#[test]
fn parts_of_folded_text_are_found_in_the_original() {
    let check = |text: &str, part: &str, expected: &str| {
        let folded = Folded::of(text);
        let start = folded.text().find(part).unwrap();
        let place = folded.original(start..start + part.len());
        assert_eq!(&text[place], expected, "{text}");
    };
    check("the Walrus", "walrus", "Walrus");
    check("die Straße!", "strasse", "Straße");
    check("die Straße!", "sse", "ße");
    check("the wal\u{ad}rus sings", "walrus", "wal\u{ad}rus");
    check("e\u{301}te\u{301} fini", "ete", "e\u{301}te\u{301}");
    check("ｶﾞﾙ", "ガ", "ｶﾞ");
    check("ﷺ end", "end", "end");
    assert_eq!(Folded::of("\u{200b}").original(0..0), 0..0);
}

proptest! {
    #[test]
    fn folding_is_stable_and_ignores_the_normal_form(text in "\\PC{0,40}|[а-яё\u{300}-\u{320}İıßς]{0,20}") {
        let folded = fold(&text);
        prop_assert_eq!(&fold(&folded), &folded);
        let decomposed: String = text.nfd().collect();
        prop_assert_eq!(&fold(&decomposed), &folded);
        let normalized = normalize(&text);
        prop_assert_eq!(&fold(&normalized), &folded);
        let placed = Folded::of(&text);
        prop_assert_eq!(placed.text(), &*folded);
    }

    #[test]
    fn every_part_has_a_place(text in "\\PC{0,40}", from in 0_usize..80, length in 0_usize..80) {
        let folded = Folded::of(&text);
        let end = folded.text().len();
        let place = folded.original(from.min(end)..(from + length).min(end));
        prop_assert!(text.get(place).is_some());
    }
}
