//! Calls a model, with one retry if its answer cannot be used.

use std::time::Duration;

use domain::{LocalizedText, Message, Role, Usage};
use llm::ModelError;
use serde_json::Value;

use crate::one_shot::{self, Effort, OneShot};

/// Number of characters of an unusable answer that are shown to the model on retry.
const SHOWN_CHARS: usize = 1_000;

/// Limits on output and time.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Maximum length of the answer.
    pub output_tokens: u64,
    /// Time limit per attempt.
    pub patience: Duration,
    /// Whether a second attempt is made, with the error of the first.
    pub repair: bool,
}

/// The result of a call.
#[derive(Debug)]
pub struct Asked<T> {
    /// The parsed answer; `None` if no answer could be used.
    pub read: Option<T>,
    /// The error in the last answer, if it could not be used.
    pub fault: Option<LocalizedText>,
    /// Tokens of all attempts.
    pub usage: Usage,
    /// The number of attempts.
    pub tries: u32,
}

fn effort(bounds: Bounds, enough: fn(&str, Duration) -> Option<usize>) -> Effort {
    Effort {
        output_tokens: bounds.output_tokens,
        patience: bounds.patience,
        thinks: false,
        enough,
    }
}

/// Has a model continue a text ([`llm::ChatModel::continuing`]) until `enough` returns a number of bytes for the time
/// elapsed. `heard` receives the text so far; `read` is as for [`ask`].
///
/// # Errors
/// If the model's server does not answer, or does not support it.
pub async fn continue_text<T>(
    model: OneShot<'_>,
    text: String,
    enough: fn(&str, Duration) -> Option<usize>,
    bounds: Bounds,
    heard: impl FnMut(&str),
    read: impl FnOnce(&str) -> Result<T, (LocalizedText, Option<T>)>,
) -> Result<Asked<T>, ModelError> {
    let messages = [Message::text(Role::User, text)];
    let effort = effort(bounds, enough);
    let (text, usage) = one_shot::answer_heard(model, &messages, None, effort, heard).await?;
    let (read, fault) = match read(&text) {
        Ok(whole) => (Some(whole), None),
        Err((fault, part)) => (part, Some(fault)),
    };
    Ok(Asked {
        read,
        fault,
        usage,
        tries: 1,
    })
}

/// Requests an answer in this form, if any, without reasoning if the model's server can turn it off. `read` returns the
/// error in an answer, worded for the model, with the usable part of it.
///
/// # Errors
/// If the model's server does not answer.
pub async fn ask<T>(
    model: OneShot<'_>,
    prompt: String,
    form: Option<&Value>,
    bounds: Bounds,
    mut read: impl FnMut(&str) -> Result<T, (LocalizedText, Option<T>)>,
) -> Result<Asked<T>, ModelError> {
    let mut messages = vec![Message::text(Role::User, prompt)];
    let mut asked = Asked {
        read: None,
        fault: None,
        usage: Usage::default(),
        tries: 0,
    };
    let effort = effort(bounds, |_, _| None);
    for _ in 0..if bounds.repair { 2 } else { 1 } {
        let answer = one_shot::answer(model, &messages, form, effort).await;
        let (text, used) = match answer {
            // The first attempt has been paid for, and its partial result is better than none.
            Err(_) if asked.tries > 0 => break,
            answer => answer?,
        };
        asked.tries += 1;
        asked.usage += used;
        match read(&text) {
            Ok(whole) => {
                return Ok(Asked {
                    read: Some(whole),
                    fault: None,
                    ..asked
                });
            }
            Err((fault, part)) => {
                let shown: String = text.chars().take(SHOWN_CHARS).collect();
                messages.truncate(1);
                messages.push(Message::text(
                    Role::Assistant,
                    if shown.is_empty() { "…" } else { &shown },
                ));
                let again =
                    format!("This cannot be used: {fault}. Answer with the JSON object alone.");
                messages.push(Message::text(Role::User, again));
                (asked.fault, asked.read) = (Some(fault), part.or(asked.read));
            }
        }
    }
    Ok(asked)
}
