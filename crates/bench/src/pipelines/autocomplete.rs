//! Texts typed at a person's speed beside a real, small model: how soon it is offered how they go on, and what is asked in vain.
//! The typing is that of the page's field: it rests a moment, shows what is offered as it is written, remembers it, and gives it up
//! at the next key that goes another way.

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

/// As the page has them (`web/src/state/completion.svelte.ts`).
const REST: Duration = Duration::from_millis(180);
const REST_IN_WORD: Duration = Duration::from_millis(400);
const MIN_CHARS: usize = 4;
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
    /// From the last key before a look to the first word that was offered, where a model was asked, milliseconds.
    offered: Vec<f64>,
    looks: u32,
    /// Looks at something that was known already.
    known: u32,
    calls: u32,
    /// Calls that the next key has overtaken.
    given_up: u32,
    /// Those of them of which nothing was shown.
    unseen: u32,
    /// Calls that offered nothing.
    empty: u32,
    /// What was offered.
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
    // What was given up is written to its end by some servers.
    sleep(Duration::from_secs(1)).await;
    let written = passed_on.tokens().await?.output;
    let mut shown = 0;
    for ghost in &seen.shown {
        shown += passed_on.count(ghost).await?;
    }
    #[expect(clippy::cast_precision_loss, reason = "some thousands")]
    let (written, shown) = (written as f64, shown as f64);
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

/// The message field of a page.
struct Field<'a> {
    program: &'a Program,
    model: &'a str,
    /// Texts, and what would follow.
    known: Vec<Offer>,
    asked: Option<Asked>,
}

struct Offer {
    typed: String,
    ghost: String,
}

impl Offer {
    /// Whether a text is on the way of it.
    fn goes_on(&self, typed: &str) -> bool {
        typed.starts_with(&self.typed) && format!("{}{}", self.typed, self.ghost).starts_with(typed)
    }
}

/// An offer that is being written.
struct Asked {
    /// Of its own: a call that is given up takes its connection along.
    client: Client,
    offer: Offer,
    /// The JSON so far.
    json: String,
    pressed: Instant,
    looks: bool,
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

    /// Reads what comes before the next key.
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

/// The text of `{"text":"…"}`, the end of which may not have come yet.
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
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let top = (self.0 >> 11) as f64;
        top / 9_007_199_254_740_992.0
    }
}
