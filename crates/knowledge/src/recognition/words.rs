//! What the program recognizes on a page: a table of words with their places in the text and its confidence in them.

use crate::words::is_unspaced;

/// From this confidence on, in percent, a page is read in the right language. Wrong languages give less than 60.
pub(super) const GOOD_CONFIDENCE: f32 = 75.0;
/// Lines with less confidence are dirt, edges and pictures. Single words in a good line are kept: in Chinese and Japanese,
/// many are right in spite of little confidence.
const LINE_CONFIDENCE: f32 = 40.0;
/// A page with less confidence is a picture without text …
const PAGE_CONFIDENCE: f32 = 50.0;
/// … and so is one with fewer letters.
const MIN_LETTERS: usize = 3;
/// Korean letters that are closer than this, relative to their height, are of one word, although the program often
/// takes them for several. The spaces between words are wider.
const KOREAN_GAP: f32 = 0.3;
/// Marks that the program adds to text from right to left.
const MARKS: [char; 4] = ['\u{200e}', '\u{200f}', '\u{202a}', '\u{202c}'];

/// A line of recognized text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecognizedLine {
    pub(crate) text: String,
    pub(crate) begins_paragraph: bool,
}

/// The text of a page.
#[derive(Debug, Default)]
pub(super) struct RecognizedText {
    lines: Vec<RecognizedLine>,
    total: Letters,
}

/// Letters, and the confidence in them.
#[derive(Debug, Default, Clone, Copy)]
struct Letters {
    count: usize,
    /// The sum of the confidence in each.
    confidence: f32,
}

impl Letters {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.confidence += other.confidence;
    }

    /// In percent; 0 if there are none.
    fn mean(self) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "an average")]
        let count = self.count.max(1) as f32;
        self.confidence / count
    }
}

/// The numbers of block, paragraph and line.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place<'a> {
    block: &'a str,
    paragraph: &'a str,
    line: &'a str,
}

/// A row of the table.
struct Word<'a> {
    place: Place<'a>,
    /// Its place and size on the page, in pixels.
    left: f32,
    width: f32,
    height: f32,
    confidence: f32,
    text: &'a str,
}

impl<'a> Word<'a> {
    /// `None` for rows about larger parts of the page.
    fn of(row: &'a str) -> Option<Self> {
        let mut columns = row.splitn(12, '\t');
        if columns.next()? != "5" {
            return None;
        }
        let [block, paragraph, line] = [columns.nth(1)?, columns.next()?, columns.next()?];
        let mut number = |skipped| columns.nth(skipped)?.parse::<f32>().ok();
        let [left, width, height] = [number(1)?, number(1)?, number(0)?];
        let confidence = number(0)?;
        Some(Self {
            place: Place {
                block,
                paragraph,
                line,
            },
            left,
            width,
            height,
            confidence,
            text: columns.next()?.trim(),
        })
    }

    /// Whether `next` continues the same Korean word.
    fn is_continued_by(&self, next: &Self) -> bool {
        let gap = next.left - (self.left + self.width);
        let is_korean = self.text.ends_with(is_hangul) && next.text.starts_with(is_hangul);
        is_korean && gap < KOREAN_GAP * self.height.min(next.height)
    }

    fn letters(&self) -> Letters {
        let count = self.text.chars().filter(|char| char.is_alphanumeric());
        let count = count.count();
        #[expect(clippy::cast_precision_loss, reason = "an average")]
        let confidence = count as f32 * self.confidence;
        Letters { count, confidence }
    }
}

impl RecognizedText {
    pub(super) fn of_table(table: &str) -> Self {
        let words: Vec<Word<'_>> = table.lines().filter_map(Word::of).collect();
        let mut page = Self::default();
        let mut before: Option<Place<'_>> = None;
        for line in words.chunk_by(|word, next| word.place == next.place) {
            let mut letters = Letters::default();
            line.iter().for_each(|word| letters.add(word.letters()));
            let (Some(first), true) = (line.first(), letters.mean() >= LINE_CONFIDENCE) else {
                continue;
            };
            let place = first.place;
            let mut text = String::new();
            append(&mut text, first.text, false);
            for pair in line.windows(2) {
                if let [word, next] = pair {
                    append(&mut text, next.text, word.is_continued_by(next));
                }
            }
            page.total.add(letters);
            page.lines.push(RecognizedLine {
                text,
                begins_paragraph: before.is_none_or(|before| {
                    (before.block, before.paragraph) != (place.block, place.paragraph)
                }),
            });
            before = Some(place);
        }
        page
    }

    /// Adds the text of the next part of the page.
    pub(super) fn append(&mut self, mut other: Self) {
        self.lines.append(&mut other.lines);
        self.total.add(other.total);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The mean confidence in a letter, in percent; 0 if there are none.
    pub(super) fn confidence(&self) -> f32 {
        self.total.mean()
    }

    /// The lines, unless they were most likely read out of a picture without text.
    pub(super) fn into_lines(self) -> Vec<RecognizedLine> {
        let is_text = self.total.count >= MIN_LETTERS && self.confidence() >= PAGE_CONFIDENCE;
        if is_text { self.lines } else { Vec::new() }
    }
}

/// Appends a word. Those of scripts without spaces follow each other closely.
fn append(line: &mut String, word: &str, is_continued: bool) {
    let needs_space = !is_continued
        && match (line.chars().next_back(), word.chars().next()) {
            (Some(last), Some(first)) => !(joins(last) && (joins(first) || closes(first))),
            _ => false,
        };
    if needs_space {
        line.push(' ');
    }
    line.extend(word.chars().filter(|char| !MARKS.contains(char)));
}

fn is_hangul(char: char) -> bool {
    matches!(char, '\u{ac00}'..='\u{d7a3}')
}

/// Whether it is a letter of such a script, or its punctuation.
fn joins(char: char) -> bool {
    !is_hangul(char) && is_unspaced(char)
        || matches!(char, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff65}')
}

/// Whether it is punctuation that follows a word closely, in Latin letters where they were meant to be wide.
fn closes(char: char) -> bool {
    matches!(char, ',' | '.' | ';' | ':' | '!' | '?' | ')' | '%')
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n\
        1\t1\t0\t0\t0\t0\t0\t0\t100\t100\t-1\t\n";

    fn table(words: &[(u32, u32, u32, f32, &str)]) -> RecognizedText {
        let places = (0..).step_by(100);
        let rows = words.iter().zip(places).map(|(word, left)| {
            let (block, paragraph, line, confidence, text) = word;
            format!(
                "5\t1\t{block}\t{paragraph}\t{line}\t1\t{left}\t0\t9\t9\t{confidence}\t{text}\n"
            )
        });
        RecognizedText::of_table(&(HEAD.to_owned() + &rows.collect::<String>()))
    }

    fn text(words: &[(u32, u32, u32, f32, &str)]) -> String {
        let lines = table(words).into_lines().into_iter();
        lines
            .map(|line| if line.begins_paragraph { "¶" } else { "" }.to_owned() + &line.text + "\n")
            .collect()
    }

    #[test]
    fn words_are_joined_to_lines_and_paragraphs() {
        assert_eq!(
            text(&[
                (1, 1, 1, 96.0, "The"),
                (1, 1, 1, 91.5, "walrus"),
                (1, 1, 2, 90.0, "sings."),
                (1, 2, 1, 90.0, "Next."),
                (2, 2, 1, 90.0, "Block"),
            ]),
            "¶The walrus\nsings.\n¶Next.\n¶Block\n"
        );
        assert_eq!(
            text(&[
                (1, 1, 1, 90.0, "海象"),
                (1, 1, 1, 90.0, "在唱歌。"),
                (1, 1, 1, 90.0, "PDF"),
                (1, 1, 1, 90.0, "カタ"),
                (1, 1, 2, 90.0, "바다 "),
                (1, 1, 2, 90.0, "코끼리"),
            ]),
            "¶海象在唱歌。 PDF カタ\n바다 코끼리\n"
        );
        assert_eq!(
            text(&[
                (1, 1, 1, 90.0, "承认"),
                (1, 1, 1, 90.0, ","),
                (1, 1, 1, 90.0, "乃是"),
                (1, 1, 1, 90.0, "PDF"),
                (1, 1, 1, 90.0, "."),
            ]),
            "¶承认, 乃是 PDF .\n"
        );
        assert_eq!(
            text(&[(1, 1, 1, 90.0, "\u{200f}الفظ"), (1, 1, 1, 90.0, "يغني")]),
            "¶الفظ يغني\n"
        );
    }

    #[test]
    fn korean_words_are_told_by_the_gaps_between_them() {
        let word =
            |left: u32, text: &str| format!("5\t1\t1\t1\t1\t1\t{left}\t0\t40\t44\t90\t{text}\n");
        let table = [
            word(0, "설"),
            word(52, "치"),
            word(110, "하는"),
            word(140, "OK"),
        ];
        let lines = RecognizedText::of_table(&table.concat()).into_lines();
        assert_eq!(lines[0].text, "설치 하는 OK");
    }

    #[test]
    fn dirt_is_not_text() {
        assert_eq!(
            text(&[
                (1, 1, 1, 95.0, "unsure"),
                (1, 1, 1, 12.0, "words"),
                (1, 1, 2, 3.0, "il"),
                (1, 1, 3, 99.0, "~#"),
            ]),
            "¶unsure words\n"
        );
        assert_eq!(
            text(&[(1, 1, 1, 40.0, "picture"), (1, 1, 1, 45.0, "of")]),
            ""
        );
        assert_eq!(text(&[(1, 1, 1, 99.0, "a"), (1, 1, 1, 99.0, "—")]), "");
        let none =
            RecognizedText::of_table("5\t1\nnot a table\n\n5\t1\t1\t1\t1\t1\t0\t0\t9\t9\tx\ty");
        assert!(none.is_empty() && none.confidence() <= 0.0);
    }
}
