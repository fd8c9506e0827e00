//! Numbers in writing: digits with separators, spelled-out numbers in English and Russian, and Roman numerals.

use super::language::Language;

/// The values that digits with separators can mean: `12,500` is a thousand times as much in English as in Russian.
pub(super) fn values_of_digits(digits: &str, language: Language) -> Vec<f64> {
    let plain: String = digits
        .chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '\'' | '’'))
        .collect();
    let is_separator = |c: char| matches!(c, '.' | ',');
    let separators: Vec<char> = plain.chars().filter(|c| is_separator(*c)).collect();
    let groups: Vec<&str> = plain.split(is_separator).collect();
    let grouped = || number(&groups.concat());
    let decimal = || {
        let (whole, part) = groups.split_at(groups.len() - 1);
        number(&format!("{}.{}", whole.concat(), part.concat()))
    };
    let are_thousands = groups.iter().skip(1).all(|group| group.len() == 3)
        && (1..=3).contains(&groups[0].len())
        && groups[0] != "0";
    let values = match separators.as_slice() {
        [] => vec![number(&plain)],
        [one] if are_thousands => match (one, language) {
            (',', Language::English) => vec![grouped()],
            ('.', Language::English) => vec![decimal()],
            _ => vec![decimal(), grouped()],
        },
        [_] => vec![decimal()],
        [first, .., last] if first != last => vec![decimal()],
        _ if are_thousands => vec![grouped()],
        // A version or the number of a section.
        _ => Vec::new(),
    };
    values.into_iter().flatten().collect()
}

fn number(digits: &str) -> Option<f64> {
    digits.parse().ok()
}

/// The factor of a word such as "thousand".
pub(super) fn multiplier(word: &str) -> Option<f64> {
    let word = word.trim_end_matches('.');
    let starts = |stems: &[&str]| stems.iter().any(|stem| word.starts_with(stem));
    match word {
        "hundred" => Some(1e2),
        "thousand" | "k" | "тыс" => Some(1e3),
        "million" | "mn" | "mln" | "млн" => Some(1e6),
        "billion" | "bn" | "bln" | "млрд" => Some(1e9),
        "trillion" | "tn" | "трлн" => Some(1e12),
        "dozen" => Some(12.0),
        _ if starts(&["тысяч"]) => Some(1e3),
        _ if starts(&["миллион"]) => Some(1e6),
        _ if starts(&["миллиард"]) => Some(1e9),
        _ if starts(&["триллион"]) => Some(1e12),
        _ => None,
    }
}

/// The value of a spelled-out number below a hundred or of hundreds in Russian, and whether it is an ordinal.
pub(super) fn spelled(word: &str) -> Option<(f64, bool)> {
    if let Some((tens, ones)) = word.split_once('-') {
        let (tens, _) = spelled(tens)?;
        let (ones, is_ordinal) = spelled(ones)?;
        return (tens >= 20.0 && ones < 10.0).then_some((tens + ones, is_ordinal));
    }
    let cardinal = english(word).or_else(|| russian(word));
    cardinal
        .map(|value| (value, false))
        .or_else(|| ordinal(word).map(|value| (value, true)))
}

fn place_in(list: &str, word: &str) -> Option<f64> {
    let place = list.split_whitespace().position(|known| known == word)?;
    u32::try_from(place).ok().map(f64::from)
}

fn english(word: &str) -> Option<f64> {
    const ONES: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
        sixteen seventeen eighteen nineteen";
    const TENS: &str = "- - twenty thirty forty fifty sixty seventy eighty ninety";
    place_in(ONES, word).or_else(|| place_in(TENS, word).map(|tens| tens * 10.0))
}

fn russian(word: &str) -> Option<f64> {
    const ONES: [&str; 20] = [
        "ноль нуль нуля",
        "один одна одно одного одной одному одним одну",
        "два две двух двум двумя",
        "три трех трем тремя",
        "четыре четырех четырем четырьмя",
        "пять пяти пятью",
        "шесть шести шестью",
        "семь семи семью",
        "восемь восьми восьмью",
        "девять девяти девятью",
        "десять десяти десятью",
        "одиннадцать одиннадцати одиннадцатью",
        "двенадцать двенадцати двенадцатью",
        "тринадцать тринадцати тринадцатью",
        "четырнадцать четырнадцати четырнадцатью",
        "пятнадцать пятнадцати пятнадцатью",
        "шестнадцать шестнадцати шестнадцатью",
        "семнадцать семнадцати семнадцатью",
        "восемнадцать восемнадцати восемнадцатью",
        "девятнадцать девятнадцати девятнадцатью",
    ];
    const MORE: [(&str, f64); 17] = [
        ("двадцать двадцати двадцатью", 20.0),
        ("тридцать тридцати тридцатью", 30.0),
        ("сорок сорока", 40.0),
        ("пятьдесят пятидесяти", 50.0),
        ("шестьдесят шестидесяти", 60.0),
        ("семьдесят семидесяти", 70.0),
        ("восемьдесят восьмидесяти", 80.0),
        ("девяносто девяноста", 90.0),
        ("сто ста", 100.0),
        ("двести двухсот", 200.0),
        ("триста трехсот", 300.0),
        ("четыреста четырехсот", 400.0),
        ("пятьсот пятисот", 500.0),
        ("шестьсот шестисот", 600.0),
        ("семьсот семисот", 700.0),
        ("восемьсот восьмисот", 800.0),
        ("девятьсот девятисот", 900.0),
    ];
    let has = |forms: &str| forms.split_whitespace().any(|form| form == word);
    let ones = ONES.iter().position(|forms| has(forms));
    let ones = ones
        .and_then(|value| u32::try_from(value).ok())
        .map(f64::from);
    ones.or_else(|| {
        MORE.iter()
            .find(|(forms, _)| has(forms))
            .map(|(_, value)| *value)
    })
}

fn ordinal(word: &str) -> Option<f64> {
    // "Second" is also a unit, and more often.
    const ENGLISH: &str =
        "- first - third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth";
    const RUSSIAN: &str =
        "- перв втор трет четверт пят шест седьм восьм девят десят одиннадцат двенадцат";
    const ENDINGS: [&str; 14] = [
        "ый", "ой", "ий", "ая", "ое", "ые", "ого", "ому", "ым", "ом", "ую", "ья", "ье", "ьего",
    ];
    let stem = |list: &str| {
        let stems = list.split_whitespace().enumerate();
        let ends = |(_, stem): &(usize, &str)| {
            word.strip_prefix(stem)
                .is_some_and(|ending| ENDINGS.contains(&ending))
        };
        let (place, _) = { stems }.find(ends)?;
        u32::try_from(place).ok().map(f64::from)
    };
    place_in(ENGLISH, word).or_else(|| stem(RUSSIAN))
}

/// The value of a Roman numeral up to 39 of at least two letters.
pub(super) fn roman(word: &str) -> Option<f64> {
    if word.len() < 2 || !word.bytes().all(|b| matches!(b, b'I' | b'V' | b'X')) {
        return None;
    }
    (2..40_u32)
        .find(|value| in_roman(*value) == word)
        .map(f64::from)
}

fn in_roman(value: u32) -> String {
    const ONES: [&str; 10] = ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"];
    let ones = ONES[usize::try_from(value % 10).unwrap_or(0)];
    "X".repeat(usize::try_from(value / 10).unwrap_or(0)) + ones
}

/// The month of a word in lower case, from 1.
pub(super) fn month(word: &str) -> Option<u8> {
    const ENGLISH: &str =
        "january february march april may june july august september october november december";
    const RUSSIAN: [&str; 12] = [
        "январ",
        "феврал",
        "март",
        "апрел",
        "мая май мае",
        "июн",
        "июл",
        "август",
        "сентябр",
        "октябр",
        "ноябр",
        "декабр",
    ];
    let word = word.trim_end_matches('.');
    let is_russian = |forms: &&str| {
        if *forms == "мая май мае" {
            forms.split(' ').any(|form| form == word)
        } else {
            word.strip_prefix(*forms)
                .is_some_and(|ending| ending.chars().count() <= 2)
        }
    };
    let english = ENGLISH.split_whitespace().position(|month| {
        month == word || (word.len() >= 3 && word.len() <= 4 && month.starts_with(word))
    });
    let place = english.or_else(|| RUSSIAN.iter().position(is_russian))?;
    u8::try_from(place + 1).ok()
}
