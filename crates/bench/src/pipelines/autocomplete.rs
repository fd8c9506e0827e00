//! Texts typed at a person's speed beside a real, small model: how soon it is offered how they go on, and what is asked in vain.
//! The typing is that of the page's field: it rests a moment, remembers what was offered, and gives up what the next key
//! overtakes.

use std::{path::Path, time::Duration};

use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::{ask_task, start};
use crate::{
    client::Client,
    passed_on::PassedOn,
    program::Program,
    table::{Aim, percentile, print},
    turns::row,
};

/// As the page has them (`web/src/state/completion.svelte.ts`).
const REST: Duration = Duration::from_millis(150);
const REST_IN_WORD: Duration = Duration::from_millis(400);
const LEAST_CHARS: usize = 4;
/// Between two keys, median: about 80 words a minute.
const KEY_S: f64 = 0.15;
/// How far from it most are.
const SPREAD: f64 = 0.4;
/// Somebody looks up after every third word.
const LOOK: Duration = Duration::from_millis(1_500);
const LOOK_EVERY: usize = 3;

const TEXTS: [&str; 12] = [
    "Can you explain how photosynthesis works and why leaves are green?",
    "Write a short email to my landlord about the broken heating in my flat.",
    "What is the difference between a process and a thread in an operating system?",
    "Please summarise the main causes of the First World War in three sentences.",
    "How do I reverse a linked list in Python without using extra memory?",
    "Suggest five cheap vegetarian dinners that can be cooked in half an hour.",
    "Translate the following sentence into German and explain the grammar.",
    "What should I pack for a week of hiking in the mountains in autumn?",
    "Напиши поздравление с днём рождения для моей бабушки в стихах.",
    "Объясни простыми словами, как работает двигатель внутреннего сгорания.",
    "Какие книги стоит прочитать, чтобы лучше понимать экономику?",
    "Составь план тренировок на неделю для начинающего бегуна.",
];

/// What came of typing.
#[derive(Default)]
struct Seen {
    /// From the last key before a look to what was offered, where a model was asked, milliseconds.
    offered: Vec<f64>,
    looks: u32,
    /// Looks at something that was known already.
    known: u32,
    calls: u32,
    given_up: u32,
    /// Calls that offered nothing.
    empty: u32,
    /// Tokens that were written for what was offered.
    useful: f64,
}

pub(super) async fn measure(program: &Path, base_url: &str, quick: bool) -> anyhow::Result<()> {
    let passed_on = PassedOn::start(base_url).await?;
    let program = start(program, &passed_on.base_url(), &["AUTOCOMPLETE"])?;
    let model = program.first_model().await?;
    let mut seen = Seen::default();
    let mut dice = Dice(7);
    for text in TEXTS.iter().step_by(if quick { 4 } else { 1 }) {
        let mut field = Field { program: &program, model: &model, known: Vec::new(), offered: Vec::new() };
        field.write(text, &mut dice, &mut seen).await?;
        tell(text, &field.offered);
    }
    // What was given up is written to its end by some servers.
    sleep(Duration::from_secs(1)).await;
    #[expect(clippy::cast_precision_loss, reason = "some thousands")]
    let written = passed_on.tokens().await?.output as f64;
    print(
        "Autocomplete by a real, small model, at 80 words a minute with a look after each third word",
        &[
            row(
                "from the last key to what is offered, p50",
                percentile(&mut seen.offered, 0.5),
                "ms",
                Some(Aim::AtMost(300.0)),
            ),
            row("the same, p90", percentile(&mut seen.offered, 0.9), "ms", None),
            row("looks", seen.looks.into(), "", None),
            row("of them at what was offered before", seen.known.into(), "", None),
            row("calls", seen.calls.into(), "", None),
            row("of them given up for the next key", seen.given_up.into(), "", None),
            row("of them with nothing to offer", seen.empty.into(), "", None),
            row("tokens written", written, "", None),
            row(
                "of them never shown",
                100.0 * (1.0 - seen.useful / written.max(1.0)),
                "%",
                Some(Aim::AtMost(20.0)),
            ),
        ],
    );
    Ok(())
}

/// The message field of a page.
struct Field<'a> {
    program: &'a Program,
    model: &'a str,
    /// Texts, and what would follow.
    known: Vec<(String, String)>,
    /// For the eye.
    offered: Vec<String>,
}

impl Field<'_> {
    async fn write(&mut self, text: &str, dice: &mut Dice, seen: &mut Seen) -> anyhow::Result<()> {
        let (mut typed, mut words) = (String::new(), 0);
        for letter in text.chars() {
            typed.push(letter);
            words += usize::from(letter == ' ');
            let looks = letter == ' ' && words % LOOK_EVERY == 0;
            let pressed = Instant::now();
            let next = pressed + if looks { LOOK } else { dice.key() };
            seen.looks += u32::from(looks);
            let rest = if letter.is_alphanumeric() { REST_IN_WORD } else { REST };
            if self.known.iter().any(|(before, ghost)| goes_on(before, ghost, &typed)) {
                seen.known += u32::from(looks);
            } else if typed.trim().chars().count() >= LEAST_CHARS && pressed + rest < next {
                sleep_until(pressed + rest).await;
                self.ask(&typed, (pressed, next), looks, seen).await?;
            }
            sleep_until(next).await;
        }
        Ok(())
    }

    async fn ask(
        &mut self,
        typed: &str,
        (pressed, next): (Instant, Instant),
        looks: bool,
        seen: &mut Seen,
    ) -> anyhow::Result<()> {
        seen.calls += 1;
        let body = json!({"model": self.model, "prompt": typed, "type": "chat"});
        // Of its own: a call that is given up takes its connection along.
        let mut client = Client::connect(self.program.address).await?;
        let Ok(answer) = timeout_at(next, ask_task(&mut client, "auto", &body)).await else {
            seen.given_up += 1;
            return Ok(());
        };
        let (_, said, tokens) = answer?;
        let ghost = said["text"].as_str().unwrap_or_default().to_owned();
        if ghost.is_empty() {
            seen.empty += 1;
        } else {
            seen.useful += tokens;
            self.offered.push(format!("{typed}|{ghost}"));
            if looks {
                seen.offered.push(pressed.elapsed().as_secs_f64() * 1000.0);
            }
        }
        self.known.push((typed.to_owned(), ghost));
        Ok(())
    }
}

/// Whether a text is on the way of what was offered before.
fn goes_on(before: &str, ghost: &str, typed: &str) -> bool {
    typed.starts_with(before) && format!("{before}{ghost}").starts_with(typed)
}

#[expect(clippy::print_stdout, reason = "a benchmark prints")]
fn tell(text: &str, offered: &[String]) {
    println!("  {text}\n    {}", offered.join("\n    "));
}

/// Times that are the same in each run.
struct Dice(u64);

impl Dice {
    /// Between two keys: around the median, more often a little less, now and then much more.
    fn key(&mut self) -> Duration {
        let sum: f64 = (0..6).map(|_| self.next()).sum();
        // Six even numbers together lie around three as a normal one would.
        Duration::from_secs_f64(KEY_S * (SPREAD * (sum - 3.0) * 2.0_f64.sqrt()).exp())
    }

    /// 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let top = (self.0 >> 11) as f64;
        top / 9_007_199_254_740_992.0
    }
}
