//! Text recognition: reads the text in pictures of pages with Tesseract, an installed program, in the language of the
//! script that the page is written in.
//!
//! The pictures are decoded here, so that the program only ever gets a plain bitmap.

mod columns;
mod languages;
mod program;
mod words;

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use image::{GrayImage, imageops};
use serde::{Deserialize, Serialize};

pub(crate) use self::words::RecognizedLine;
use self::{
    languages::{Languages, Layout},
    program::RunError,
    words::{GOOD_CONFIDENCE, RecognizedText},
};
use crate::unreadable::Limits;

/// How long the program has to list its languages.
const LISTING_TIME: Duration = Duration::from_secs(10);
/// Maximum size of the list of languages, and of what is recognized on a page, bytes.
const LIST_BYTES: u64 = 100_000;
const PAGE_BYTES: u64 = 8_000_000;
/// Time for the script of a page.
const SCRIPT_TIME: Duration = Duration::from_secs(20);
/// A page is turned only if the program is this sure that it is not upright.
const TURN_CONFIDENCE: f32 = 2.0;
/// How ink is told from paper: by one threshold for the page, which is best for most pages, or by one for each place, which
/// copes with grain and shadows. Versions before 5 know only the first.
const THRESHOLD_OF_PAGE: &str = "thresholding_method=0";
const THRESHOLD_OF_PLACE: &str = "thresholding_method=2";
/// The model that detects the script and the orientation of a page.
const SCRIPT_MODEL: &str = "osd";
/// The resolution of rendered pages, in dots per inch, for which the program's models were trained.
pub(crate) const DPI: u32 = 300;
/// Maximum size of a page's picture, in pixels: A3 at that resolution.
pub(crate) const MAX_PIXELS: u32 = 18_000_000;

/// Tesseract as it is installed, with the languages that are used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recognizer {
    program: PathBuf,
    version: String,
    languages: Vec<String>,
    detects_script: bool,
    limits: RecognitionLimits,
}

/// Time limits of text recognition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecognitionLimits {
    /// For a page, seconds.
    pub page_seconds: u64,
    /// For all pages of a document, seconds. What is left then stays unread.
    pub document_seconds: u64,
}

impl Default for RecognitionLimits {
    fn default() -> Self {
        Self {
            page_seconds: 180,
            document_seconds: 3600,
        }
    }
}

/// Why text cannot be recognized, as a sentence for an administrator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoRecognizer {
    /// The program is not there.
    #[error("{program} cannot be run: {cause}")]
    Missing {
        /// Its path or name.
        program: String,
        /// The cause.
        cause: String,
    },
    /// It does not do what Tesseract does.
    #[error("{program} does not list its languages as Tesseract does")]
    Unexpected {
        /// Its path or name.
        program: String,
    },
    /// None of the languages that were asked for is installed.
    #[error("Tesseract has no language data to use; installed: {installed}")]
    NoLanguages {
        /// The languages that are installed, separated by commas.
        installed: String,
    },
}

impl Recognizer {
    /// Finds the program, and which of the `wanted` languages are installed; if none are named, all that are.
    ///
    /// # Errors
    /// The reason why no text can be recognized.
    pub fn find(program: &Path, wanted: &[String]) -> Result<Self, NoRecognizer> {
        let shown = program.display().to_string();
        let ask = |argument: &str| {
            let arguments = [argument.to_owned()];
            program::run(program, &arguments, Vec::new(), LISTING_TIME, LIST_BYTES)
        };
        let list = ask("--list-langs").map_err(|error| NoRecognizer::Missing {
            program: shown.clone(),
            cause: error.to_string(),
        })?;
        let list = String::from_utf8_lossy(&list);
        // The first line is a heading.
        let mut lines = list.lines();
        if !lines.next().is_some_and(|line| line.contains("languages")) {
            return Err(NoRecognizer::Unexpected { program: shown });
        }
        let installed: Vec<&str> = lines.map(str::trim).filter(|it| !it.is_empty()).collect();
        let languages: Vec<String> = installed
            .iter()
            .filter(|name| languages::is_name(name) && **name != SCRIPT_MODEL)
            .filter(|name| wanted.is_empty() || wanted.iter().any(|one| one == *name))
            .map(|name| (*name).to_owned())
            .collect();
        if languages.is_empty() {
            return Err(NoRecognizer::NoLanguages {
                installed: installed.join(", "),
            });
        }
        let version = ask("--version").unwrap_or_default();
        let version = String::from_utf8_lossy(&version);
        Ok(Self {
            program: program.to_owned(),
            version: version.lines().next().unwrap_or_default().trim().to_owned(),
            languages,
            detects_script: installed.contains(&SCRIPT_MODEL),
            limits: RecognitionLimits::default(),
        })
    }

    /// The same with other time limits.
    #[must_use]
    pub fn with_limits(self, limits: RecognitionLimits) -> Self {
        Self { limits, ..self }
    }

    /// The program's name and version, such as `tesseract 5.3.0`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The names of the languages and scripts that are used, such as `deu`.
    #[must_use]
    pub fn languages(&self) -> &[String] {
        &self.languages
    }

    /// Whether the script and the orientation of a page are detected, which the data `osd` is needed for.
    #[must_use]
    pub fn detects_script(&self) -> bool {
        self.detects_script
    }

    /// The time limits.
    #[must_use]
    pub fn limits(&self) -> RecognitionLimits {
        self.limits
    }
}

/// Why the picture of a page was not read. The names are stable, since the web app translates them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnreadReason {
    /// Text recognition is not installed.
    NoRecognition,
    /// It took too long.
    TooSlow,
    /// The picture has too many pixels.
    TooLarge,
    /// The picture is damaged, or the program failed.
    Failed,
}

/// Recognizes the pages of one document.
#[derive(Debug)]
pub(crate) struct Recognition<'a> {
    recognizer: Option<&'a Recognizer>,
    deadline: Instant,
    /// The languages of the last page that could be read well.
    known: Option<String>,
    /// Whether all scripts were tried for want of a better way; that is done for one page of a document.
    has_probed: bool,
    started: Instant,
    before_page: fn(&Limits, Duration),
}

/// The script of a page, and how far it has to be turned clockwise.
struct Look {
    script: String,
    turn_degrees: u32,
}

impl<'a> Recognition<'a> {
    pub(crate) fn new(recognizer: Option<&'a Recognizer>) -> Self {
        let seconds = recognizer.map_or(0, |it| it.limits.document_seconds);
        Self {
            recognizer,
            deadline: Instant::now() + Duration::from_secs(seconds),
            known: None,
            has_probed: false,
            started: Instant::now(),
            before_page: |_, _| {},
        }
    }

    /// The same, but calls this before the picture of a page is decoded, with the time since the beginning.
    pub(crate) fn before_page(self, before_page: fn(&Limits, Duration)) -> Self {
        Self {
            before_page,
            ..self
        }
    }

    /// To be called before the picture of a page is decoded: says why it cannot be recognized.
    pub(crate) fn begin_page(&self, limits: &Limits) -> Result<(), UnreadReason> {
        if self.recognizer.is_none() {
            return Err(UnreadReason::NoRecognition);
        }
        match self.time_left() {
            Some(_) => {
                (self.before_page)(limits, self.started.elapsed());
                Ok(())
            }
            None => Err(UnreadReason::TooSlow),
        }
    }

    /// The lines of a page; none if there is no text that can be made out.
    pub(crate) fn recognize(
        &mut self,
        page: &GrayImage,
    ) -> Result<Vec<RecognizedLine>, UnreadReason> {
        let Some(recognizer) = self.recognizer else {
            return Err(UnreadReason::NoRecognition);
        };
        let installed = Languages::new(&recognizer.languages);
        let mut best = RecognizedText::default();
        // Most documents are in one script, and their pages upright.
        if let Some(known) = self.known.clone() {
            best = self.read(recognizer, page, &known)?;
            if best.confidence() >= GOOD_CONFIDENCE {
                return Ok(best.into_lines());
            }
        }
        if let Some(look) = self.look(recognizer, page) {
            let upright = turned(page, look.turn_degrees);
            let chosen = installed.of_script(&look.script);
            if let Some(chosen) = chosen.or_else(|| installed.groups().into_iter().next()) {
                let is_tried = look.turn_degrees == 0 && self.known.as_ref() == Some(&chosen);
                if !is_tried {
                    best = self.better(recognizer, best, &upright, &chosen)?;
                }
            }
        }
        if best.confidence() < GOOD_CONFIDENCE && !self.has_probed {
            self.has_probed = !best.is_empty();
            for group in installed.groups() {
                best = self.better(recognizer, best, page, &group)?;
                if best.confidence() >= GOOD_CONFIDENCE {
                    break;
                }
            }
        }
        Ok(best.into_lines())
    }

    /// The text in these languages if it is read with more confidence than `best`.
    fn better(
        &mut self,
        recognizer: &Recognizer,
        best: RecognizedText,
        page: &GrayImage,
        languages: &str,
    ) -> Result<RecognizedText, UnreadReason> {
        let other = self.read(recognizer, page, languages)?;
        if other.confidence() <= best.confidence() {
            return Ok(best);
        }
        if other.confidence() >= GOOD_CONFIDENCE {
            self.known = Some(languages.to_owned());
        }
        Ok(other)
    }

    /// Reads a page in these languages, with the second way of telling ink from paper if the first has poor results.
    fn read(
        &self,
        recognizer: &Recognizer,
        page: &GrayImage,
        languages: &str,
    ) -> Result<RecognizedText, UnreadReason> {
        let read = self.read_by(recognizer, page, languages, THRESHOLD_OF_PAGE)?;
        if read.confidence() >= GOOD_CONFIDENCE {
            return Ok(read);
        }
        let other = self.read_by(recognizer, page, languages, THRESHOLD_OF_PLACE)?;
        Ok(if other.confidence() > read.confidence() {
            other
        } else {
            read
        })
    }

    fn read_by(
        &self,
        recognizer: &Recognizer,
        page: &GrayImage,
        languages: &str,
        threshold: &str,
    ) -> Result<RecognizedText, UnreadReason> {
        let time = Duration::from_secs(recognizer.limits.page_seconds);
        let time = time.min(self.time_left().ok_or(UnreadReason::TooSlow)?);
        let (layout, parts) = match languages::layout(languages) {
            Layout::Columns => ("3", vec![Cow::Borrowed(page)]),
            Layout::OneColumn => {
                let parts = columns::split(page).into_iter();
                ("4", parts.map(Cow::Owned).collect())
            }
        };
        let arguments = arguments(&[
            "-l",
            languages,
            "--psm",
            layout,
            "-c",
            "tessedit_create_tsv=1",
            "-c",
            threshold,
        ]);
        let begun = Instant::now();
        let mut text = RecognizedText::default();
        for part in parts {
            let left = time.saturating_sub(begun.elapsed());
            let table = program::run(
                &recognizer.program,
                &arguments,
                bitmap(&part),
                left,
                PAGE_BYTES,
            );
            let table = table.map_err(|error| match error {
                RunError::TooSlow => UnreadReason::TooSlow,
                RunError::Start(_) | RunError::Failed => UnreadReason::Failed,
            })?;
            text.append(RecognizedText::of_table(&String::from_utf8_lossy(&table)));
        }
        Ok(text)
    }

    /// `None` if it is not clear, as on pages with few words.
    fn look(&self, recognizer: &Recognizer, page: &GrayImage) -> Option<Look> {
        if !recognizer.detects_script {
            return None;
        }
        let time = SCRIPT_TIME.min(self.time_left()?);
        let arguments = arguments(&["-l", SCRIPT_MODEL, "--psm", "0", "-c", THRESHOLD_OF_PLACE]);
        let told = program::run(
            &recognizer.program,
            &arguments,
            bitmap(page),
            time,
            LIST_BYTES,
        );
        let told = String::from_utf8_lossy(&told.ok()?).into_owned();
        look_of(&told)
    }

    fn time_left(&self) -> Option<Duration> {
        self.deadline.checked_duration_since(Instant::now())
    }
}

/// The arguments for a page on standard input.
fn arguments(options: &[&str]) -> Vec<String> {
    let dpi = DPI.to_string();
    ["stdin", "stdout", "--dpi", &dpi]
        .iter()
        .chain(options)
        .map(|argument| (*argument).to_owned())
        .collect()
}

/// What the program says about orientation and script, one value a line.
fn look_of(told: &str) -> Option<Look> {
    let value = |name: &str| {
        let mut lines = told.lines();
        lines.find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
    };
    let is_sure = value("Orientation confidence")?.parse::<f32>().ok()? >= TURN_CONFIDENCE;
    let turn_degrees = value("Rotate")?.parse().ok()?;
    Some(Look {
        script: value("Script")?.to_owned(),
        turn_degrees: if is_sure { turn_degrees } else { 0 },
    })
}

fn turned(page: &GrayImage, degrees: u32) -> GrayImage {
    match degrees {
        90 => imageops::rotate90(page),
        180 => imageops::rotate180(page),
        270 => imageops::rotate270(page),
        _ => page.clone(),
    }
}

/// The brightness of a colour.
pub(crate) fn gray(red: u8, green: u8, blue: u8) -> u8 {
    let sum = u32::from(red) * 299 + u32::from(green) * 587 + u32::from(blue) * 114;
    u8::try_from(sum / 1000).unwrap_or(u8::MAX)
}

/// The picture in the simplest format that the program reads.
fn bitmap(page: &GrayImage) -> Vec<u8> {
    let mut bytes = format!("P5\n{} {}\n255\n", page.width(), page.height()).into_bytes();
    bytes.extend_from_slice(page.as_raw());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orientation_and_script_are_taken_from_what_the_program_says() {
        let told = "Page number: 0\nOrientation in degrees: 270\nRotate: 90\nOrientation confidence: 17.26\n\
                    Script: Cyrillic\nScript confidence: 5.06\n";
        let look = look_of(told).unwrap();
        assert_eq!((look.script.as_str(), look.turn_degrees), ("Cyrillic", 90));
        let unsure = look_of(&told.replace("17.26", "0.40")).unwrap();
        assert_eq!(unsure.turn_degrees, 0);
        assert!(look_of("Too few characters. Skipping this page\n").is_none());
    }

    #[test]
    fn pages_are_turned_clockwise() {
        // Dark at the top left.
        let page = GrayImage::from_fn(2, 3, |x, y| image::Luma([u8::from(x + y > 0) * 255]));
        let dark = |degrees| {
            let page = turned(&page, degrees);
            let found = page.enumerate_pixels().find(|(.., pixel)| pixel.0[0] == 0);
            found.map(|(x, y, _)| (x, y, page.width(), page.height()))
        };
        assert_eq!(dark(0), Some((0, 0, 2, 3)));
        assert_eq!(dark(90), Some((2, 0, 3, 2)));
        assert_eq!(dark(180), Some((1, 2, 2, 3)));
        assert_eq!(dark(270), Some((0, 1, 3, 2)));
        assert_eq!(bitmap(&GrayImage::new(2, 1)), b"P5\n2 1\n255\n\0\0");
    }

    #[cfg(unix)]
    #[test]
    fn other_programs_are_not_taken_for_it() {
        let find = |program: &str| Recognizer::find(Path::new(program), &[]).unwrap_err();
        let missing = find("/no/such/program");
        assert!(
            matches!(&missing, NoRecognizer::Missing { program, .. } if program == "/no/such/program"),
            "{missing}"
        );
        assert!(matches!(find("/bin/echo"), NoRecognizer::Unexpected { .. }));
        assert!(matches!(find("/bin/false"), NoRecognizer::Missing { .. }));
    }

    #[test]
    fn without_the_program_and_without_time_it_says_so() {
        let page = GrayImage::new(10, 10);
        let mut none = Recognition::new(None);
        assert_eq!(
            none.begin_page(&Limits::default()),
            Err(UnreadReason::NoRecognition)
        );
        assert!(matches!(
            none.recognize(&page),
            Err(UnreadReason::NoRecognition)
        ));
        let recognizer = Recognizer {
            program: "/no/such/program".into(),
            version: String::new(),
            languages: vec!["eng".to_owned()],
            detects_script: false,
            limits: RecognitionLimits {
                page_seconds: 1,
                document_seconds: 0,
            },
        };
        assert_eq!(
            Recognition::new(Some(&recognizer)).begin_page(&Limits::default()),
            Err(UnreadReason::TooSlow)
        );
        let recognizer = recognizer.with_limits(RecognitionLimits::default());
        assert!(matches!(
            Recognition::new(Some(&recognizer)).recognize(&page),
            Err(UnreadReason::Failed)
        ));
    }
}
