//! A hundred titles by a real, small model: the share that follows the rules, as checked by this file.

use std::path::Path;

use anyhow::Context;
use serde_json::{Value, json};

use super::{ask_task, seen, start};
use crate::{
    client::Client,
    table::{Aim, percentile, print},
    turns::row,
};

/// Subjects and opening phrases, combined with each other.
const SUBJECTS: [&str; 20] = [
    "sourdough bread",
    "the French Revolution",
    "a noisy washing machine",
    "Rust lifetimes",
    "growing tomatoes",
    "black holes",
    "a job interview",
    "Japanese train passes",
    "stage fright",
    "compound interest",
    "выпечка хлеба",
    "история Москвы",
    "уход за кошкой",
    "язык программирования Python",
    "домашние растения",
    "чёрные дыры",
    "собеседование на работу",
    "поездка на Байкал",
    "бессонница",
    "ипотека",
];
const ENGLISH: [&str; 5] = [
    "What should I know about {}?",
    "Explain {} to me as if I were ten.",
    "I have read a lot about {} and still do not understand it. Where do I begin?",
    "Write a short text for my website. Subject: {}.",
    "{}: what are the most common mistakes?",
];
const RUSSIAN: [&str; 5] = [
    "Расскажи, что важно знать. Тема: {}.",
    "Объясни простыми словами: {}.",
    "Я много читал, но всё равно не понимаю. С чего начать? Тема: {}.",
    "Напиши короткий текст для сайта. Тема: {}.",
    "{}: какие ошибки делают чаще всего?",
];
const WORDS: std::ops::RangeInclusive<usize> = 3..=5;
const ANSWER_TOKENS: u32 = 100;

pub(super) async fn measure(program: &Path, base_url: &str, quick: bool) -> anyhow::Result<()> {
    let program = start(program, base_url, &["TITLE"])?;
    let model = program.first_model().await?;
    let mut client = Client::connect(program.address).await?;
    let mut times = Vec::new();
    let mut keep = 0_u32;
    let mut of = 0_u32;
    for (place, subject) in SUBJECTS.iter().enumerate() {
        if quick && place % 10 != 0 {
            continue;
        }
        let is_english = place < SUBJECTS.len() / 2;
        for form in if is_english { ENGLISH } else { RUSSIAN } {
            let question = form.replace("{}", subject);
            let answer = answer(&mut client, &model, &question).await?;
            let body = json!({"model": model, "messages": [
                {"role": "user", "content": question}, {"role": "assistant", "content": answer},
            ]});
            let (ms, written, _) = ask_task(&mut client, "title", &body).await?;
            let title = written["title"].as_str().unwrap_or_default();
            let fits = keeps_rules(title, &question);
            times.push(ms);
            keep += u32::from(fits);
            of += 1;
            if !fits {
                tell(&question, title);
            }
        }
    }
    let seen = seen(&mut client, "title").await?;
    let share = f64::from(keep) / f64::from(of) * 100.0;
    let title = format!("{of} titles by a real, small model");
    print(
        &title,
        &[
            row("keep to the rules", share, "%", Some(Aim::AtLeast(95.0))),
            row("a title, p50", percentile(&mut times, 0.5), "ms", None),
            row(
                "calls that failed",
                seen["failed"].as_f64().unwrap_or(f64::NAN),
                "",
                None,
            ),
        ],
    );
    Ok(())
}

/// The beginning of the model's answer, since in a chat the title follows it.
async fn answer(client: &mut Client, model: &str, question: &str) -> anyhow::Result<String> {
    let body = json!({"model": model, "messages": [{"role": "user", "content": question}],
        "max_tokens": ANSWER_TOKENS});
    let (_, answer) = client
        .call("POST", "/v1/chat/completions", &body.to_string())
        .await?;
    let answer: Value = serde_json::from_slice(&answer)?;
    let text = answer["choices"][0]["message"]["content"].as_str();
    Ok(text.context("the model does not answer")?.to_owned())
}

/// One emoji, and 3 to 5 words in the script of the question that are not simply its first words.
fn keeps_rules(title: &str, question: &str) -> bool {
    let mut words = title.split_whitespace();
    let Some(emoji) = words.next() else {
        return false;
    };
    let rest: Vec<&str> = words.collect();
    let rest_text = rest.join(" ");
    let is_cyrillic = |text: &str| text.chars().any(|c| ('а'..='я').contains(&c));
    // The fallback without a model has no emoji.
    !emoji.chars().any(char::is_alphanumeric)
        && WORDS.contains(&rest.len())
        && rest
            .iter()
            .any(|word| word.chars().any(char::is_alphabetic))
        && (!is_cyrillic(question) || is_cyrillic(&rest_text))
        && (is_cyrillic(question) || !is_cyrillic(&rest_text))
}

#[expect(clippy::print_stdout, reason = "a benchmark prints")]
fn tell(question: &str, title: &str) {
    println!("  no title: {title:?} for {question:?}");
}
