//! Compares the text of PDF files with what pdftotext of Poppler finds in them: run it with folders of PDF files, and with
//! `--write FOLDER` to keep both texts. Each file is read in a process of its own, as the server does it.
#![expect(clippy::print_stdout, reason = "the output of the program")]

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use knowledge::{Limits, ReadingProcess, become_reader};
use unicode_normalization::UnicodeNormalization;

/// The part of a text that is compared: so many words in succession.
const GRAM: usize = 4;
/// Files with fewer words are not counted.
const MIN_WORDS: usize = 20;
/// A file is read as well as by pdftotext from this score on.
const GOOD: f64 = 0.92;
/// The ways in which pdftotext orders the text of a page. The one that is closest counts.
const MODES: [&[&str]; 3] = [&[], &["-layout"], &["-raw"]];

fn main() -> ExitCode {
    if let Some(code) = become_reader() {
        return code;
    }
    let mut folders: Vec<PathBuf> = Vec::new();
    let mut written = None;
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--write" {
            written = arguments.next().map(PathBuf::from);
        } else {
            folders.push(argument.into());
        }
    }
    let Ok(program) = std::env::current_exe() else {
        return ExitCode::FAILURE;
    };
    let reading = ReadingProcess::new(program);
    let mut all = Sum::default();
    for folder in &folders {
        let mut sum = Sum::default();
        for file in files(folder) {
            sum.add(&compare(&reading, &file, written.as_deref()));
        }
        sum.print(&folder.display().to_string());
        all.join(sum);
    }
    all.print("all");
    ExitCode::SUCCESS
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|it| it == "pdf"))
        .collect();
    files.sort();
    files
}

/// The result for a file.
struct Compared {
    /// `None` if pdftotext finds hardly any words.
    score: Option<f64>,
    time: Duration,
    pages: usize,
}

/// The scores of several files.
#[derive(Default)]
struct Sum {
    scores: Vec<f64>,
    time: Duration,
    pages: usize,
}

impl Sum {
    fn add(&mut self, compared: &Compared) {
        self.scores.extend(compared.score);
        self.time += compared.time;
        self.pages += compared.pages;
    }

    fn join(&mut self, other: Self) {
        self.scores.extend(other.scores);
        self.time += other.time;
        self.pages += other.pages;
    }

    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn print(&self, name: &str) {
        let good = self.scores.iter().filter(|score| **score >= GOOD).count();
        let count = self.scores.len().max(1) as f64;
        println!(
            "{name}: {good} of {} files, {:.3}; mean {:.3}; {:.0} pages/s",
            self.scores.len(),
            good as f64 / count,
            self.scores.iter().sum::<f64>() / count,
            self.pages as f64 / self.time.as_secs_f64().max(1e-9),
        );
    }
}

fn compare(reading: &ReadingProcess, file: &Path, written: Option<&Path>) -> Compared {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let bytes = std::fs::read(file).unwrap_or_default();
    let begun = Instant::now();
    let document = reading.read(&name, &bytes, &Limits::default());
    let time = begun.elapsed();
    let pages = document.as_ref().map_or(0, |document| document.pages.len());
    let text = document
        .as_ref()
        .map_or("", |document| document.text.as_str());
    let read = words(text);
    let mut best: Option<f64> = None;
    let mut reference = String::new();
    for mode in MODES {
        let other = pdftotext(file, mode);
        let wanted = words(&other);
        if wanted.len() < MIN_WORDS {
            continue;
        }
        let score = f1(&read, &wanted);
        if best.is_none_or(|best| score > best) {
            best = Some(score);
            reference = other;
        }
    }
    if let Some(folder) = written {
        let put = |ending: &str, text: &str| {
            _ = std::fs::write(folder.join(format!("{name}.{ending}")), text);
        };
        put("txt", text);
        put("ref", &reference);
    }
    let shown = best.map_or_else(|| "-".to_owned(), |score| format!("{score:.3}"));
    let error = document.err().map(|why| why.to_string());
    println!(
        "{shown}\t{}\t{}\t{}",
        time.as_millis(),
        file.display(),
        error.unwrap_or_default()
    );
    Compared {
        score: best,
        time,
        pages,
    }
}

fn pdftotext(file: &Path, mode: &[&str]) -> String {
    // Some test files keep it busy for hours.
    let output = Command::new("timeout")
        .args(["20", "pdftotext"])
        .args(mode)
        .args(["-enc", "UTF-8"])
        .arg(file)
        .arg("-")
        .output();
    output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}

/// The words of a text; each character of a script without spaces is one.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut follows_hyphen = false;
    for char in text.nfkc() {
        let is_unspaced = matches!(char, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
        if char.is_alphanumeric() && !is_unspaced {
            word.push(char);
            follows_hyphen = false;
            continue;
        }
        // Whether a hyphen at the end of a line is a part of the word, programs can only guess; accents may be apart.
        let is_hyphen = matches!(char, '-' | '\u{ad}' | '\u{2010}');
        let is_joined = follows_hyphen && char.is_whitespace();
        follows_hyphen = is_hyphen || is_joined;
        if follows_hyphen || matches!(char, '\u{300}'..='\u{36f}') {
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if is_unspaced && char.is_alphanumeric() {
            words.push(char.to_string());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The harmonic mean of precision and recall of the words in succession.
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn f1(read: &[String], wanted: &[String]) -> f64 {
    let mut counts: HashMap<&[String], i64> = HashMap::new();
    for gram in wanted.windows(GRAM) {
        *counts.entry(gram).or_default() += 1;
    }
    let mut same = 0;
    for gram in read.windows(GRAM) {
        if let Some(left) = counts.get_mut(gram).filter(|left| **left > 0) {
            *left -= 1;
            same += 1;
        }
    }
    let total = read.windows(GRAM).len() + wanted.windows(GRAM).len();
    2.0 * f64::from(same) / (total as f64).max(1.0)
}
