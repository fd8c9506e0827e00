//! Autocompletion with a real, small model while texts are typed at human speed: the latency of suggestions, and the
//! number of wasted calls. It simulates the page's field, which waits for a pause, shows a suggestion while it streams,
//! caches it, and cancels it at the next key that deviates.

use std::{path::Path, time::Duration};

use serde_json::{Value, json};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::start;
use crate::{
    client::Client,
    passed_on::PassedOn,
    program::Program,
    table::{Aim, percentile, print},
    turns::row,
};

/// The page's values (`web/src/state/completion.svelte.ts`).
const REST: Duration = Duration::from_millis(180);
const REST_IN_WORD: Duration = Duration::from_millis(400);
const MIN_CHARS: usize = 4;
/// Median time between two keystrokes: about 80 words per minute.
const KEY_S: f64 = 0.15;
/// The standard deviation of its logarithm.
const SPREAD: f64 = 0.4;
/// The typist looks up after every third word.
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

/// The results of typing.
#[derive(Default)]
struct Seen {
    /// Time from the last keystroke before a look to the first suggested word if a model was called, milliseconds.
    offered: Vec<f64>,
    looks: u32,
    /// Looks at a cached suggestion.
    known: u32,
    calls: u32,
    /// Calls cancelled by the next keystroke.
    given_up: u32,
    /// Cancelled calls of which nothing was shown.
    unseen: u32,
    /// Calls without a suggestion.
    empty: u32,
    /// The suggestions shown.
    shown: Vec<String>,
}

pub(super) async fn measure(program: &Path, base_url: &str, quick: bool) -> anyhow::Result<()> {
    let passed_on = PassedOn::start(base_url).await?;
    let program = start(program, &passed_on.base_url(), &["AUTOCOMPLETE"])?;
    let model = program.first_model().await?;
    let mut seen = Seen::default();
    let mut dice = Dice(7);
    for text in TEXTS.iter().step_by(if quick { 4 } else { 1 }) {
        let mut field = Field {
            program: &program,
            model: &model,
            known: Vec::new(),
            asked: None,
        };
        field.write(text, &mut dice, &mut seen).await?;
        tell(text, &field.known);
    }
    // Some servers complete cancelled calls.
    sleep(Duration::from_secs(1)).await;
    let written = passed_on.tokens().await?.output;
    let mut shown = 0;
    for ghost in &seen.shown {
        shown += passed_on.count(ghost).await?;
    }
    #[expect(clippy::cast_precision_loss, reason = "some thousands")]
    let written = written as f64;
    let shown = shown as f64;
    print(
        "Autocomplete by a real, small model, at 80 words a minute with a look after each third word",
        &[
            row(
                "from the last key to the first word that is offered, p50",
                percentile(&mut seen.offered, 0.5),
                "ms",
                Some(Aim::AtMost(300.0)),
            ),
            row(
                "the same, p90",
                percentile(&mut seen.offered, 0.9),
                "ms",
                None,
            ),
            row("looks", seen.looks.into(), "", None),
            row(
                "of them at what was offered before",
                seen.known.into(),
                "",
                None,
            ),
            row("calls", seen.calls.into(), "", None),
            row(
                "of them given up for the next key",
                seen.given_up.into(),
                "",
                None,
            ),
            row(
                "of these before a word was shown",
                seen.unseen.into(),
                "",
                None,
            ),
            row("of them with nothing to offer", seen.empty.into(), "", None),
            row("tokens written", written, "", None),
            row(
                "of them never shown",
                100.0 * (1.0 - shown / written.max(1.0)),
                "%",
                Some(Aim::AtMost(20.0)),
            ),
        ],
    );
    Ok(())
}

/// The message field of the page.
struct Field<'a> {
    program: &'a Program,
    model: &'a str,
    /// Cached texts with their suggestions.
    known: Vec<Offer>,
    asked: Option<Asked>,
}

struct Offer {
    typed: String,
    ghost: String,
}

impl Offer {
    /// Whether a typed text follows the suggestion.
    fn goes_on(&self, typed: &str) -> bool {
        typed.starts_with(&self.typed) && format!("{}{}", self.typed, self.ghost).starts_with(typed)
    }
}

/// A suggestion that is being streamed.
struct Asked {
    /// A separate client, since cancelling a call closes its connection.
    client: Client,
    offer: Offer,
    /// The JSON received so far.
    json: String,
    pressed: Instant,
    looks: bool,
}

impl Field<'_> {
    async fn write(&mut self, text: &str, dice: &mut Dice, seen: &mut Seen) -> anyhow::Result<()> {
        let mut typed = String::new();
        let mut words = 0;
        for letter in text.chars() {
            typed.push(letter);
            words += usize::from(letter == ' ');
            let looks = letter == ' ' && words % LOOK_EVERY == 0;
            let pressed = Instant::now();
            let next = pressed + if looks { LOOK } else { dice.key() };
            seen.looks += u32::from(looks);
            let rest = if letter.is_alphanumeric() {
                REST_IN_WORD
            } else {
                REST
            };
            if let Some(overtaken) = self.asked.take_if(|asked| !asked.offer.goes_on(&typed)) {
                seen.given_up += 1;
                seen.unseen += u32::from(overtaken.offer.ghost.is_empty());
                self.keep(overtaken.offer, seen);
            }
            let is_known = self.known.iter().any(|offer| offer.goes_on(&typed));
            if is_known || self.asked.is_some() {
                seen.known += u32::from(looks);
            } else if typed.trim().chars().count() >= MIN_CHARS && pressed + rest < next {
                sleep_until(pressed + rest).await;
                self.ask(&typed, pressed, looks, seen).await?;
            }
            self.read_until(next, seen).await?;
        }
        if let Some(left) = self.asked.take() {
            self.keep(left.offer, seen);
        }
        Ok(())
    }

    async fn ask(
        &mut self,
        typed: &str,
        pressed: Instant,
        looks: bool,
        seen: &mut Seen,
    ) -> anyhow::Result<()> {
        seen.calls += 1;
        let body = json!({"model": self.model, "prompt": typed, "type": "chat", "stream": true});
        let mut client = Client::connect(self.program.address).await?;
        client
            .begin("POST", "/api/v1/tasks/auto/completions", &body.to_string())
            .await?;
        let offer = Offer {
            typed: typed.to_owned(),
            ghost: String::new(),
        };
        self.asked = Some(Asked {
            client,
            offer,
            json: String::new(),
            pressed,
            looks,
        });
        Ok(())
    }

    /// Reads what arrives before the next keystroke.
    async fn read_until(&mut self, next: Instant, seen: &mut Seen) -> anyhow::Result<()> {
        while let Some(asked) = &mut self.asked {
            let Ok(line) = timeout_at(next, asked.client.take_line()).await else {
                return Ok(());
            };
            let line = line?;
            let failed = line.starts_with("HTTP/1.1 ") && !line.starts_with("HTTP/1.1 2");
            anyhow::ensure!(!failed, "a completion answered {line}");
            let Some(data) = line.strip_prefix("data: ") else {
                continue;
            };
            if data == "[DONE]" {
                seen.empty += u32::from(asked.offer.ghost.is_empty());
                if let Some(ended) = self.asked.take() {
                    self.keep(ended.offer, seen);
                }
                break;
            }
            let chunk: Value = serde_json::from_str(data)?;
            anyhow::ensure!(
                chunk["error"].is_null(),
                "a completion failed: {}",
                chunk["error"]
            );
            asked.json.push_str(
                chunk["choices"][0]["delta"]["content"]
                    .as_str()
                    .unwrap_or_default(),
            );
            let was_empty = asked.offer.ghost.is_empty();
            asked.offer.ghost = so_far(&asked.json);
            if was_empty && !asked.offer.ghost.is_empty() && asked.looks {
                seen.offered
                    .push(asked.pressed.elapsed().as_secs_f64() * 1000.0);
            }
        }
        sleep_until(next).await;
        Ok(())
    }

    fn keep(&mut self, offer: Offer, seen: &mut Seen) {
        if !offer.ghost.is_empty() {
            seen.shown.push(offer.ghost.clone());
        }
        self.known.push(offer);
    }
}

/// The text of `{"text":"…"}`, whose end may be missing.
fn so_far(json: &str) -> String {
    let whole = |json: &str| serde_json::from_str::<Value>(json).ok();
    let read = whole(json).or_else(|| whole(&format!("{json}\"}}")));
    read.and_then(|read| read["text"].as_str().map(str::to_owned))
        .unwrap_or_default()
}

#[expect(clippy::print_stdout, reason = "a benchmark prints")]
fn tell(text: &str, offers: &[Offer]) {
    println!("  {text}");
    for Offer { typed, ghost } in offers.iter().filter(|offer| !offer.ghost.is_empty()) {
        println!("    {typed}|{ghost}");
    }
}

/// A deterministic random generator.
struct Dice(u64);

impl Dice {
    /// Time between two keystrokes: log-normal around the median.
    fn key(&mut self) -> Duration {
        let sum: f64 = (0..6).map(|_| self.next()).sum();
        // The sum of six uniform numbers is approximately normal with mean three.
        Duration::from_secs_f64(KEY_S * (SPREAD * (sum - 3.0) * 2.0_f64.sqrt()).exp())
    }

    /// A number from 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let top = (self.0 >> 11) as f64;
        top / 9_007_199_254_740_992.0
    }
}
