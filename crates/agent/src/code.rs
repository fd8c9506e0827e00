//! Tracks the code that an agent runs: pictures it has made, consecutive failures, and consecutive repetitions of the
//! same code.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use domain::{Message, Role, ToolCall};

use crate::{run::RunContext, tool::Toolbox, turns::LAST_STEP};

/// The tool that runs code, whether it is called or its code is written in tags.
pub const CODE_TOOL: &str = "python";

/// Sent to the model when its code is no longer run.
const NO_MORE: &str = "[the code has failed too often: none is run any more. Answer with what you have, and say what could \
    not be done]";

/// Sent to the model if it repeats code that has succeeded instead of answering.
const AGAIN: &str = "[this code has just run before. Answer with what it printed]";
const ENOUGH: &str =
    "[the same code has run again and again: none is run any more. Answer with what it printed]";

/// Shown below code that is no longer run, in English and in Russian.
const NOT_RUN_FAILED: [&str; 2] = [
    "(Not run: code has failed too often in this answer.)",
    "(Не запущено: код в этом ответе слишком часто завершался ошибкой.)",
];
const NOT_RUN_AGAIN: [&str; 2] = [
    "(Not run: the same code has run again and again in this answer.)",
    "(Не запущено: один и тот же код в этом ответе уже запускался много раз.)",
];
const NOT_RUN_LAST: [&str; 2] = [
    "(Not run: a limit of this answer is reached.)",
    "(Не запущено: достигнут предел для этого ответа.)",
];
/// Maximum number of times the same code runs in a row.
const MAX_REPEATS_OF_FAILING_CODE: u32 = 3;

/// Maximum number of pictures appended to an answer.
const MAX_PICTURES: usize = 8;

/// The state of an agent's code.
#[derive(Debug, Default)]
pub(crate) struct Code {
    failed: AtomicU32,
    last: Mutex<Last>,
    pictures: Mutex<Vec<String>>,
}

/// The code that ran last, and how often in a row it ran without a failure.
#[derive(Debug, Default)]
struct Last {
    arguments: String,
    times: u32,
}

impl Code {
    /// The state for an agent whose programs made these pictures before the server restarted.
    pub(crate) fn after(pictures: Vec<String>) -> Self {
        Self {
            pictures: Mutex::new(pictures),
            ..Self::default()
        }
    }

    /// Records the result of a call of one of these tools. Returns a note for the model, if any. Code that was not run
    /// does not count.
    pub(crate) fn note(
        &self,
        run: &RunContext,
        tools: &Toolbox,
        call: &ToolCall,
        is_error: bool,
    ) -> Option<&'static str> {
        if call.name != CODE_TOOL || tools.get(CODE_TOOL).is_none() {
            return None;
        }
        if !is_error {
            self.failed.store(0, Relaxed);
            return match self.times(&call.arguments) {
                ..=1 => None,
                times if times < MAX_REPEATS_OF_FAILING_CODE => Some(AGAIN),
                _ => Some(ENOUGH),
            };
        }
        *self.last() = Last::default();
        let failed = self.failed.fetch_add(1, Relaxed) + 1;
        (failed > run.deps.code_retries).then_some(NO_MORE)
    }

    /// Removes the code tools if code has failed or has been repeated too often in a row.
    pub(crate) fn left_of(&self, run: &RunContext, tools: &Toolbox) -> Toolbox {
        let is_over = self.failed.load(Relaxed) > run.deps.code_retries
            || self.last().times >= MAX_REPEATS_OF_FAILING_CODE;
        if is_over {
            tools.without(&[CODE_TOOL])
        } else {
            tools.clone()
        }
    }

    /// The note for people below code that the model still writes, out of habit from earlier in this answer, although
    /// these tools are no longer offered.
    pub(crate) fn why_not_run(
        &self,
        run: &RunContext,
        offered: &Toolbox,
        messages: &[Message],
    ) -> Option<&'static str> {
        let failed = self.failed.load(Relaxed);
        let times = self.last().times;
        if offered.get(CODE_TOOL).is_some() || (failed == 0 && times == 0) {
            return None;
        }
        let why = match () {
            () if failed > run.deps.code_retries => NOT_RUN_FAILED,
            () if times >= MAX_REPEATS_OF_FAILING_CODE => NOT_RUN_AGAIN,
            () => NOT_RUN_LAST,
        };
        Some(why[usize::from(speaks_russian(messages))])
    }

    /// How often this code has now run in a row.
    fn times(&self, arguments: &str) -> u32 {
        let mut last = self.last();
        if last.arguments != arguments {
            *last = Last {
                arguments: arguments.to_owned(),
                times: 0,
            };
        }
        last.times += 1;
        last.times
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a file that a program has written.
    pub(crate) fn note_picture(&self, path: &str) {
        let mut pictures = self.pictures.lock().unwrap_or_else(PoisonError::into_inner);
        pictures.retain(|known| known != path);
        pictures.push(path.to_owned());
    }

    /// Records that a file was deleted.
    pub(crate) fn forget_picture(&self, path: &str) {
        self.pictures
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|known| known != path);
    }

    /// The pictures that an answer does not mention, as Markdown to append: the newest ones, oldest first.
    pub(crate) fn pictures_not_in(&self, answer: &str) -> String {
        let pictures = self.pictures.lock().unwrap_or_else(PoisonError::into_inner);
        let left_out: Vec<&String> = pictures
            .iter()
            .filter(|path| !names(answer, path))
            .collect();
        let skipped = left_out.len().saturating_sub(MAX_PICTURES);
        left_out
            .iter()
            .skip(skipped)
            .map(|path| format!("\n\n{}", picture_link(path)))
            .collect()
    }
}

/// Whether the person's last message that contains letters is mostly in Cyrillic. Messages that the loop itself sends
/// to the model do not count.
fn speaks_russian(messages: &[Message]) -> bool {
    let said = messages
        .iter()
        .rev()
        .filter(|message| message.role == Role::User);
    let texts = said
        .map(Message::plain_text)
        .filter(|text| text != LAST_STEP);
    let letters = |text: String| {
        let count = |is: fn(&char) -> bool| text.chars().filter(is).count();
        (
            count(|c| c.is_alphabetic()),
            count(|c| matches!(c, 'а'..='я' | 'А'..='Я' | 'ё' | 'Ё')),
        )
    };
    texts
        .map(letters)
        .find(|(all, _)| *all > 0)
        .is_some_and(|(all, cyrillic)| cyrillic * 2 > all)
}

/// Whether a text mentions the file.
fn names(text: &str, path: &str) -> bool {
    let encoded = address(path);
    text.contains(path.trim_start_matches('/')) || text.contains(encoded.trim_start_matches('/'))
}

/// A Markdown image link to a picture of the chat.
pub(crate) fn picture_link(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let words: String = stem
        .chars()
        .map(|c| if "[]\\`*_<>!&".contains(c) { ' ' } else { c })
        .collect();
    format!("![{}]({})", words.trim(), address(path))
}

/// The path, encoded for a Markdown link.
fn address(path: &str) -> String {
    let mut address = String::new();
    for c in path.chars() {
        if c.is_whitespace() || c.is_control() || "()<>%\\\"'#?`*".contains(c) {
            let mut bytes = [0; 4];
            c.encode_utf8(&mut bytes)
                .bytes()
                .for_each(|byte| address.push_str(&format!("%{byte:02X}")));
        } else {
            address.push(c);
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_in_the_language_of_the_last_message() {
        let said = |texts: &[&str]| {
            let messages: Vec<Message> = texts
                .iter()
                .map(|text| Message::text(Role::User, *text))
                .collect();
            speaks_russian(&messages)
        };
        assert!(said(&["Посчитай, pandas есть", LAST_STEP]) && said(&["Ещё раз", "1 + 1"]));
        assert!(!said(&["Посчитай", "Count it"]) && !said(&["What is «да»?"]) && !said(&[]));
    }

    #[test]
    fn pictures_that_are_not_shown_are_added() {
        let code = Code::after(vec!["/old.png".into()]);
        for path in [
            "/a b (1).png",
            "/plots/rain_fall.jpg",
            "/gone.png",
            "/a b (1).png",
        ] {
            code.note_picture(path);
        }
        code.forget_picture("/gone.png");
        assert_eq!(
            code.pictures_not_in("See ![it](old.png)."),
            "\n\n![rain fall](/plots/rain_fall.jpg)\n\n![a b  1 ](/a%20b%20%281%29.png)"
                .replace(" 1 ", "(1)"),
        );
        let all = "![](/old.png) ![](/a%20b%20%281%29.png) plots/rain_fall.jpg";
        assert_eq!(code.pictures_not_in(all), "");
        (0..20).for_each(|number| code.note_picture(&format!("/{number}.png")));
        assert_eq!(
            code.pictures_not_in(all).matches("![").count(),
            MAX_PICTURES
        );
        assert!(code.pictures_not_in(all).ends_with("![19](/19.png)"));
    }
}
