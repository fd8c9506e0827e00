//! Number formats of spreadsheets by kind: numbers as displayed, and dates, times and durations as in ISO 8601.

use calamine::{ExcelDateTime, ExcelDateTimeType};

use super::number_pattern::Pattern;

/// The day after 9999-12-31, counted from 1900. Excel displays no dates from there on.
const DAYS_END: f64 = 2_958_466.0;

/// How the numbers of a cell are displayed.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum NumberFormat {
    /// As a number, or as a date if calamine recognizes the format as one.
    #[default]
    General,
    /// A number with digits, a currency or a percentage as in this pattern.
    Number(Pattern),
    /// A date.
    Date,
    /// A time of day.
    Time { seconds: bool },
    /// A date and a time of day.
    DateTime { seconds: bool },
    /// Hours, which may exceed 24.
    Duration { seconds: bool },
}

impl NumberFormat {
    pub(super) fn of(format: &calamine::NumberFormat) -> Self {
        Self::parse(&format.format_code)
    }

    /// Parses a format code such as `yyyy-mm-dd`. The first of its sections determines the kind.
    pub(super) fn parse(code: &str) -> Self {
        let mut found = Tokens::default();
        let mut chars = code.chars();
        while let Some(char) = chars.next() {
            match char {
                ';' => break,
                '"' => _ = chars.by_ref().find(|&char| char == '"'),
                // The next character is literal, or specifies a width.
                '\\' | '_' | '*' => _ = chars.next(),
                '[' => {
                    let inner: String = chars.by_ref().take_while(|&char| char != ']').collect();
                    found.note_bracket(&inner);
                }
                _ => found.note(char),
            }
        }
        found
            .kind()
            .or_else(|| Pattern::parse(code).map(Self::Number))
            .unwrap_or_default()
    }

    /// Formats a number, which is a date if the format is one.
    pub(super) fn shown(&self, number: f64, is_1904: bool) -> String {
        match self {
            Self::General | Self::Number(_) => self.number(number),
            _ => self.date_time(&ExcelDateTime::new(
                number,
                ExcelDateTimeType::DateTime,
                is_1904,
            )),
        }
    }

    /// Formats a number that is not a date.
    pub(super) fn number(&self, number: f64) -> String {
        let shown = match self {
            Self::Number(pattern) => pattern.shown(number),
            _ => None,
        };
        shown.unwrap_or_else(|| plain(number))
    }

    /// Formats a date, a time or a duration as in ISO 8601.
    pub(super) fn date_time(&self, date: &ExcelDateTime) -> String {
        let value = date.as_f64();
        let format = match self {
            Self::General | Self::Number(_) if date.is_duration() => {
                &Self::Duration { seconds: true }
            }
            Self::General | Self::Number(_) if value.fract() == 0.0 => &Self::Date,
            Self::General | Self::Number(_) if value < 1.0 => &Self::Time { seconds: true },
            Self::General | Self::Number(_) => &Self::DateTime { seconds: true },
            known => known,
        };
        if let Self::Duration { seconds } = format {
            return duration(value, *seconds);
        }
        let (year, month, day, hour, minute, second, _) = date.to_ymd_hms_milli();
        // Excel has no day 0, and displays nothing for values before it.
        let has_day = (1.0..DAYS_END).contains(&value) || is_first_day_of_1904(date);
        let day = || format!("{year:04}-{month:02}-{day:02}");
        let time = |seconds| match seconds {
            true => format!("{hour:02}:{minute:02}:{second:02}"),
            false => format!("{hour:02}:{minute:02}"),
        };
        match format {
            Self::Time { seconds } if (0.0..DAYS_END).contains(&value) => time(*seconds),
            Self::Date if has_day => day(),
            Self::DateTime { seconds } if has_day => format!("{} {}", day(), time(*seconds)),
            _ => plain(value),
        }
    }
}

/// In workbooks that count from 1904, values before the first day belong to 1904.
fn is_first_day_of_1904(date: &ExcelDateTime) -> bool {
    (0.0..1.0).contains(&date.as_f64()) && date.to_ymd_hms_milli().0 == 1904
}

/// The elements found in a format code.
#[derive(Default)]
struct Tokens {
    days: bool,
    hours: bool,
    /// Minutes if next to hours or seconds, otherwise months.
    months_or_minutes: bool,
    seconds: bool,
    elapsed: bool,
}

impl Tokens {
    fn note(&mut self, char: char) {
        match char.to_ascii_lowercase() {
            'y' | 'd' => self.days = true,
            'h' => self.hours = true,
            'm' => self.months_or_minutes = true,
            's' => self.seconds = true,
            _ => {}
        }
    }

    /// `h`, `mm` or `ss`, which may exceed a day, an hour or a minute; or a colour, a currency or a condition.
    fn note_bracket(&mut self, inner: &str) {
        let is_all = |letter: char| {
            !inner.is_empty() && inner.chars().all(|char| char.eq_ignore_ascii_case(&letter))
        };
        self.elapsed |= ['h', 'm', 's'].into_iter().any(is_all);
        self.seconds |= is_all('s');
    }

    /// `None` if it is neither a date nor a time.
    fn kind(&self) -> Option<NumberFormat> {
        let seconds = self.seconds;
        let time = self.hours || seconds;
        if self.elapsed {
            Some(NumberFormat::Duration { seconds })
        } else if self.days && time {
            Some(NumberFormat::DateTime { seconds })
        } else if time {
            Some(NumberFormat::Time { seconds })
        } else if self.days || self.months_or_minutes {
            Some(NumberFormat::Date)
        } else {
            None
        }
    }
}

/// Days as hours, minutes and optionally seconds.
fn duration(days: f64, with_seconds: bool) -> String {
    if days.abs() >= DAYS_END || days.is_nan() {
        return plain(days);
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is within the range checked before"
    )]
    let all = (days * 86_400.0).round() as i64;
    let sign = if all < 0 { "-" } else { "" };
    let all = all.unsigned_abs();
    let hours = all / 3600;
    let minutes = all / 60 % 60;
    let seconds = all % 60;
    match with_seconds {
        true => format!("{sign}{hours}:{minutes:02}:{seconds:02}"),
        false => format!("{sign}{hours}:{minutes:02}"),
    }
}

/// Rounds to the 15 digits with which a spreadsheet computes, so that 0.1 + 0.2 is 0.3.
pub(super) fn plain(number: f64) -> String {
    if number.fract() == 0.0 {
        return number.to_string();
    }
    let rounded = format!("{number:.14e}").parse().unwrap_or(number);
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use calamine::ExcelDateTimeType;

    use super::*;

    fn shown(code: &str, value: f64, is_1904: bool) -> String {
        let date = ExcelDateTime::new(value, ExcelDateTimeType::DateTime, is_1904);
        NumberFormat::parse(code).date_time(&date)
    }

    #[test]
    fn codes_of_dates_times_and_durations_are_told_apart() {
        let seconds = true;
        for (code, format) in [
            ("General", NumberFormat::General),
            ("yyyy-mm-dd", NumberFormat::Date),
            ("[$-409]d\\-mmm\\-yy;@", NumberFormat::Date),
            ("mmmm", NumberFormat::Date),
            ("DD.MM.YYYY", NumberFormat::Date),
            ("h:mm AM/PM", NumberFormat::Time { seconds: false }),
            ("mm:ss.0", NumberFormat::Time { seconds }),
            (
                "yyyy-mm-dd hh:mm",
                NumberFormat::DateTime { seconds: false },
            ),
            ("yyyy-mm-dd\\Thh:mm:ss", NumberFormat::DateTime { seconds }),
            ("[h]:mm", NumberFormat::Duration { seconds: false }),
            ("[hh]:mm:ss", NumberFormat::Duration { seconds }),
            ("[ss]", NumberFormat::Duration { seconds }),
        ] {
            assert_eq!(NumberFormat::parse(code), format, "{code}");
        }
    }

    #[test]
    fn values_are_shown_by_their_formats() {
        let noon = 46_349.5;
        for (code, value, expected) in [
            ("yyyy-mm-dd", noon, "2026-11-23"),
            ("d.m.yy h:mm", noon, "2026-11-23 12:00"),
            ("h:mm:ss", noon, "12:00:00"),
            ("h:mm", 0.604_166_666_666_667, "14:30"),
            ("[h]:mm", 1.104_166_666_666_667, "26:30"),
            ("[h]:mm:ss", -0.5, "-12:00:00"),
            // Formats known only to calamine, by their numbers.
            ("General", 46_349.0, "2026-11-23"),
            ("General", noon, "2026-11-23 12:00:00"),
            ("General", 0.5, "12:00:00"),
            ("yyyy-mm-dd", 61.0, "1900-03-01"),
            // Not dates.
            ("yyyy-mm-dd", 0.5, "0.5"),
            ("yyyy-mm-dd", -1.0, "-1"),
            ("yyyy-mm-dd", 3e6, "3000000"),
            ("h:mm", f64::INFINITY, "inf"),
            ("[h]:mm", f64::NAN, "NaN"),
        ] {
            assert_eq!(shown(code, value, false), expected, "{code} {value}");
        }
        assert_eq!(shown("yyyy-mm-dd", 44_887.0, true), "2026-11-23");
        assert_eq!(shown("yyyy-mm-dd", 0.0, true), "1904-01-01");
    }

    #[test]
    fn numbers_have_fifteen_digits() {
        let general = NumberFormat::General;
        let formatted = |code: &str, number| NumberFormat::parse(code).shown(number, false);
        assert_eq!(general.number(0.1 + 0.2), "0.3");
        assert_eq!(general.number(45.0), "45");
        assert_eq!(general.number(9_007_199_254_740_991.0), "9007199254740991");
        assert_eq!(formatted("0.0%", 0.256), "25.6%");
        assert_eq!(formatted("#,##0.00;[Red](#,##0.00)", -5.0), "(5.00)");
        assert_eq!(formatted("0\" days\"", 5.0), "5 days");
        assert_eq!(formatted("# ?/?", 0.5), "0.5");
        assert_eq!(formatted("yyyy-mm-dd", 46_349.0), "2026-11-23");
    }
}
