//! A year of made-up rain for the tour, and the sums over it.

/// A deterministic table of 365 days: date and millimetres.
pub(super) fn csv() -> String {
    let mut lines = String::from("date,rain_mm\n");
    let mut state: u32 = 2025;
    for (month, days) in [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        .into_iter()
        .enumerate()
    {
        for day in 1..=days {
            // A small linear congruential generator; the figures only have to look like weather.
            state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            let chance = (state >> 16) % 100;
            let autumn = u32::from((8..=10).contains(&month)) * 20;
            let tenths = if chance < 55 - autumn {
                0
            } else {
                (chance * 7 + day * 3) % 180
            };
            lines.push_str(&format!(
                "2025-{:02}-{day:02},{}.{}\n",
                month + 1,
                tenths / 10,
                tenths % 10
            ));
        }
    }
    lines
}

/// The days in a text, ignoring prefixes such as line numbers and paths.
fn days(text: &str) -> impl Iterator<Item = (&str, f64)> {
    text.lines().filter_map(|line| {
        let day = &line[line.find("2025-")?..];
        let (date, millimetres) = day.split_once(',')?;
        Some((date, millimetres.trim().parse().ok()?))
    })
}

/// Total millimetres of all days in a text.
pub(super) fn total_mm(text: &str) -> f64 {
    days(text).map(|(_, millimetres)| millimetres).sum()
}

/// The wettest day in a text.
pub(super) fn wettest(text: &str) -> Option<(&str, f64)> {
    days(text).max_by(|one, other| one.1.total_cmp(&other.1))
}

/// Each month's number (from 1) and total millimetres, if the text has days of it.
pub(super) fn by_month(text: &str) -> Vec<(usize, f64)> {
    let mut months = [0.0; 12];
    for (date, millimetres) in days(text) {
        let month = date.get(5..7).and_then(|month| month.parse::<usize>().ok());
        if let Some(total) = month.and_then(|month| months.get_mut(month.checked_sub(1)?)) {
            *total += millimetres;
        }
    }
    months
        .into_iter()
        .enumerate()
        .map(|(index, total)| (index + 1, total))
        .filter(|&(_, total)| total > 0.0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_ignore_prefixes_of_the_days() {
        let csv = csv();
        assert_eq!(days(&csv).count(), 365);
        let numbered: String = csv
            .lines()
            .enumerate()
            .map(|(n, line)| format!("{}\t{line}\n", n + 1))
            .collect();
        assert!((total_mm(&csv) - total_mm(&numbered)).abs() < 1e-9);
        let months = by_month(&numbered);
        assert_eq!(months.len(), 12);
        assert!((months.iter().map(|month| month.1).sum::<f64>() - total_mm(&csv)).abs() < 1e-6);
        assert!(wettest(&csv).is_some_and(|(_, millimetres)| millimetres > 10.0));
    }
}
