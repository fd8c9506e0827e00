//! Tests of words in many languages.

use proptest::prelude::*;

use super::*;

fn check(text: &str, expected: &[&str]) {
    assert_eq!(Terms::default().list(text), expected, "{text}");
}

/// Whether each word of the query is in a text.
fn finds(text: &str, query: &str) -> bool {
    let terms = Terms::default();
    let languages = terms.languages(&[text], Languages::default());
    let mut has: Vec<String> = Vec::new();
    terms.of_text_in(languages, text, |term| {
        has.push(term.text.to_owned());
        has.extend(term.unaccented.map(str::to_owned));
    });
    let mut words = 0;
    let mut found = 0;
    terms.of_query(languages, query, |word| {
        if !word.is_common && !word.is_joined {
            words += 1;
            found += i32::from(word.terms.iter().any(|term| has.contains(term)));
        }
    });
    words > 0 && found == words
}

fn check_found(text: &str, queries: &[&str]) {
    for query in queries {
        assert!(finds(text, query), "{query} in {text}");
    }
}

fn check_not_found(text: &str, queries: &[&str]) {
    for query in queries {
        assert!(!finds(text, query), "{query} in {text}");
    }
}

#[test]
fn words_lose_their_endings() {
    check(
        "Running runners ran, connections connected.",
        &["run", "runner", "ran", "connect", "connect"],
    );
    check(
        "договоры договоров ДОГОВОРОМ",
        &["договор", "договор", "договор"],
    );
    check("Ёлки и елка", &["елк", "и", "елк"]);
    check(
        "Café naïve Müller's don't",
        &["cafe", "naiv", "muller", "dont"],
    );
    check("e\u{301}te\u{301}", &["ete"]);
    check("the wing-body", &["the", "wing", "bodi"]);
}

#[test]
fn names_and_numbers_are_found_whole_and_in_parts() {
    check("max_retries", &["max", "retri", "maxretries"]);
    check(
        "parseHttpHeader",
        &["pars", "http", "header", "parsehttpheader"],
    );
    check("HTTPServer PDFs", &["http", "server", "httpserver", "pdfs"]);
    check("INV-2024-07", &["inv", "2024", "07", "inv202407"]);
    check("v1.2.3", &["v1", "2", "3", "v123"]);
    check(
        "anna@example.org",
        &["anna", "exampl", "org", "annaexampleorg"],
    );
    check("3.5 % of 1000", &["3", "5", "35", "of", "1000"]);
    check("One.Two", &["one", "two"]);
    // In decomposed text, too: an accent is no end of a word.
    check("nai\u{308}veMode", &["naiv", "mode", "naivemode"]);
}

#[test]
fn one_name_is_found_in_several_spellings() {
    check_found("We use node.js here.", &["nodejs", "Node.js"]);
    check_found("We use nodejs here.", &["nodejs"]);
    check_found(
        "Send an e-mail to the office.",
        &["email", "e-mail", "E\u{2011}Mail"],
    );
    check_found("The C# and .NET guide", &["C#", ".NET"]);
    check_found("It’s Müller’s", &["Müller's", "Müller", "muller"]);
}

#[test]
fn scripts_without_spaces_are_pairs() {
    check(
        "知識管理",
        &["知識", "識管", "管理", "知", "識", "管", "理"],
    );
    check("語", &["語"]);
    check("iPhone手机", &["iphon", "手机", "手", "机"]);
    check("2024年", &["2024", "年"]);
}

#[test]
fn common_words_are_marked() {
    let mut common = Vec::new();
    Terms::default().of("What is the flow в трубе", |term| {
        common.push(term.is_common)
    });
    assert_eq!(common, [true, true, true, false, true, false]);
}

#[test]
fn words_of_a_query_are_common_in_its_language_only() {
    let terms = Terms::default();
    let check = |query: &str, among: &[&str], expected: &[&str]| {
        let languages = among.iter().fold(Languages::none(), |all, text| {
            all.with(terms.languages(&[text], Languages::none()))
        });
        let mut rare = Vec::new();
        terms.of_query(languages, query, |word| {
            if !word.is_common {
                rare.push(word.word.to_owned());
            }
        });
        assert_eq!(rare, expected, "{query}");
    };
    let english = "This is the house of the people.";
    let german = "Das ist das Haus der Leute und der Katze.";
    check(
        "how many people die in the war",
        &[english, german],
        &["people", "die", "war"],
    );
    check("wann war der Krieg und wo", &[english, german], &["krieg"]);
    check("die hard", &[english, german], &["die", "hard"]);
    check("the house", &[english], &["house"]);
}

#[test]
fn encodings_of_a_word_are_one() {
    // NFD text, NFC query, and the other way round.
    check_found("Новыи\u{306} рейс", &["Новый"]);
    check_found("Новый рейс", &["Новыи\u{306}"]);
    check_found("И\u{306}ошкар-Ола", &["Йошкар", "йошкар"]);
    check_found("місто Киі\u{308}в", &["Київ"]);
    check_found("Crème brûlée", &["cre\u{300}me", "creme", "BRULEE"]);
    check_found("Łódź, Åland", &["lodz", "aland", "Ło\u{301}dz\u{301}"]);
    check_found("oﬃce, \u{feff}start", &["office", "start"]);
    check_found(
        "wal\u{ad}rus zero\u{200b}width",
        &["walrus", "zerowidth", "zero\u{ad}width"],
    );
    check_found("ＡＢＣ１２３", &["abc123"]);
    check_found("abc 123 x²", &["ＡＢＣ", "１２３", "x2"]);
    check_found("ｺﾝﾋﾟｭｰﾀｰ", &["コンピューター"]);
    check_found("①号 ٢٠٢٤ १२३", &["1", "2024", "123"]);
}

#[test]
fn a_query_of_pictograms_has_words() {
    let mut terms = Vec::new();
    Terms::default().of_query(Languages::default(), "👍🏽 ☂", |word| {
        terms.extend_from_slice(word.terms);
    });
    assert_eq!(terms, ["👍", "☂"]);
    check("Launch 🚀 today", &["launch", "🚀", "today"]);
}

#[test]
fn german_forms_find_each_other() {
    let text = "Die Häuser in der Straße sind für alle Bürger und nicht nur für Herrn Müller.";
    check_found(text, &["Haus", "Häusern", "haeuser", "STRASSE", "Straßen"]);
    check_found(text, &["Mueller", "Muller", "MÜLLER", "bürgers"]);
    check_found("Herr Mueller ist nicht in der Stadt.", &["Müller"]);
    check_not_found(text, &["Mühle"]);
}

#[test]
fn french_forms_find_each_other() {
    let text = "Il n’a pas vu l'hôpital avec les élèves qui ont étudié à l’école.";
    check_found(text, &["hôpital", "hopital", "l'hôpital", "d’hôpitaux"]);
    check_found(text, &["élève", "ELEVES", "étudier", "école", "d'écoles"]);
}

#[test]
fn spanish_and_portuguese_forms_find_each_other() {
    let spanish = "Las organizaciones de los niños y la nación están en el camino.";
    check_found(spanish, &["organización", "niño", "nino", "caminos"]);
    check_found("La organización de los niños.", &["organizacion", "NIÑO"]);
    let portuguese = "As informações não são das crianças, mas do coração.";
    check_found(portuguese, &["informação", "criança", "coração"]);
    check_found(portuguese, &["informacoes", "coracao"]);
}

#[test]
fn northern_and_eastern_european_forms_find_each_other() {
    check_found(
        "De svenska flickorna är inte hemma och det är bra.",
        &["svensk", "flicka"],
    );
    check_found(
        "De norske guttene er ikke hjemme og det er ikke bra.",
        &["norsk", "gutt"],
    );
    check_found(
        "Helsingin taloissa on paljon autoja, mutta ne eivät ole suuria.",
        &["talo", "auto"],
    );
    check_found(
        "A városokban nem volt víz, és az emberek elmentek.",
        &["városok", "ember"],
    );
    check_found(
        "Orașele și țara nu sunt pentru oamenii care au plecat.",
        &["oraș", "țării", "orasele"],
    );
}

#[test]
fn turkish_forms_find_each_other() {
    let text = "İstanbul'un IŞIKLARI çok güzel ve bu şehirlerin için de bir ışık var.";
    check_found(text, &["İstanbul", "istanbul", "ışık", "IŞIK", "şehirler"]);
}

#[test]
fn greek_forms_find_each_other() {
    let text = "ΟΔΟΣ και η οικονομία της χώρας των δρόμων";
    check_found(text, &["οδός", "οδος", "ΟΙΚΟΝΟΜΊΑ", "δρόμος", "χωρα"]);
}

#[test]
fn arabic_forms_find_each_other() {
    let text = "كِتَابُ أحمد في المَدْرَسَة الجديدة على الطاولة";
    check_found(text, &["كتاب", "احمد", "إحمد", "كتـــاب"]);
    check_found(text, &["مدرسة", "مدرسه", "المدرسة"]);
}

#[test]
fn hebrew_and_hindi_spellings_find_each_other() {
    check_found("שָׁלוֹם לצה״ל", &["שלום", "לצה\"ל", "לצהל"]);
    check_found("हिन्दी भाषा की किताबें", &["हिंदी", "किताब", "किताबों", "भाषाओं"]);
}

#[test]
fn vietnamese_tones_count_unless_the_query_has_none() {
    let text = "Tiếng Việt là ngôn ngữ của người Việt và có sáu thanh.";
    check_found(text, &["Tiếng Việt", "tieng viet", "ngôn ngữ", "ngon ngu"]);
    check_found("1.000 Đồng của các ngân hàng", &["dong", "đồng"]);
    check_not_found(text, &["tiệng", "thánh ngữ"]);
}

#[test]
fn languages_without_spaces_are_found_in_parts() {
    let korean = "한국은 대한민국의 수도를 서울로 정했다";
    check_found(korean, &["한국", "한국의 수도", "서울", "국"]);
    check_found("\u{1112}\u{1161}\u{11ab}국", &["한국"]);
    check_found("知識管理系統和猫", &["管理", "猫", "知識管理"]);
    check_found("日本語のﾃｽﾄです", &["テスト", "日本語"]);
    let thai = "ภาษาไทยเป็นภาษาราชการ";
    check_found(thai, &["ภาษา", "ราชการ", "ไทย", "ไท"]);
    check_not_found(thai, &["ตลาด"]);
    check_not_found(korean, &["부산"]);
}

#[test]
fn a_word_of_a_query_is_stemmed_by_all_languages_searched() {
    let terms = Terms::default();
    let english = terms.languages(&["the organizations of the people"], Languages::none());
    let spanish = terms.languages(&["las casas de los niños"], Languages::none());
    let forms = |languages: Languages| {
        let mut forms = Vec::new();
        terms.of_query(languages, "organizations casas", |word| {
            forms.push(word.terms.to_vec());
        });
        forms
    };
    assert_eq!(
        forms(english),
        [vec!["organ", "organizations"], vec!["casa", "casas"]]
    );
    assert_eq!(
        forms(english.with(spanish)),
        [vec!["organ", "organizations"], vec!["casa", "cas", "casas"]]
    );
}

#[test]
fn marks_alone_and_mixtures_of_scripts_do_no_harm() {
    check("aж7б", &["aж7б"]);
    check("\u{640} ''' -- \u{301}", &[]);
    check("tlhIngan Hol", &["tlh", "ingan", "tlhingan", "hol"]);
}

proptest! {
    #[test]
    fn any_text_has_terms_that_fit(text in "\\PC{0,200}|[a-zA-Z0-9_.@'-]{0,80}|[А-Яа-яёЁ -]{0,80}") {
        let terms = Terms::default();
        for term in terms.list(&text) {
            prop_assert!(!term.is_empty());
            prop_assert!(term.chars().count() <= WORD_LIMIT_CHARS * 20);
        }
    }

    #[test]
    fn a_text_has_every_word_of_itself(
        text in "\\PC{0,60}|[A-Za-zà-ÿĀ-ſ' -]{0,60}|[Α-ώ ]{0,40}|[ء-ي\u{64b}-\u{652} ]{0,40}|[अ-ह\u{93c}-\u{94d} ]{0,30}|[가-힣ぁ-ん一-龥ก-๛ ]{0,30}",
        prefix in "|the of and |der und die |của là có |ve bir için |det er ikke |na se že ",
    ) {
        let text = prefix + &text;
        let terms = Terms::default();
        let languages = terms.languages(&[&text], Languages::default());
        let mut has = Vec::new();
        terms.of_text_in(languages, &text, |term| has.push(term.text.to_owned()));
        terms.of_query(languages.with(Languages::default()), &text, |word| {
            let is_found = word.terms.iter().any(|term| has.contains(term));
            assert!(is_found, "{} of {text:?} in {has:?}", word.word);
        });
    }

    #[test]
    fn stemmers_take_any_word(word in "\\PC{0,12}|[a-zà-ÿ]{0,12}|[Α-ώ]{0,12}|[ء-ي]{0,12}|[\u{b80}-\u{bff}]{0,12}|[а-яё]{0,12}") {
        let stemmers = Stemmers::default();
        for language in Languages::all().iter() {
            let stem = stemmers.stem(Some(language), &folding::normalize(&word));
            prop_assert!(stem.chars().count() <= word.chars().count() * 20 + 4);
        }
    }
}
