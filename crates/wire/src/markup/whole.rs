//! The complete text so far, for readers that can replace theirs, and for the collected answer.

use super::Change;
use crate::escape::html;

/// The steps, and the answer below them.
#[derive(Debug, Default)]
pub(super) struct Whole {
    steps: Vec<Step>,
    /// The number of tool calls.
    tools: usize,
    answer: String,
    /// The main agent's current text: shown as an answer until it turns out to be a step.
    text: String,
    finished: bool,
}

#[derive(Debug)]
enum Step {
    /// Intermediate text of the agent.
    Said(String),
    /// Any other step, a line of Markdown.
    Line(String),
}

impl Whole {
    pub(super) fn write(&mut self, delta: &str) -> Change {
        let begins = self.text.is_empty();
        self.text.push_str(delta);
        let stands_alone = self.steps.is_empty() && self.tools == 0 && self.answer.is_empty();
        if begins && !stands_alone {
            Change::All
        } else {
            Change::More(delta.to_owned())
        }
    }

    pub(super) fn end_text(&mut self, is_answer: bool) -> Change {
        let text = std::mem::take(&mut self.text);
        if is_answer {
            if !self.answer.is_empty() && !text.is_empty() {
                self.answer.push_str("\n\n");
            }
            self.answer.push_str(&text);
            return Change::Nothing;
        }
        if text.trim().is_empty() {
            return Change::Nothing;
        }
        self.steps.push(Step::Said(text.trim().to_owned()));
        if self.has_block() {
            Change::All
        } else {
            Change::Nothing
        }
    }

    pub(super) fn request(&mut self) -> Change {
        self.tools += 1;
        Change::All
    }

    pub(super) fn step(&mut self, line: String) -> Change {
        self.steps.push(Step::Line(line));
        Change::All
    }

    pub(super) fn finish(&mut self) -> Change {
        self.finished = true;
        if self.has_block() {
            Change::All
        } else {
            Change::Nothing
        }
    }

    pub(super) fn content(&self) -> String {
        let mut pieces = Vec::new();
        if self.has_block() {
            pieces.push(self.block());
        } else {
            pieces.extend(self.steps.iter().map(|step| step.text().to_owned()));
        }
        pieces.extend(
            [self.answer.clone(), self.text.clone()]
                .into_iter()
                .filter(|text| !text.is_empty()),
        );
        pieces.join("\n\n")
    }

    /// Without tools there is no block.
    fn has_block(&self) -> bool {
        self.tools > 0 || self.steps.iter().any(|step| matches!(step, Step::Line(_)))
    }

    fn block(&self) -> String {
        let is_going = self.text.is_empty() && self.answer.is_empty() && !self.finished;
        let open = if is_going { " open" } else { "" };
        let plural = if self.tools == 1 { "" } else { "s" };
        let summary = format!("🔍 Execution Steps ({} tool{plural})", self.tools);
        let mut block = format!("<details{open}>\n<summary>{summary}</summary>\n\n");
        for step in &self.steps {
            block.push_str(&match step {
                Step::Said(text) => said(text),
                Step::Line(line) => line.clone(),
            });
            block.push_str("\n\n");
        }
        block + "</details>"
    }
}

impl Step {
    fn text(&self) -> &str {
        match self {
            Self::Said(text) | Self::Line(text) => text,
        }
    }
}

/// Intermediate text as a step.
pub(super) fn said(text: &str) -> String {
    format!("**🤖 AI:** {}", html(text))
}
