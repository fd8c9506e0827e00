//! Figures side by side with what is aimed at.

/// One line: what was measured, the figure, the aim, and whether it is met.
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
    for Row { what, figure, unit, aim } in rows {
        let aim = match aim {
            None => String::new(),
            Some(Aim::AtMost(limit)) => format!("aim ≤ {limit} {unit}, {}", verdict(figure <= limit)),
            Some(Aim::AtLeast(limit)) => format!("aim ≥ {limit} {unit}, {}", verdict(figure >= limit)),
        };
        println!("  {what:<46} {figure:>10.2} {unit:<7} {aim}");
    }
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "MISSED" }
}

/// The figure below which `share` of the sorted figures lie.
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
