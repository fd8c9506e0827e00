//! Charts of Office documents as Markdown tables of the values that they show.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    number_format::NumberFormat,
    xml::{Item, Items, Tag},
};
use crate::{
    read::table::{write_header, write_row},
    unreadable::{Limits, Unreadable},
};

/// Labels or values by their position, as numbers or texts.
#[derive(Debug, Default, PartialEq, Eq)]
struct Points {
    texts: BTreeMap<u32, String>,
    format: String,
}

impl Points {
    fn shown(&self, at: u32, is_1904: bool) -> String {
        let text = self.texts.get(&at).map(String::as_str).unwrap_or_default();
        match text.parse() {
            Ok(number) if !self.format.is_empty() => {
                NumberFormat::parse(&self.format).shown(number, is_1904)
            }
            _ => text.to_owned(),
        }
    }
}

#[derive(Debug, Default)]
struct Series {
    name: String,
    labels: Points,
    values: Points,
}

/// A chart.
#[derive(Debug, Default)]
pub(super) struct Chart {
    /// Its title and those of its axes.
    titles: Vec<String>,
    series: Vec<Series>,
    is_1904: bool,
    /// The open elements that matter.
    path: Vec<String>,
    position: u32,
    /// Which level of nested labels is open; only the innermost is shown.
    level: usize,
}

impl Chart {
    /// Parses a chart. If it is damaged, only what follows is lost.
    pub(super) fn read(xml: &str) -> Self {
        let mut chart = Self::default();
        let mut items = Items::new(xml);
        while let Some(Ok(item)) = items.next() {
            match item {
                // Pictures and labels repeat the values.
                Item::Open(tag) if matches!(tag.name.as_str(), "Fallback" | "dLbls" | "extLst") => {
                    if items.skip_element().is_err() {
                        break;
                    }
                }
                Item::Open(tag) => chart.open(tag),
                Item::Text(text) => chart.push(&text),
                Item::Close(name) => chart.close(&name),
            }
        }
        chart
    }

    fn open(&mut self, tag: Tag) {
        match tag.name.as_str() {
            "date1904" => self.is_1904 = tag.is_on(),
            "ser" => self.series.push(Series::default()),
            "cat" | "xVal" => self.level = 0,
            "lvl" => self.level += 1,
            "title" => self.titles.push(String::new()),
            "pt" => {
                let position = tag.attribute("idx").and_then(|at| at.parse().ok());
                self.position = position.unwrap_or(0);
            }
            "tx" | "val" | "yVal" | "bubbleSize" | "v" | "t" | "formatCode" => {}
            _ => return,
        }
        self.path.push(tag.name);
    }

    fn close(&mut self, name: &str) {
        _ = self.path.pop_if(|open| open == name);
    }

    fn push(&mut self, text: &str) {
        let is_in = |name: &str| self.path.iter().any(|open| open == name);
        if is_in("title") {
            if let Some(title) = self
                .titles
                .last_mut()
                .filter(|_| self.path.ends_with(&["t".into()]))
            {
                title.push_str(text);
            }
            return;
        }
        let Some(series) = self.series.last_mut().filter(|_| is_in("ser")) else {
            return;
        };
        let points = if is_in("cat") || is_in("xVal") {
            if self.level > 1 {
                return;
            }
            &mut series.labels
        } else if is_in("val") || is_in("yVal") {
            &mut series.values
        } else {
            if is_in("tx") && is_in("v") {
                series.name.push_str(text);
            }
            return;
        };
        match self.path.last().map(String::as_str) {
            Some("v") => points
                .texts
                .entry(self.position)
                .or_default()
                .push_str(text),
            Some("formatCode") => points.format.push_str(text),
            _ => {}
        }
    }

    /// The titles as a block of text, empty if there are none.
    pub(super) fn titles(&self) -> String {
        let titles = self.titles.iter().map(|title| title.trim());
        let titles: Vec<&str> = titles.filter(|title| !title.is_empty()).collect();
        let mut text = titles.join(", ");
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text
    }

    /// The titles, and a table for the series with the same labels.
    ///
    /// # Errors
    /// If there is too much text.
    pub(super) fn markdown(&self, limits: &Limits) -> Result<String, Unreadable> {
        let mut text = self.titles();
        for series in self.series.chunk_by(|one, next| one.labels == next.labels) {
            self.write_table(series, &mut text, limits)?;
        }
        Ok(text)
    }

    fn write_table(
        &self,
        series: &[Series],
        text: &mut String,
        limits: &Limits,
    ) -> Result<(), Unreadable> {
        let all = series.iter().flat_map(|one| [&one.labels, &one.values]);
        let positions: BTreeSet<u32> = all.flat_map(|it| it.texts.keys().copied()).collect();
        let Some(first) = series.first().filter(|_| !positions.is_empty()) else {
            return Ok(());
        };
        let width = series.len() + 1;
        let names = series.iter().map(|one| one.name.as_str());
        let names: Vec<&str> = std::iter::once("").chain(names).collect();
        write_header(text, &names, width);
        for position in positions {
            let points = series.iter().map(|one| &one.values);
            let points = std::iter::once(&first.labels).chain(points);
            let cells: Vec<String> = points
                .map(|points| points.shown(position, self.is_1904))
                .collect();
            write_row(text, &cells, width);
            if text.len() as u64 > limits.text_bytes {
                return Err(Unreadable::TooMuchText {
                    limit_bytes: limits.text_bytes,
                });
            }
        }
        text.push('\n');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(name: &str, values: &[&str]) -> String {
        let point =
            |(at, value): (usize, &&str)| format!("<c:pt idx='{at}'><c:v>{value}</c:v></c:pt>");
        let points: String = values.iter().enumerate().map(point).collect();
        format!(
            "<c:{name}><c:ref><c:cache><c:formatCode>#,##0.0</c:formatCode>{points}</c:cache></c:ref></c:{name}>"
        )
    }

    #[test]
    fn charts_are_tables_of_their_values() {
        let series = |name: &str, labels: &str, values: &str| {
            format!(
                "<c:ser><c:tx><c:strCache><c:pt idx='0'><c:v>{name}</c:v></c:pt></c:strCache></c:tx>{labels}{values}</c:ser>"
            )
        };
        let title = "<c:title><c:tx><a:p><a:t>Ducks</a:t></a:p></c:tx></c:title>";
        let labels = points("cat", &["Q1", "a|b"]);
        let xml = format!(
            "<c:chartSpace xmlns:c='c' xmlns:a='a'><c:chart>{title}<c:plotArea>{}{}{}</c:plotArea></c:chart></c:chartSpace>",
            series("Seen", &labels, &points("val", &["1234.56", "2"])),
            series("Heard", &labels, &points("val", &["3", "n/a", "5"])),
            series("Other", &points("xVal", &["1"]), &points("yVal", &["7"])),
        );
        let text = Chart::read(&xml).markdown(&Limits::default()).unwrap();
        assert_eq!(
            text,
            "Ducks\n\n|  | Seen | Heard |\n| --- | --- | --- |\n| Q1 | 1,234.6 | 3.0 |\n| a\\|b | 2.0 | n/a |\n|  |  | 5.0 |\n\n\
             |  | Other |\n| --- | --- |\n| 1.0 | 7.0 |\n\n"
        );
        let limits = Limits {
            text_bytes: 30,
            ..Limits::default()
        };
        assert!(Chart::read(&xml).markdown(&limits).is_err());
    }
}
