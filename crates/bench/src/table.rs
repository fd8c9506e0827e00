//! Tables of figures with their aims, and of contenders side by side.

/// A row: the name of the measurement, the figure, the aim, and whether it is met.
pub(crate) struct Row {
    pub(crate) what: &'static str,
    pub(crate) figure: f64,
    pub(crate) unit: &'static str,
    pub(crate) aim: Option<Aim>,
}

/// A bound on a figure.
#[derive(Clone, Copy)]
pub(crate) enum Aim {
    AtMost(f64),
    AtLeast(f64),
}

#[expect(clippy::print_stdout, reason = "a benchmark prints")]
pub(crate) fn print(title: &str, rows: &[Row]) {
    println!("\n{title}");
    for Row {
        what,
        figure,
        unit,
        aim,
    } in rows
    {
        let aim = match aim {
            None => String::new(),
            Some(Aim::AtMost(limit)) => {
                format!("aim ≤ {limit} {unit}, {}", verdict(figure <= limit))
            }
            Some(Aim::AtLeast(limit)) => {
                format!("aim ≥ {limit} {unit}, {}", verdict(figure >= limit))
            }
        };
        println!("  {what:<46} {figure:>10.2} {unit:<7} {aim}");
    }
}

/// Prints a row for each contender: its figures below their names, or the reason why there are none.
#[expect(clippy::print_stdout, reason = "a benchmark prints")]
pub(crate) fn print_grid(
    title: &str,
    columns: &[&str],
    lines: &[(String, Result<Vec<String>, String>)],
) {
    let width = |at: usize, name: &str| {
        let cells = lines
            .iter()
            .filter_map(|(_, cells)| Some(cells.as_ref().ok()?.get(at)?.chars().count()));
        cells.max().unwrap_or(0).max(name.chars().count())
    };
    let widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(at, name)| width(at, name))
        .collect();
    let names = lines
        .iter()
        .map(|(name, _)| name.chars().count())
        .max()
        .unwrap_or(0);
    let line = |cells: &mut dyn Iterator<Item = &str>| -> String {
        cells
            .zip(&widths)
            .map(|(cell, width)| format!("  {cell:>width$}"))
            .collect()
    };
    println!(
        "\n{title}\n  {:<names$}{}",
        "",
        line(&mut columns.iter().copied())
    );
    for (name, cells) in lines {
        let cells = match cells {
            Ok(cells) => line(&mut cells.iter().map(String::as_str)),
            Err(why) => format!("  not measured: {why}"),
        };
        println!("  {name:<names$}{cells}");
    }
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "MISSED" }
}

/// The quantile at `share` of the sorted figures.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "an index into a short list"
)]
pub(crate) fn percentile(figures: &mut [f64], share: f64) -> f64 {
    figures.sort_by(f64::total_cmp);
    let at = ((figures.len() as f64 - 1.0) * share).round() as usize;
    figures.get(at).copied().unwrap_or_default()
}
