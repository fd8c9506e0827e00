//! How the code that an agent writes has fared: pictures that it has made, failures in a row, and the same code in a row.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use domain::{Message, Role, ToolCall};

use crate::{run::RunContext, tool::Toolbox, turns::LAST_STEP};

/// The tool that runs code, whether it is called or its code is written in tags.
pub const CODE_TOOL: &str = "python";

/// Told to the model when its code is no longer run.
const NO_MORE: &str = "[the code has failed too often: none is run any more. Answer with what you have, and say what could \
    not be done]";

/// Told to the model if code has succeeded, and the model repeats it instead of answering.
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
/// How often the same code is run in a row.
const MAX_FAILURES_IN_A_ROW: u32 = 3;

/// Maximum number of pictures that are added to an answer.
const MAX_PICTURES: usize = 8;

/// The state of an agent's code.
#[derive(Debug, Default)]
pub(crate) struct Code {
    failed: AtomicU32,
    last: Mutex<Last>,
    pictures: Mutex<Vec<String>>,
}

/// What ran last, and how often in a row without a failure.
#[derive(Debug, Default)]
struct Last {
    arguments: String,
    times: u32,
}

impl Code {
    /// For an agent whose programs have made these pictures before the server was started.
    pub(crate) fn after(pictures: Vec<String>) -> Self {
        Self {
            pictures: Mutex::new(pictures),
            ..Self::default()
        }
    }

    /// Records the result of a call of one of these tools; returns a note for the model, if any. Code that was not
    /// run changes nothing.
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
                times if times < MAX_FAILURES_IN_A_ROW => Some(AGAIN),
                _ => Some(ENOUGH),
            };
        }
        *self.last() = Last::default();
        let failed = self.failed.fetch_add(1, Relaxed) + 1;
        (failed > run.deps.code_retries).then_some(NO_MORE)
    }

    /// The remaining tools: code that fails again and again is no longer run, nor is the same code time after time.
    pub(crate) fn left_of(&self, run: &RunContext, tools: &Toolbox) -> Toolbox {
        let is_over = self.failed.load(Relaxed) > run.deps.code_retries
            || self.last().times >= MAX_FAILURES_IN_A_ROW;
        if is_over {
            tools.without(&[CODE_TOOL])
        } else {
            tools.clone()
        }
    }

    /// The message to people about code that the model writes although it is no longer offered these tools,
    /// having learned in this answer how code is written.
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
            () if times >= MAX_FAILURES_IN_A_ROW => NOT_RUN_AGAIN,
            () => NOT_RUN_LAST,
        };
        Some(why[usize::from(speaks_russian(messages))])
    }

    /// How often this has run in a row, now.
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

    /// Notes a file that a program has written.
    pub(crate) fn note_picture(&self, path: &str) {
        let mut pictures = self.pictures.lock().unwrap_or_else(PoisonError::into_inner);
        pictures.retain(|known| known != path);
        pictures.push(path.to_owned());
    }

    /// Notes that a file is gone.
    pub(crate) fn forget_picture(&self, path: &str) {
        self.pictures
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|known| known != path);
    }

    /// The pictures that an answer does not name, as Markdown to be added to it: the newest, oldest first.
    pub(crate) fn pictures_beside(&self, answer: &str) -> String {
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

/// Whether the last message of the person that has letters is mostly written in Cyrillic. The loop's own last message to the
/// model is not one of the person's.
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

/// Whether a text names the file.
fn names(text: &str, path: &str) -> bool {
    let encoded = address(path);
    text.contains(path.trim_start_matches('/')) || text.contains(encoded.trim_start_matches('/'))
}

/// A picture of the chat in Markdown.
pub(crate) fn picture_link(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let words: String = stem
        .chars()
        .map(|c| if "[]\\`*_<>!&".contains(c) { ' ' } else { c })
        .collect();
    format!("![{}]({})", words.trim(), address(path))
}

/// The path as an address in Markdown.
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
            code.pictures_beside("See ![it](old.png)."),
            "\n\n![rain fall](/plots/rain_fall.jpg)\n\n![a b  1 ](/a%20b%20%281%29.png)"
                .replace(" 1 ", "(1)"),
        );
        let all = "![](/old.png) ![](/a%20b%20%281%29.png) plots/rain_fall.jpg";
        assert_eq!(code.pictures_beside(all), "");
        (0..20).for_each(|number| code.note_picture(&format!("/{number}.png")));
        assert_eq!(
            code.pictures_beside(all).matches("![").count(),
            MAX_PICTURES
        );
        assert!(code.pictures_beside(all).ends_with("![19](/19.png)"));
    }
}
