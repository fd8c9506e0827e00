//! The figures of a text: amounts with their units, dates and times, in digits and in words.

use std::sync::LazyLock;

use domain::citation_marks::is_unspaced;
use regex::Regex;

use super::{
    language::Language,
    numerals::{month, multiplier, roman, spelled, values_of_digits},
    units::{Kind, Unit},
};

/// Maximum number of figures of one text.
const MAX_FIGURES: usize = 200;
/// By how much a figure may differ if one of both is said to be approximate.
const ABOUT: f64 = 0.05;

/// A figure of a text.
#[derive(Debug, Clone)]
pub(super) struct Figure {
    /// As it is in the text.
    pub(super) written: String,
    value: Value,
    /// It is said to be approximate.
    is_about: bool,
    /// It says something that a source has to show: "one of them" does not.
    pub(super) is_claim: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Value {
    /// Each value that the writing can mean.
    Amount {
        values: Vec<f64>,
        unit: Option<Unit>,
    },
    Date {
        day: Option<u8>,
        month: Option<u8>,
        year: Option<u32>,
    },
    /// The time of a day, in minutes.
    Time(u32),
    /// A version, or the number of a section.
    Name(String),
}

impl Figure {
    /// Whether another figure says the same.
    pub(super) fn is_shown_by(&self, other: &Self) -> bool {
        let is_about = self.is_about || other.is_about;
        match (&self.value, &other.value) {
            (
                Value::Amount { values, unit },
                Value::Amount {
                    values: others,
                    unit: other_unit,
                },
            ) => {
                let factors = match (unit, other_unit) {
                    (Some(one), Some(other)) if one.kind != other.kind => return false,
                    (Some(one), Some(other)) => (one.factor, other.factor),
                    _ => (1.0, 1.0),
                };
                values.iter().any(|value| {
                    others
                        .iter()
                        .any(|other| is_near(value * factors.0, other * factors.1, is_about))
                })
            }
            (
                Value::Amount { values, unit: None },
                Value::Date {
                    year: Some(year), ..
                },
            ) => values
                .iter()
                .any(|value| is_near(*value, f64::from(*year), false)),
            (
                Value::Date {
                    day: None,
                    month: None,
                    year: Some(year),
                },
                Value::Amount { values, .. },
            ) => values
                .iter()
                .any(|value| is_near(*value, f64::from(*year), false)),
            (
                Value::Date { day, month, year },
                Value::Date {
                    day: other_day,
                    month: other_month,
                    year: other_year,
                },
            ) => {
                day.is_none_or(|day| *other_day == Some(day))
                    && month.is_none_or(|month| *other_month == Some(month))
                    && year.is_none_or(|year| *other_year == Some(year))
            }
            (one, other) => one == other,
        }
    }
}

fn is_near(one: f64, other: f64, is_about: bool) -> bool {
    let tolerance = if is_about { ABOUT } else { 1e-9 };
    (one - other).abs() <= one.abs().max(other.abs()) * tolerance
}

static TOKENS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?P<iso>\b\d{4}-\d{2}-\d{2}\b)
        | (?P<dotted>\b\d{1,2}[./]\d{1,2}[./]\d{4}\b)
        | (?P<time>\b\d{1,2}:\d{2}\b)
        | (?P<digits>\d{1,3}(?:[\x20\u{a0}\u{202f}\u{2009}]\d{3})+(?:[.,]\d+)?\b | \d+(?:[.,'’]\d+)*)
        | (?P<word>[\p{L}\p{M}]+(?:['’‑-][\p{L}\p{M}]+)*)
        | (?P<sign>[^\s\p{L}\p{M}\p{N}])
        ",
    )
    .ok()
});

/// A part of a text, and whether it directly follows the part before it.
#[derive(Debug)]
struct Token<'a> {
    kind: TokenKind,
    text: &'a str,
    lower: String,
    start: usize,
    is_glued: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    Iso,
    Dotted,
    Time,
    Digits,
    Word,
    Sign,
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    const KINDS: [(&str, TokenKind); 6] = [
        ("iso", TokenKind::Iso),
        ("dotted", TokenKind::Dotted),
        ("time", TokenKind::Time),
        ("digits", TokenKind::Digits),
        ("word", TokenKind::Word),
        ("sign", TokenKind::Sign),
    ];
    let mut end = 0;
    let mut tokens = Vec::new();
    for found in TOKENS.iter().flat_map(|regex| regex.captures_iter(text)) {
        let Some((kind, part)) = KINDS
            .iter()
            .find_map(|(name, kind)| found.name(name).map(|part| (*kind, part)))
        else {
            continue;
        };
        tokens.push(Token {
            kind,
            text: part.as_str(),
            lower: part.as_str().to_lowercase().replace('ё', "е"),
            start: part.start(),
            is_glued: part.start() == end && end > 0,
        });
        end = part.end();
    }
    tokens
}

/// The figures of a text, in order.
pub(super) fn figures(text: &str) -> Vec<Figure> {
    let mut reader = Reader {
        text,
        language: Language::of(text),
        tokens: tokens(text),
        at: 0,
        figures: Vec::new(),
    };
    while reader.at < reader.tokens.len() && reader.figures.len() < MAX_FIGURES {
        reader.read();
    }
    reader.figures
}

struct Reader<'a> {
    text: &'a str,
    language: Language,
    tokens: Vec<Token<'a>>,
    at: usize,
    figures: Vec<Figure>,
}

impl Reader<'_> {
    /// Reads what begins at the next token, and moves behind it.
    fn read(&mut self) {
        let start = self.at;
        let read = match self.tokens[start].kind {
            TokenKind::Iso => self.iso().map(|value| (value, true)),
            TokenKind::Dotted => self.dotted(),
            TokenKind::Time => self.time().map(|value| (value, true)),
            TokenKind::Digits => self.digits().map(|value| (value, true)),
            TokenKind::Word => self.word(),
            TokenKind::Sign => None,
        };
        // What is read moves on by itself.
        if self.at == start {
            self.at += 1;
        }
        if let Some((value, is_claim)) = read {
            let figure = Figure {
                written: self.written(start),
                is_about: self.is_about(start),
                value,
                is_claim,
            };
            self.figures.push(figure);
        }
    }

    fn written(&self, start: usize) -> String {
        let last = &self.tokens[self.at - 1];
        self.text[self.tokens[start].start..last.start + last.text.len()].to_owned()
    }

    fn token(&self, place: usize) -> Option<&Token<'_>> {
        self.tokens.get(place)
    }

    fn kind(&self, place: usize) -> Option<TokenKind> {
        self.token(place).map(|token| token.kind)
    }

    fn lower(&self, place: usize) -> &str {
        self.token(place).map_or("", |token| token.lower.as_str())
    }

    /// The word at this place, in lower case.
    fn word_at(&self, place: usize) -> Option<&str> {
        self.token(place)
            .filter(|token| token.kind == TokenKind::Word)
            .map(|token| token.lower.as_str())
    }

    fn sign_at(&self, place: usize) -> Option<char> {
        self.token(place)
            .filter(|token| token.kind == TokenKind::Sign)
            .and_then(|token| token.text.chars().next())
    }

    fn is_about(&self, start: usize) -> bool {
        const ABOUT: &str = "about around approximately nearly almost roughly over exceeding некоторых около примерно почти \
            свыше порядка приблизительно ориентировочно";
        let before = |back: usize| {
            start
                .checked_sub(back)
                .map_or("", |place| self.lower(place))
        };
        let is_word = |word: &str| ABOUT.split_whitespace().any(|known| known == word);
        let bound = matches!(
            (before(2), before(1)),
            ("more" | "less" | "fewer", "than") | ("at", "least" | "most") | ("up", "to")
        );
        bound
            || [before(1), before(2)].into_iter().any(is_word)
            || matches!(
                before(1),
                "~" | "≈" | "более" | "менее" | "больше" | "меньше"
            )
    }

    fn iso(&mut self) -> Option<Value> {
        let mut parts = self.tokens[self.at].text.split('-');
        let year = parts.next()?.parse().ok();
        let month = parts.next()?.parse().ok();
        let day = parts.next()?.parse().ok();
        Some(Value::Date { day, month, year })
    }

    fn dotted(&mut self) -> Option<(Value, bool)> {
        let text = self.tokens[self.at].text.to_owned();
        let parts: Vec<u32> = text
            .split(['.', '/'])
            .filter_map(|part| part.parse().ok())
            .collect();
        let [first, second, year] = parts[..] else {
            return None;
        };
        let date = |day: u32, month: u32| Value::Date {
            day: u8::try_from(day).ok(),
            month: u8::try_from(month).ok(),
            year: Some(year),
        };
        // Americans write the month first. Either may be meant, so neither is held against a sentence.
        let is_ambiguous = text.contains('/') && first <= 12 && second <= 12 && first != second;
        let other = (text.contains('/') && first <= 12).then(|| date(second, first));
        let value = match second > 12 {
            true => date(second, first),
            false => date(first, second),
        };
        if let Some(other) = other.filter(|_| is_ambiguous) {
            self.figures.push(Figure {
                written: text,
                value: other,
                is_about: false,
                is_claim: false,
            });
        }
        Some((value, !is_ambiguous))
    }

    fn time(&mut self) -> Option<Value> {
        let (hours, minutes) = self.tokens[self.at].text.split_once(':')?;
        let hours: u32 = hours.parse().ok()?;
        let minutes: u32 = minutes.parse().ok()?;
        let is_evening = self.lower(self.at + 1) == "pm"
            || (self.lower(self.at + 1) == "p" && self.lower(self.at + 3) == "m");
        let hours = if is_evening && hours < 12 {
            hours + 12
        } else {
            hours
        };
        Some(Value::Time(hours * 60 + minutes))
    }

    fn digits(&mut self) -> Option<Value> {
        if self.is_part_of_name() {
            return None;
        }
        if let Some(date) = self.day_first() {
            return Some(date);
        }
        let values = values_of_digits(self.tokens[self.at].text, self.language);
        if values.is_empty() {
            return Some(Value::Name(self.tokens[self.at].text.to_owned()));
        }
        let start = self.at;
        self.at += 1;
        let currency = self.currency_before(start);
        let sign = if self.is_negative(start) { -1.0 } else { 1.0 };
        let factor = sign * self.multipliers(currency.is_some());
        let values: Vec<f64> = values.into_iter().map(|value| value * factor).collect();
        let unit = currency.or_else(|| self.unit());
        Some(amount(values, unit))
    }

    /// Whether the digits belong to a name such as `B12` or `COVID-19`.
    fn is_part_of_name(&self) -> bool {
        let at = self.at;
        if !self.tokens[at].is_glued {
            return false;
        }
        match at.checked_sub(1).and_then(|before| self.kind(before)) {
            // Chinese has no spaces before numbers.
            Some(TokenKind::Word) => !self.tokens[at - 1].text.ends_with(is_unspaced),
            Some(TokenKind::Sign) => {
                matches!(self.sign_at(at - 1), Some('-' | '‑'))
                    && self.tokens[at - 1].is_glued
                    && at >= 2
                    && self.kind(at - 2) == Some(TokenKind::Word)
            }
            _ => false,
        }
    }

    /// A date that begins with its day: `6 September 1620`, `5th of May`.
    fn day_first(&mut self) -> Option<Value> {
        let day = day(self.tokens[self.at].text)?;
        let mut next = self.at + 1;
        if matches!(self.lower(next), "st" | "nd" | "rd" | "th") && self.tokens[next].is_glued {
            next += 1;
        }
        if self.lower(next) == "of" {
            next += 1;
        }
        let month = month(self.word_at(next)?)?;
        self.at = next + 1;
        let year = self.year();
        Some(Value::Date {
            day: Some(day),
            month: Some(month),
            year,
        })
    }

    /// The year at the next token, behind a comma or not.
    fn year(&mut self) -> Option<u32> {
        let place = match self.sign_at(self.at) {
            Some(',') => self.at + 1,
            _ => self.at,
        };
        let token = self.token(place)?;
        let is_year = token.kind == TokenKind::Digits && token.text.len() == 4;
        let year = token.text.parse().ok().filter(|_| is_year)?;
        self.at = place + 1;
        Some(year)
    }

    fn currency_before(&self, start: usize) -> Option<Unit> {
        self.sign_at(start.checked_sub(1)?)
            .and_then(Unit::of_currency)
    }

    fn is_negative(&self, start: usize) -> bool {
        let Some(before) = start.checked_sub(1) else {
            return false;
        };
        if matches!(self.lower(before), "minus" | "минус") {
            return true;
        }
        let is_minus = matches!(self.sign_at(before), Some('-' | '−' | '–'));
        is_minus && self.tokens[start].is_glued && !self.tokens[before].is_glued
    }

    /// The product of the words such as "thousand" from here on.
    fn multipliers(&mut self, is_money: bool) -> f64 {
        let mut factor = 1.0;
        for _ in 0..3 {
            let Some(token) = self.token(self.at) else {
                break;
            };
            let is_millions = is_money && token.is_glued && matches!(token.text, "m" | "M");
            let is_billions = is_money && token.is_glued && matches!(token.text, "b" | "B");
            let more = match token.kind {
                TokenKind::Word if is_millions => Some(1e6),
                TokenKind::Word if is_billions => Some(1e9),
                // `K` may stand for other things.
                TokenKind::Word if token.lower == "k" && !token.is_glued => None,
                TokenKind::Word => multiplier(&token.lower),
                _ => None,
            };
            let Some(more) = more else { break };
            factor *= more;
            self.at += 1;
            // An abbreviation has a dot.
            if self.sign_at(self.at) == Some('.') && self.lower(self.at - 1) == "тыс" {
                self.at += 1;
            }
        }
        factor
    }

    /// The unit at the next token.
    fn unit(&mut self) -> Option<Unit> {
        if let Some(sign) = self.sign_at(self.at) {
            let unit = Unit::of_sign(sign);
            self.at += usize::from(unit.is_some());
            return unit;
        }
        if self.lower(self.at) == "per" && self.lower(self.at + 1) == "cent" {
            self.at += 2;
            return Unit::of_word("percent");
        }
        let unit = Unit::of_word(self.word_at(self.at)?);
        self.at += usize::from(unit.is_some());
        unit
    }

    /// A number or a date that begins with a word, and whether it is a claim.
    fn word(&mut self) -> Option<(Value, bool)> {
        let token = &self.tokens[self.at];
        if let Some(value) = roman(token.text) {
            return Some((amount(vec![value], None), true));
        }
        let is_name = token.text.starts_with(char::is_uppercase);
        let month = month(&token.lower).filter(|_| is_name || self.language == Language::Russian);
        if let Some(date) = month.and_then(|month| self.month_first(month)) {
            return Some((date, true));
        }
        if let Some(value) = share(&self.tokens[self.at].lower) {
            return Some((value, false));
        }
        self.number_in_words()
    }

    /// A date that begins with its month: `March 5, 2021`, `сентябрь 1620`.
    fn month_first(&mut self, month: u8) -> Option<Value> {
        let start = self.at;
        self.at += 1;
        let day = self
            .token(self.at)
            .filter(|token| token.kind == TokenKind::Digits && self.language != Language::Russian)
            .and_then(|token| day(token.text));
        self.at += usize::from(day.is_some());
        if day.is_some() && matches!(self.lower(self.at), "st" | "nd" | "rd" | "th") {
            self.at += 1;
        }
        let year = self.year();
        if day.is_none() && year.is_none() {
            self.at = start;
            return None;
        }
        Some(Value::Date {
            day,
            month: Some(month),
            year,
        })
    }

    /// A number such as `two hundred thousand` or `двадцать пять`.
    fn number_in_words(&mut self) -> Option<(Value, bool)> {
        let start = self.at;
        let mut total = 0.0;
        let mut group = 0.0;
        let mut is_ordinal = false;
        let mut words = 0;
        while let Some(word) = self.word_at(self.at) {
            if let Some((value, ends)) = spelled(word) {
                // "Two three" are two numbers.
                if words > 0 && group % 100.0 < 20.0 && group % 100.0 > 0.0 {
                    break;
                }
                group += value;
                is_ordinal = ends;
            } else if let Some(factor) = multiplier(word).filter(|_| word != "k") {
                let is_alone = words == 0 && word.ends_with('s');
                if is_alone {
                    break;
                }
                group = if words == 0 { 1.0 } else { group } * factor;
                if factor >= 1e3 {
                    total += group;
                    group = 0.0;
                }
            } else {
                break;
            }
            words += 1;
            self.at += 1;
            if is_ordinal {
                break;
            }
        }
        if words == 0 {
            self.at = start;
            return None;
        }
        let value = total + group;
        let unit = self.unit();
        // "One of them", "the first of all".
        let is_claim = value > 1.0;
        Some((amount(vec![value], unit), is_claim))
    }
}

/// A number from 1 to 31.
fn day(digits: &str) -> Option<u8> {
    let day: u8 = digits.parse().ok()?;
    (1..=31).contains(&day).then_some(day)
}

/// Words that contain a number. A sentence can have them in other senses, so only quotes are read for them.
fn share(word: &str) -> Option<Value> {
    let percent = Unit::of_word("percent");
    match word {
        "half" | "половина" | "половины" | "половину" | "половине" | "половиной" => {
            Some(amount(vec![50.0, 0.5], percent))
        }
        "twice" | "double" | "doubled" | "twofold" | "both" | "pair" | "couple" | "вдвое"
        | "дважды" | "оба" | "обе" | "обоих" | "удвоилась" | "удвоился" | "удвоилось" => {
            Some(amount(vec![2.0], None))
        }
        "triple" | "tripled" | "threefold" | "thrice" | "втрое" | "трижды" | "утроилась" => {
            Some(amount(vec![3.0], None))
        }
        "вчетверо" => Some(amount(vec![4.0], None)),
        _ => None,
    }
}

/// An amount; of a year such as `1702 году` the unit is none.
fn amount(values: Vec<f64>, unit: Option<Unit>) -> Value {
    let is_year = unit.is_some_and(|unit| unit.kind == Kind::Months)
        && values
            .iter()
            .any(|value| (1_000.0..=2_100.0).contains(value));
    let unit = unit.filter(|_| !is_year);
    Value::Amount { values, unit }
}
