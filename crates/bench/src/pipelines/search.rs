//! Search among 100,000 messages of one person in two languages: rare words, very frequent words, several words, and
//! prefixes.

use std::{fmt::Write as _, path::Path, time::Duration};

use anyhow::{Context, ensure};
use tokio::time::Instant;

use crate::{
    client::Client,
    program::{Program, Setup},
    table::{Aim, percentile, print},
    turns::row,
};

const CHATS: usize = 1_000;
/// Messages per chat.
const MESSAGES: usize = 100;
/// Words per message, and number of different words.
const WORDS: usize = 60;
const VOCABULARY: usize = 40_000;
/// In the oldest message, which becomes searchable last.
const LAST: &str = "quincunx";
const AT_MS: i64 = 1_780_000_000_000;

pub(crate) async fn measure(program: &Path, quick: bool) -> anyhow::Result<()> {
    let chats = if quick { CHATS / 20 } else { CHATS };
    let program = Program::start(Setup {
        program,
        upstream: None,
        data_dir: None,
        environment: &[],
    })?;
    let mut client = Client::connect(program.address).await?;
    let mut dice = Dice(7);
    let (import_ms, report) = client
        .call("POST", "/api/v1/me/import", &messages(chats, &mut dice))
        .await?;
    let report = String::from_utf8_lossy(&report).into_owned();
    ensure!(
        report.contains(&format!("\"messages\":{}", chats * MESSAGES)),
        "not all came in: {report}"
    );
    let began = Instant::now();
    while !found(&mut client, LAST).await?.1.contains(LAST) {
        ensure!(
            began.elapsed() < Duration::from_secs(1_800),
            "the messages do not become searchable"
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let fill_s = began.elapsed().as_secs_f64();

    let mut all = Vec::new();
    let mut of_kind = Vec::new();
    for kind in KINDS {
        let mut times = Vec::new();
        for _ in 0..if quick { 20 } else { 400 } {
            let (ms, answer) = found(&mut client, &kind.question(&mut dice)).await?;
            ensure!(answer.contains("\"hits\""), "no answer: {answer}");
            times.push(ms);
        }
        all.extend_from_slice(&times);
        of_kind.push(row(kind.name(), percentile(&mut times, 0.99), "ms", None));
    }
    let (mb, _) = program.process.memory_mb()?;
    let mut rows = vec![
        row("all kinds, p50", percentile(&mut all, 0.5), "ms", None),
        row(
            "all kinds, p99",
            percentile(&mut all, 0.99),
            "ms",
            Some(Aim::AtMost(30.0)),
        ),
    ];
    rows.extend(of_kind);
    rows.push(row("importing them", import_ms / 1_000.0, "s", None));
    rows.push(row(
        "until all are searchable, beside that",
        fill_s,
        "s",
        None,
    ));
    rows.push(row("memory after that", mb, "MB", None));
    let title = format!(
        "Search over {} messages (GET /api/v1/chats/search, SQLite)",
        chats * MESSAGES
    );
    print(&title, &rows);
    Ok(())
}

/// The kind of query.
#[derive(Clone, Copy)]
enum Kind {
    Rare,
    Common,
    TwoCommon,
    CommonAndRare,
    Beginning,
}

const KINDS: [Kind; 5] = [
    Kind::Rare,
    Kind::Common,
    Kind::TwoCommon,
    Kind::CommonAndRare,
    Kind::Beginning,
];

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Rare => "a rare word, p99",
            Self::Common => "a word that most messages have, p99",
            Self::TwoCommon => "two of those, p99",
            Self::CommonAndRare => "one of those and a rare one, p99",
            Self::Beginning => "three letters, p99",
        }
    }

    fn question(self, dice: &mut Dice) -> String {
        let mut rare = || word(VOCABULARY / 2 + dice.below(VOCABULARY / 2));
        match self {
            Self::Rare => rare() + " ",
            Self::Common => word(dice.below(20)) + " ",
            Self::TwoCommon => format!("{} {} ", word(dice.below(20)), word(20 + dice.below(20))),
            Self::CommonAndRare => format!("{} {} ", rare(), word(dice.below(20))),
            Self::Beginning => word(dice.below(VOCABULARY)).chars().take(3).collect(),
        }
    }
}

async fn found(client: &mut Client, question: &str) -> anyhow::Result<(f64, String)> {
    let mut path = String::from("/api/v1/chats/search?query=");
    for byte in question.bytes() {
        write!(path, "%{byte:02X}")?;
    }
    let (ms, answer) = client.call("GET", &path, "").await.context("searching")?;
    Ok((ms, String::from_utf8_lossy(&answer).into_owned()))
}

/// An export with this many chats. The last digits of ids differ on this server, so the distinguishing digits are
/// before them.
fn messages(chats: usize, dice: &mut Dice) -> String {
    let mut lines = String::from(
        "{\"glasshouse_export\":{\"format\":1,\"version\":\"0.1.0\",\"made_at\":0}}\n",
    );
    let mut count = 1;
    for chat in 0..chats {
        let at = AT_MS + 100_000 * i64::try_from(chat).unwrap_or_default();
        // Writing to a String does not fail.
        _ = writeln!(
            lines,
            "{{\"chat\":{{\"id\":\"chat_{chat:024x}00000000\",\"title\":\"{} {}\",\"created_at\":{at},\"updated_at\":{at}}}}}",
            word(dice.below(VOCABULARY)),
            word(dice.below(VOCABULARY)),
        );
        for place in 0..MESSAGES {
            let number = chat * MESSAGES + place;
            let parent = match place {
                0 => "null".to_owned(),
                _ => format!("\"msg_{:024x}00000000\"", number - 1),
            };
            let role = if place % 2 == 0 { "user" } else { "assistant" };
            let mut text = if number == 0 {
                format!("{LAST} ")
            } else {
                String::new()
            };
            for _ in 0..WORDS {
                // As in natural language, the most frequent words make up half of the text.
                text += &word(dice.rank());
                text.push(' ');
            }
            _ = writeln!(
                lines,
                "{{\"message\":{{\"id\":\"msg_{number:024x}00000000\",\"chat\":\"chat_{chat:024x}00000000\",\"parent\":{parent},\"role\":\"{role}\",\
                 \"content\":[{{\"type\":\"text\",\"text\":\"{}\"}}],\"created_at\":{}}}}}",
                text.trim_end(),
                at + 1_000 * i64::try_from(place).unwrap_or_default(),
            );
        }
        count += 1 + MESSAGES;
    }
    _ = writeln!(lines, "{{\"end\":{{\"lines\":{count}}}}}");
    lines
}

/// The word of this rank, made of syllables; every other one is in Cyrillic.
fn word(rank: usize) -> String {
    const LATIN: [&str; 16] = [
        "ka", "lo", "mi", "ne", "ru", "so", "ti", "va", "ze", "bo", "du", "fa", "gi", "ho", "ju",
        "pe",
    ];
    const CYRILLIC: [&str; 16] = [
        "ка", "ло", "ми", "не", "ру", "со", "ти", "ва", "зе", "бо", "ду", "фа", "ги", "хо", "жу",
        "пе",
    ];
    let syllables = if rank.is_multiple_of(2) {
        LATIN
    } else {
        CYRILLIC
    };
    let mut word = String::new();
    let mut rest = rank + 300;
    while rest > 0 {
        word += syllables[rest % 16];
        rest /= 16;
    }
    word
}

/// A deterministic random generator.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next()).unwrap_or_default() % most
    }

    /// A word's rank: twice the rank is about half as frequent.
    fn rank(&mut self) -> usize {
        let most = 1 << (1 + self.below(15));
        self.below(most.min(VOCABULARY))
    }
}
