//! Takes the reasoning out of an answer whose server leaves it there, between `<think>` tags at the beginning.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Splits the text of one answer.
#[derive(Debug, Default)]
pub(crate) struct Thinking {
    place: Place,
    /// Text that may be a tag or its beginning.
    held: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Nothing but white space has come.
    #[default]
    Start,
    Inside,
    /// Behind the tag; the white space that follows it belongs to neither.
    Closed,
    Answer,
}

/// What a piece of text turned out to be; either may be empty.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) reasoning: String,
    pub(crate) answer: String,
}

impl Thinking {
    /// Reads more text.
    pub(crate) fn push(&mut self, text: &str) -> Split {
        let mut split = Split::default();
        self.held.push_str(text);
        while self.step(&mut split) {}
        split
    }

    /// The answer has ended: what is held is what it looks like.
    pub(crate) fn finish(&mut self) -> Split {
        let held = std::mem::take(&mut self.held);
        match self.place {
            Place::Inside => Split { reasoning: held, ..Split::default() },
            Place::Closed => Split::default(),
            Place::Start | Place::Answer => Split { answer: held, ..Split::default() },
        }
    }

    fn step(&mut self, split: &mut Split) -> bool {
        match self.place {
            Place::Start => {
                let begin = self.held.trim_start();
                if begin.len() < OPEN.len() && OPEN.starts_with(begin) {
                    return false;
                }
                match begin.strip_prefix(OPEN) {
                    Some(rest) => {
                        self.held = rest.to_owned();
                        self.place = Place::Inside;
                    }
                    None => self.place = Place::Answer,
                }
                true
            }
            Place::Inside => {
                if let Some(at) = self.held.find(CLOSE) {
                    split.reasoning.push_str(&self.held[..at]);
                    self.held.drain(..at + CLOSE.len());
                    self.place = Place::Closed;
                    return true;
                }
                let keep =
                    (1..CLOSE.len()).rev().find(|size| self.held.ends_with(&CLOSE[..*size])).unwrap_or(0);
                split.reasoning.extend(self.held.drain(..self.held.len() - keep));
                false
            }
            Place::Closed => {
                self.held = self.held.trim_start().to_owned();
                if self.held.is_empty() {
                    return false;
                }
                self.place = Place::Answer;
                true
            }
            Place::Answer => {
                split.answer.push_str(&std::mem::take(&mut self.held));
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(whole: &str, reasoning: &str, answer: &str) {
        for size in [1, 3, 1000] {
            let chars: Vec<char> = whole.chars().collect();
            let mut thinking = Thinking::default();
            let mut all = Split::default();
            let pieces = chars.chunks(size).map(|piece| piece.iter().collect::<String>());
            let mut splits: Vec<Split> = pieces.map(|piece| thinking.push(&piece)).collect();
            splits.push(thinking.finish());
            for split in splits {
                all.reasoning.push_str(&split.reasoning);
                all.answer.push_str(&split.answer);
            }
            assert_eq!(
                (all.reasoning.as_str(), all.answer.as_str()),
                (reasoning, answer),
                "{whole} by {size}"
            );
        }
    }

    #[test]
    fn only_at_the_beginning() {
        check("<think>hm, é < 3</think>\n\nHello", "hm, é < 3", "Hello");
        check("\n<think>\n</think>Hello", "\n", "Hello");
        check("<think>never closed", "never closed", "");
        check("Hello <think>x</think>", "", "Hello <think>x</think>");
        check("<thin air>", "", "<thin air>");
        check("<thi", "", "<thi");
        check(" Hello", "", " Hello");
        check("", "", "");
    }
}
