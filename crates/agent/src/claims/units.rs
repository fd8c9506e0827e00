//! Units of figures, by value: `km` and metres are lengths, `%` and percent the same.

/// What a figure is counted in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    pub(super) kind: Kind,
    /// How many of the smallest unit of its kind it is.
    pub(super) factor: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Percent,
    Dollar,
    Euro,
    Pound,
    Yen,
    Rouble,
    Length,
    Mass,
    Time,
    Months,
    Degrees,
}

impl Unit {
    const fn new(kind: Kind, factor: f64) -> Option<Self> {
        Some(Self { kind, factor })
    }

    pub(super) fn of_sign(sign: char) -> Option<Self> {
        match sign {
            '%' => Self::new(Kind::Percent, 1.0),
            '‰' => Self::new(Kind::Percent, 0.1),
            '°' => Self::new(Kind::Degrees, 1.0),
            sign => Self::of_currency(sign),
        }
    }

    pub(super) fn of_currency(sign: char) -> Option<Self> {
        match sign {
            '$' => Self::new(Kind::Dollar, 1.0),
            '€' => Self::new(Kind::Euro, 1.0),
            '£' => Self::new(Kind::Pound, 1.0),
            '¥' => Self::new(Kind::Yen, 1.0),
            '₽' => Self::new(Kind::Rouble, 1.0),
            _ => None,
        }
    }

    /// The unit of a word in lower case.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        match word.trim_end_matches('.') {
            "percent" | "percentage" | "pct" | "процент" | "процента" | "процентов"
            | "проценты" => Self::new(Kind::Percent, 1.0),
            "dollar" | "dollars" | "usd" | "доллар" | "доллара" | "долларов" | "долл" => {
                Self::new(Kind::Dollar, 1.0)
            }
            "euro" | "euros" | "eur" | "евро" => Self::new(Kind::Euro, 1.0),
            "yen" | "jpy" | "иен" | "иена" | "иены" => Self::new(Kind::Yen, 1.0),
            "rouble" | "roubles" | "ruble" | "rubles" | "rub" | "рубль" | "рубля" | "рублей"
            | "руб" => Self::new(Kind::Rouble, 1.0),
            word => Self::of_measure(word),
        }
    }

    fn of_measure(word: &str) -> Option<Self> {
        const HOUR: f64 = 3_600.0;
        match word {
            "mm"
            | "millimetre"
            | "millimetres"
            | "millimeter"
            | "millimeters"
            | "мм"
            | "миллиметр"
            | "миллиметра"
            | "миллиметров" => Self::new(Kind::Length, 0.001),
            "cm"
            | "centimetre"
            | "centimetres"
            | "centimeter"
            | "centimeters"
            | "см"
            | "сантиметр"
            | "сантиметра"
            | "сантиметров" => Self::new(Kind::Length, 0.01),
            "m" | "metre" | "metres" | "meter" | "meters" | "м" | "метр" | "метра" | "метров"
            | "метрах" => Self::new(Kind::Length, 1.0),
            "km"
            | "kilometre"
            | "kilometres"
            | "kilometer"
            | "kilometers"
            | "км"
            | "километр"
            | "километра"
            | "километров" => Self::new(Kind::Length, 1_000.0),
            "ft" | "foot" | "feet" | "фут" | "фута" | "футов" => {
                Self::new(Kind::Length, 0.3048)
            }
            "mile" | "miles" | "миля" | "мили" | "миль" => {
                Self::new(Kind::Length, 1_609.344)
            }
            "mg"
            | "milligram"
            | "milligrams"
            | "мг"
            | "миллиграмм"
            | "миллиграмма"
            | "миллиграммов" => Self::new(Kind::Mass, 0.001),
            "g" | "gram" | "grams" | "грамм" | "грамма" | "граммов" => {
                Self::new(Kind::Mass, 1.0)
            }
            "kg" | "kilogram" | "kilograms" | "кг" | "килограмм" | "килограмма" | "килограммов" => {
                Self::new(Kind::Mass, 1_000.0)
            }
            "tonne" | "tonnes" | "ton" | "tons" | "т" | "тонна" | "тонны" | "тонн" => {
                Self::new(Kind::Mass, 1_000_000.0)
            }
            "second" | "seconds" | "sec" | "секунда" | "секунды" | "секунд" | "сек" => {
                Self::new(Kind::Time, 1.0)
            }
            "minute" | "minutes" | "min" | "минута" | "минуты" | "минут" | "мин" => {
                Self::new(Kind::Time, 60.0)
            }
            "hour" | "hours" | "h" | "час" | "часа" | "часов" | "ч" => {
                Self::new(Kind::Time, HOUR)
            }
            "day" | "days" | "день" | "дня" | "дней" | "сутки" | "суток" => {
                Self::new(Kind::Time, 24.0 * HOUR)
            }
            "week" | "weeks" | "неделя" | "недели" | "недель" => {
                Self::new(Kind::Time, 168.0 * HOUR)
            }
            "month" | "months" | "месяц" | "месяца" | "месяцев" => {
                Self::new(Kind::Months, 1.0)
            }
            "year" | "years" | "год" | "года" | "лет" => Self::new(Kind::Months, 12.0),
            "degree" | "degrees" | "градус" | "градуса" | "градусов" => {
                Self::new(Kind::Degrees, 1.0)
            }
            _ => None,
        }
    }
}
