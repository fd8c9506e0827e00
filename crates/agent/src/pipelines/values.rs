//! The values of a template's variables: limited in length, and never expanded again.

use domain::Role;

use super::template::{Cut, Name, Variable};

/// Maximum length of one message unless the template sets one, characters; both ends are kept.
const MAX_MESSAGE_CHARS: usize = 4_000;
/// Maximum total length of all messages, characters; the latest are kept.
const MAX_MESSAGES_CHARS: usize = 24_000;
/// Maximum length of any other value, characters.
const MAX_VALUE_CHARS: usize = 200_000;
/// Maximum total length of all answers to combine, characters.
const MAX_ANSWERS_CHARS: usize = 60_000;
/// The value of an unknown variable.
const NOT_KNOWN: &str = "Unknown";

/// A message of the conversation, for the template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The speaker.
    pub role: Role,
    /// The text.
    pub text: String,
}

/// Values for a template; missing ones are empty.
#[derive(Debug, Clone, Copy, Default)]
pub struct Values<'a> {
    /// The conversation, oldest first.
    pub messages: &'a [Said],
    /// The last message, or the text that is being written. `None` for the person's last message.
    pub prompt: Option<&'a str>,
    /// The person's local time.
    pub now: Now<'a>,
    /// The person.
    pub person: Person<'a>,
    /// The retrieved passages.
    pub context: &'a str,
    /// The query of the retrieval.
    pub query: &'a str,
    /// The kind of text that is being written.
    pub kind: &'a str,
    /// The tools that the model can call.
    pub tools: &'a str,
    /// The answers of other models, limited by [`fit_answers`].
    pub answers: &'a [String],
}

/// A formatted date and time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Now<'a> {
    /// As `2026-11-24`.
    pub date: &'a str,
    /// As `14:05:00`.
    pub time: &'a str,
    /// In English.
    pub weekday: &'a str,
    /// As `Europe/Riga`.
    pub timezone: &'a str,
}

/// The person who asks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Person<'a> {
    /// The person's name.
    pub name: &'a str,
    /// The e-mail address.
    pub email: &'a str,
    /// Names of groups, comma-separated.
    pub groups: &'a str,
}

impl Values<'_> {
    /// Appends the variable's value.
    pub(super) fn write(&self, variable: Variable, out: &mut String) {
        match variable {
            Variable::Prompt(part) => {
                out.push_str(&cut_text(self.prompt(), part, MAX_MESSAGES_CHARS))
            }
            Variable::Messages(which, each) => self.write_messages(which, each, out),
            Variable::Plain(Name::CurrentDatetime) => {
                out.push_str(&format!("{} {}", self.now.date, self.now.time));
            }
            Variable::Plain(Name::Responses) => self.write_answers(out),
            Variable::Plain(name) => {
                out.push_str(&cut_text(self.plain(name), None, MAX_VALUE_CHARS));
            }
        }
    }

    fn prompt(&self) -> &str {
        let last = || {
            self.messages
                .iter()
                .rev()
                .find(|said| said.role == Role::User)
        };
        self.prompt
            .or_else(|| last().map(|said| said.text.as_str()))
            .unwrap_or_default()
    }

    fn plain(&self, name: Name) -> &str {
        let known = |text| if str::is_empty(text) { NOT_KNOWN } else { text };
        match name {
            Name::CurrentDate => self.now.date,
            Name::CurrentTime => self.now.time,
            Name::CurrentWeekday => self.now.weekday,
            Name::CurrentTimezone => self.now.timezone,
            Name::UserName => known(self.person.name),
            Name::UserEmail => known(self.person.email),
            Name::UserGroups => known(self.person.groups),
            Name::NotKnown => NOT_KNOWN,
            Name::Context => self.context,
            Name::Query => self.query,
            Name::Type => self.kind,
            Name::Tools => self.tools,
            // Set by the person.
            Name::CurrentDatetime | Name::Responses => "",
        }
    }

    fn write_answers(&self, out: &mut String) {
        for (number, answer) in (1..).zip(self.answers) {
            let break_before = if number > 1 { "\n" } else { "" };
            out.push_str(&format!(
                "{break_before}<response number=\"{number}\">\n{answer}\n</response>"
            ));
        }
    }

    fn write_messages(&self, which: Option<Cut>, each: Option<Cut>, out: &mut String) {
        let all = self.messages;
        let at_end = |count: usize| &all[all.len().saturating_sub(count)..];
        let (head, tail): (&[Said], &[Said]) = match which {
            None => (&[], all),
            Some(Cut::Start(count)) => (&[], &all[..count.min(all.len())]),
            Some(Cut::End(count)) => (&[], at_end(count)),
            Some(Cut::Middle(count)) if count >= all.len() => (&[], all),
            Some(Cut::Middle(count)) => (&all[..count.div_ceil(2)], at_end(count / 2)),
        };
        let mut lines: Vec<String> = Vec::new();
        let mut room = MAX_MESSAGES_CHARS;
        for said in head.iter().chain(tail).rev() {
            let who = if said.role == Role::User {
                "USER"
            } else {
                "ASSISTANT"
            };
            let line = format!(
                "{who}: {}",
                cut_text(&said.text, each, MAX_MESSAGE_CHARS.min(room))
            );
            let chars = line.chars().count();
            if chars > room {
                break;
            }
            room -= chars;
            lines.push(line);
        }
        lines.reverse();
        out.push_str(&lines.join("\n"));
    }
}

/// The non-empty answers, cut to fit into a total number of characters: unused room of short ones goes to long ones.
#[must_use]
pub fn fit_answers<'a>(
    answers: impl IntoIterator<Item = &'a str>,
    max_chars: usize,
) -> Vec<String> {
    let answers: Vec<&str> = answers
        .into_iter()
        .map(str::trim)
        .filter(|answer| !answer.is_empty())
        .collect();
    let mut lengths: Vec<usize> = answers
        .iter()
        .map(|answer| answer.chars().count())
        .collect();
    lengths.sort_unstable();
    let mut room = max_chars.min(MAX_ANSWERS_CHARS);
    let mut most = usize::MAX;
    for (before, length) in lengths.iter().enumerate() {
        let share = room / (lengths.len() - before);
        if *length > share {
            most = share;
            break;
        }
        room -= length;
    }
    answers
        .iter()
        .map(|answer| cut_text(answer, None, most))
        .collect()
}

/// The requested part of the text, reduced to both ends if it is too long.
fn cut_text(text: &str, part: Option<Cut>, most: usize) -> String {
    let count = text.chars().count();
    let from = |skip: usize, take: usize| text.chars().skip(skip).take(take).collect::<String>();
    match part.unwrap_or(Cut::Middle(most)) {
        Cut::Start(wanted) => from(0, wanted.min(most)),
        Cut::End(wanted) => from(count.saturating_sub(wanted.min(most)), most),
        Cut::Middle(wanted) if count <= wanted.min(most) => text.to_owned(),
        Cut::Middle(wanted) => {
            let wanted = wanted.min(most);
            format!(
                "{}...{}",
                from(0, wanted.div_ceil(2)),
                from(count - wanted / 2, wanted / 2)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipelines::Template;

    fn said(role: Role, text: &str) -> Said {
        Said {
            role,
            text: text.to_owned(),
        }
    }

    fn check(template: &str, expected: &str) {
        let messages = [
            said(Role::User, "one"),
            said(Role::Assistant, "twotwotwo"),
            said(Role::User, "three {{USER_EMAIL}}"),
        ];
        let now = Now {
            date: "2026-11-24",
            time: "14:05:00",
            weekday: "Tuesday",
            timezone: "UTC",
        };
        let person = Person {
            name: "Ann {{prompt}}",
            email: "ann@example.org",
            groups: "",
        };
        let values = Values {
            messages: &messages,
            now,
            person,
            ..Values::default()
        };
        assert_eq!(
            Template::parse(template, &[]).unwrap().fill(&values),
            expected,
            "{template}"
        );
    }

    #[test]
    fn variables_are_filled_once() {
        check(
            "{{USER_NAME}}|{{USER_GROUPS}}|{{USER_AGE}}",
            "Ann {{prompt}}|Unknown|Unknown",
        );
        check(
            "{{CURRENT_DATETIME}} {{CURRENT_WEEKDAY}}",
            "2026-11-24 14:05:00 Tuesday",
        );
        check("{{prompt}}", "three {{USER_EMAIL}}");
        check(
            "{{prompt:start:5}} {{prompt:end:2}} {{prompt:middletruncate:4}}",
            "three }} th...}}",
        );
        check("{ {{{USER_EMAIL}}} }", "{ {ann@example.org} }");
    }

    #[test]
    fn answers_share_their_room_and_are_not_read_for_variables() {
        let long = "é".repeat(100);
        let answers = fit_answers([" {{USER_EMAIL}} ", "", &long, " \n", &long], 64);
        let lengths: Vec<usize> = answers
            .iter()
            .map(|answer| answer.chars().count())
            .collect();
        // Omissions are marked with an ellipsis.
        assert_eq!(lengths, [14, 28, 28]);
        let huge = "é".repeat(1_000_000);
        let most: usize = fit_answers(vec![huge.as_str(); 9], usize::MAX)
            .iter()
            .map(|one| one.chars().count())
            .sum();
        assert!(most <= MAX_ANSWERS_CHARS + 9 * 3, "{most}");
        assert!(fit_answers(["", " "], 10).is_empty());
        let values = Values {
            answers: &answers[..1],
            prompt: Some("{{responses}}"),
            ..Values::default()
        };
        let template = Template::parse("{{prompt}}\n{{responses}}", &[Name::Responses]).unwrap();
        let expected = "{{responses}}\n<response number=\"1\">\n{{USER_EMAIL}}\n</response>";
        assert_eq!(template.fill(&values), expected);
    }

    #[test]
    fn messages_are_chosen_and_cut() {
        check(
            "{{MESSAGES:END:2}}",
            "ASSISTANT: twotwotwo\nUSER: three {{USER_EMAIL}}",
        );
        check("{{MESSAGES:START:1}}", "USER: one");
        check(
            "{{MESSAGES:MIDDLETRUNCATE:2|start:3}}",
            "USER: one\nUSER: thr",
        );
        check("{{MESSAGES:END:2|end:3}}", "ASSISTANT: two\nUSER: L}}");
        check(
            "{{MESSAGES:END:9|middletruncate:4}}",
            "USER: one\nASSISTANT: tw...wo\nUSER: th...}}",
        );
    }

    #[test]
    fn long_values_are_bounded() {
        let long = "é".repeat(1_000_000);
        let messages: Vec<Said> = (0..100).map(|_| said(Role::User, &long)).collect();
        let values = Values {
            messages: &messages,
            context: &long,
            ..Values::default()
        };
        let own = [Name::Context];
        let filled = |text| {
            Template::parse(text, &own)
                .unwrap()
                .fill(&values)
                .chars()
                .count()
        };
        assert!(filled("{{MESSAGES}}") <= MAX_MESSAGES_CHARS + 100);
        assert!(filled("{{MESSAGES|end:900000}}") <= MAX_MESSAGES_CHARS + 100);
        assert!(filled("{{CONTEXT}}") <= MAX_VALUE_CHARS + 3);
        assert!(filled("{{prompt:start:1000000}}") <= MAX_MESSAGES_CHARS);
    }
}
