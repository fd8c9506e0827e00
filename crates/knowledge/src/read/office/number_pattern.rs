//! Number formats of spreadsheets such as `#,##0.00 "€";(#,##0.00)`, applied as Excel does in English.

/// Excel's limit for a format code.
const MAX_CODE_CHARS: usize = 255;
/// Excel's limit for sections: positive, negative, zero, text.
const MAX_SECTIONS: usize = 4;
/// The digits with which a spreadsheet computes.
const DIGITS: usize = 15;

/// The sections of a format.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Pattern {
    sections: Vec<Section>,
}

/// The part of a format for numbers of a sign, or of a range.
#[derive(Debug, Clone, Default, PartialEq)]
struct Section {
    condition: Option<Condition>,
    tokens: Vec<Token>,
    has_thousands: bool,
    /// Each percent sign multiplies by 100, and each comma behind the digits divides by 1000.
    exponent: i32,
    /// Whether it has what is not supported, such as fractions.
    is_unknown: bool,
}

/// A condition such as `>=1000`.
#[derive(Debug, Clone, PartialEq)]
struct Condition {
    operator: String,
    limit: f64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Text(String),
    /// `0`, `#` or `?` before the decimal point.
    Digit(char),
    /// The same behind it.
    Decimal(char),
    Point,
    /// `E+00`: whether a plus is shown, and the least number of digits.
    Scientific {
        has_plus: bool,
        digits: usize,
    },
    General,
}

impl Pattern {
    /// Parses a format code; `None` if it shows numbers as they are.
    pub(super) fn parse(code: &str) -> Option<Self> {
        if code.is_empty() || code == "General" || code == "@" {
            return None;
        }
        if code.chars().count() > MAX_CODE_CHARS {
            return None;
        }
        let sections = split_sections(code);
        let sections = sections
            .iter()
            .take(MAX_SECTIONS)
            .map(|code| Section::parse(code));
        Some(Self {
            sections: sections.collect(),
        })
    }

    /// Formats a number; `None` if the format does not say how.
    pub(super) fn shown(&self, number: f64) -> Option<String> {
        if !number.is_finite() {
            return None;
        }
        let (section, takes_sign) = self.section(number)?;
        if section.is_unknown {
            return None;
        }
        let sign = if takes_sign && number < 0.0 { "-" } else { "" };
        let shown = section.shown(number.abs());
        let is_zero = !shown.contains(|char: char| char.is_ascii_digit() && char != '0');
        let sign = if is_zero { "" } else { sign };
        Some(format!("{sign}{}", shown.trim()))
    }

    /// The section for a number, and whether it shows a minus.
    fn section(&self, number: f64) -> Option<(&Section, bool)> {
        if self
            .sections
            .iter()
            .any(|section| section.condition.is_some())
        {
            let applies = |section: &&Section| {
                section
                    .condition
                    .as_ref()
                    .is_none_or(|it| it.is_met_by(number))
            };
            return self
                .sections
                .iter()
                .find(applies)
                .map(|section| (section, true));
        }
        let numeric = self.sections.len().min(3);
        let at = match numeric {
            2.. if number < 0.0 => 1,
            3.. if number == 0.0 => 2,
            _ => 0,
        };
        self.sections.get(at).map(|section| (section, at == 0))
    }
}

impl Condition {
    fn parse(inner: &str) -> Option<Self> {
        let operator: String = inner
            .chars()
            .take_while(|char| "<>=".contains(*char))
            .collect();
        let limit = inner.strip_prefix(operator.as_str())?.trim().parse().ok()?;
        (!operator.is_empty()).then_some(Self { operator, limit })
    }

    fn is_met_by(&self, number: f64) -> bool {
        let limit = self.limit;
        match self.operator.as_str() {
            "<" => number < limit,
            "<=" => number <= limit,
            ">" => number > limit,
            ">=" => number >= limit,
            "=" => number == limit,
            "<>" => number != limit,
            _ => false,
        }
    }
}

/// Splits at semicolons that are not literal.
fn split_sections(code: &str) -> Vec<String> {
    let mut sections = vec![String::new()];
    let mut is_quoted = false;
    let mut is_literal = false;
    for char in code.chars() {
        let is_end = char == ';' && !is_quoted && !is_literal;
        if char == '"' && !is_literal {
            is_quoted = !is_quoted;
        }
        is_literal = !is_literal && !is_quoted && matches!(char, '\\' | '_' | '*');
        match sections.last_mut() {
            Some(section) if !is_end => section.push(char),
            _ => sections.push(String::new()),
        }
    }
    sections
}

impl Section {
    fn parse(code: &str) -> Self {
        let mut section = Self::default();
        let mut chars = code.chars().peekable();
        let mut is_in_decimals = false;
        while let Some(char) = chars.next() {
            match char {
                '"' => {
                    let text = chars
                        .by_ref()
                        .take_while(|char| *char != '"')
                        .collect::<String>();
                    section.push_text(&text);
                }
                '\\' => {
                    let text: String = chars.next().into_iter().collect();
                    section.push_text(&text);
                }
                // The width of a character, and what fills the cell.
                '_' => {
                    chars.next();
                    section.push_text(" ");
                }
                '*' => _ = chars.next(),
                '[' => {
                    let inner: String = chars.by_ref().take_while(|char| *char != ']').collect();
                    section.note_bracket(&inner);
                }
                '0' | '#' | '?' if is_in_decimals => section.tokens.push(Token::Decimal(char)),
                '0' | '#' | '?' => section.tokens.push(Token::Digit(char)),
                '.' if !is_in_decimals => {
                    is_in_decimals = true;
                    section.tokens.push(Token::Point);
                }
                ',' => section.note_comma(chars.peek().copied()),
                '%' => {
                    section.exponent += 2;
                    section.push_text("%");
                }
                'E' | 'e' if matches!(chars.peek(), Some('+' | '-')) => {
                    let has_plus = chars.next() == Some('+');
                    let mut digits = 0;
                    while chars.next_if(|char| "0#?".contains(*char)).is_some() {
                        digits += 1;
                    }
                    section.tokens.push(Token::Scientific { has_plus, digits });
                }
                'G' | 'g' if is_general(&mut chars) => section.tokens.push(Token::General),
                '/' if section.has_digits() => section.is_unknown = true,
                '@' => section.is_unknown = true,
                other => section.push_text(other.encode_utf8(&mut [0; 4])),
            }
        }
        // Only a colour.
        if section.tokens.is_empty() && !code.is_empty() {
            section.tokens.push(Token::General);
        }
        section
    }

    fn push_text(&mut self, text: &str) {
        match self.tokens.last_mut() {
            Some(Token::Text(before)) => before.push_str(text),
            _ => self.tokens.push(Token::Text(text.to_owned())),
        }
    }

    /// A currency such as `$€-407`, a condition, or a colour.
    fn note_bracket(&mut self, inner: &str) {
        if let Some(currency) = inner.strip_prefix('$') {
            let symbol = currency
                .rsplit_once('-')
                .map_or(currency, |(symbol, _)| symbol);
            self.push_text(symbol);
        } else if let Some(condition) = Condition::parse(inner) {
            self.condition = Some(condition);
        }
    }

    fn has_digits(&self) -> bool {
        self.tokens
            .iter()
            .any(|token| matches!(token, Token::Digit(_)))
    }

    /// A comma between digits groups them; one behind the last digit divides by 1000.
    fn note_comma(&mut self, next: Option<char>) {
        let follows = matches!(
            self.tokens.last(),
            Some(Token::Digit(_) | Token::Decimal(_))
        );
        match next {
            Some('0' | '#' | '?') if follows => self.has_thousands = true,
            _ if follows => self.exponent -= 3,
            _ => self.push_text(","),
        }
    }

    /// Formats a number that is not negative.
    fn shown(&self, number: f64) -> String {
        if self.tokens.contains(&Token::General) {
            let text = |token: &Token| match token {
                Token::Text(text) => text.clone(),
                Token::General => super::number_format::plain(number),
                _ => String::new(),
            };
            return self.tokens.iter().map(text).collect();
        }
        let scientific = self
            .tokens
            .iter()
            .any(|it| matches!(it, Token::Scientific { .. }));
        let decimals = self.count(|token| matches!(token, Token::Decimal(_)));
        let mut digits = Decimal::of(number);
        let mut power = 0;
        if scientific {
            power = digits.exponent;
            digits.exponent = 0;
            if digits.round(decimals) {
                power += digits.exponent;
                digits.exponent = 0;
            }
        } else {
            digits.exponent += self.exponent;
            digits.round(decimals);
        }
        self.write(&digits, power)
    }

    fn count(&self, is: impl Fn(&Token) -> bool) -> usize {
        self.tokens.iter().filter(|token| is(token)).count()
    }

    fn write(&self, digits: &Decimal, power: i32) -> String {
        let whole = digits.whole();
        let places = self.count(|token| matches!(token, Token::Digit(_)));
        let mut place = places;
        let mut decimal = 0;
        let mut shown = String::new();
        for token in &self.tokens {
            match token {
                Token::Text(text) => shown.push_str(text),
                Token::General => {}
                Token::Digit(kind) => {
                    let first = if place == places { whole.len() } else { place };
                    for at in (place..=first.max(place)).rev() {
                        self.write_digit(&whole, at, *kind, &mut shown);
                    }
                    place -= 1;
                }
                Token::Point => {
                    let rest = self.tokens.iter().filter_map(|token| match token {
                        Token::Decimal(kind) => Some(*kind),
                        _ => None,
                    });
                    let mut rest = rest.enumerate();
                    if rest.any(|(at, kind)| kind != '#' || digits.has_decimals_from(at)) {
                        shown.push('.');
                    }
                }
                Token::Decimal(kind) => {
                    if *kind == '0' || digits.has_decimals_from(decimal) {
                        shown.push(digits.decimal(decimal));
                    }
                    decimal += 1;
                }
                Token::Scientific { has_plus, digits } => {
                    let sign = match power {
                        ..0 => "-",
                        _ if *has_plus => "+",
                        _ => "",
                    };
                    shown.push_str(&format!("E{sign}{:0digits$}", power.unsigned_abs()));
                }
            }
        }
        shown
    }

    /// Writes the digit at a place, counted from 1 on the right.
    fn write_digit(&self, whole: &str, place: usize, kind: char, shown: &mut String) {
        let digit = whole
            .len()
            .checked_sub(place)
            .and_then(|at| whole.chars().nth(at));
        match digit.or((kind == '0').then_some('0')) {
            Some(digit) => {
                shown.push(digit);
                if self.has_thousands && place > 1 && place % 3 == 1 {
                    shown.push(',');
                }
            }
            None if kind == '?' => shown.push(' '),
            None => {}
        }
    }
}

fn is_general(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    let rest: String = chars.clone().take(6).collect();
    let is_general = rest.eq_ignore_ascii_case("eneral");
    if is_general {
        chars.nth(5);
    }
    is_general
}

/// A number as decimal digits, so that it is rounded as a person would.
#[derive(Debug)]
struct Decimal {
    /// Without zeros at the beginning.
    digits: Vec<u8>,
    /// The power of ten of the first digit.
    exponent: i32,
}

impl Decimal {
    fn of(number: f64) -> Self {
        let shown = format!("{number:.*e}", DIGITS - 1);
        let (digits, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
        let mut digits: Vec<u8> = digits
            .bytes()
            .filter(u8::is_ascii_digit)
            .map(|digit| digit - b'0')
            .collect();
        while digits.pop_if(|last| *last == 0).is_some() {}
        Self {
            digits,
            exponent: exponent.parse().unwrap_or(0),
        }
    }

    /// Rounds half away from zero, and returns whether that made it a digit longer.
    fn round(&mut self, decimals: usize) -> bool {
        let kept = i64::from(self.exponent) + 1 + decimals as i64;
        let Ok(kept) = usize::try_from(kept) else {
            self.digits.clear();
            return false;
        };
        let rounds_up = self.digits.get(kept).is_some_and(|digit| *digit >= 5);
        self.digits.truncate(kept);
        if !rounds_up {
            return false;
        }
        while self.digits.pop_if(|last| *last == 9).is_some() {}
        match self.digits.last_mut() {
            Some(last) => {
                *last += 1;
                false
            }
            None => {
                self.digits.push(1);
                self.exponent += 1;
                true
            }
        }
    }

    /// The digit of a power of ten.
    fn digit(&self, power: i32) -> u8 {
        let at = usize::try_from(self.exponent - power).ok();
        at.and_then(|at| self.digits.get(at)).copied().unwrap_or(0)
    }

    /// The digits before the decimal point, empty if it is below 1.
    fn whole(&self) -> String {
        if self.digits.is_empty() {
            return String::new();
        }
        (0..=self.exponent)
            .rev()
            .map(|power| char::from(b'0' + self.digit(power)))
            .collect()
    }

    /// A digit behind the decimal point.
    fn decimal(&self, at: usize) -> char {
        let power = i32::try_from(at).unwrap_or(i32::MAX - 1) + 1;
        char::from(b'0' + self.digit(-power))
    }

    fn has_decimals_from(&self, at: usize) -> bool {
        let shown = i64::from(self.exponent) + 1 + at as i64;
        let last = self.digits.iter().rposition(|digit| *digit != 0);
        last.is_some_and(|last| last as i64 >= shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_excel_does() {
        for (code, number, expected) in [
            ("0", 2.5, "3"),
            ("0.00", 2.675, "2.68"),
            ("0.00", 0.0, "0.00"),
            ("#.##", 0.5, ".5"),
            ("#.##", 12.0, "12"),
            ("0.0#", 12.0, "12.0"),
            ("00000", 42.0, "00042"),
            ("#,##0", 1_234_567.0, "1,234,567"),
            ("#,##0", 999.6, "1,000"),
            ("0,000", 5.0, "0,005"),
            ("#,##0.00 \"€\"", 1234.5, "1,234.50 €"),
            ("#,##0.00 \"€\"", -1234.5, "-1,234.50 €"),
            ("[$€-407] #,##0.00", 1234.5, "€ 1,234.50"),
            ("\"$\"#,##0_);(\"$\"#,##0)", -1234.0, "($1,234)"),
            ("#,##0.00;[Red](#,##0.00)", -1234.0, "(1,234.00)"),
            ("#,##0;-#,##0;\"none\"", 0.0, "none"),
            (
                "_(\"$\"* #,##0.00_);_(\"$\"* (#,##0.00);_(\"$\"* \"-\"??_);_(@_)",
                1234.5,
                "$1,234.50",
            ),
            (
                "_(\"$\"* #,##0.00_);_(\"$\"* (#,##0.00);_(\"$\"* \"-\"??_);_(@_)",
                -2.0,
                "$(2.00)",
            ),
            (
                "_(\"$\"* #,##0.00_);_(\"$\"* (#,##0.00);_(\"$\"* \"-\"??_);_(@_)",
                0.0,
                "$-",
            ),
            ("0%", 0.256, "26%"),
            ("0.0%", 0.256, "25.6%"),
            ("0.00%", -0.005, "-0.50%"),
            ("#,##0,", 1_234_567.0, "1,235"),
            ("0.0,,\" m\"", 1_234_567.0, "1.2 m"),
            ("0.00E+00", 12345.0, "1.23E+04"),
            ("0.0E-0", 0.000_999_9, "1.0E-3"),
            ("(000) 000-0000", 5_551_234_567.0, "(555) 123-4567"),
            ("000-0000", 15_551_234.0, "1555-1234"),
            ("0\" days\"", 12.0, "12 days"),
            ("General\" kg\"", 1.5, "1.5 kg"),
            ("[<1]0.00;0", 0.5, "0.50"),
            ("[<1]0.00;0", 12.5, "13"),
            ("[>=1000]#,##0,\"k\";0", -3.0, "-3"),
            ("0.00", -0.001, "0.00"),
            ("0", 1e20, "100000000000000000000"),
            (";;;", 5.0, ""),
            ("\\A0", 5.0, "A5"),
            ("0.00", 1e-300, "0.00"),
        ] {
            let shown = Pattern::parse(code).and_then(|pattern| pattern.shown(number));
            assert_eq!(shown.as_deref(), Some(expected), "{code} {number}");
        }
    }

    #[test]
    fn what_is_not_supported_says_nothing() {
        for code in ["", "General", "@", "# ?/?"] {
            let shown = Pattern::parse(code).and_then(|pattern| pattern.shown(0.5));
            assert_eq!(shown, None, "{code}");
        }
        assert_eq!(Pattern::parse(&"0".repeat(256)), None);
        let pattern = Pattern::parse("0.00").unwrap();
        assert_eq!(
            pattern.shown(f64::NAN).or(pattern.shown(f64::INFINITY)),
            None
        );
    }
}
