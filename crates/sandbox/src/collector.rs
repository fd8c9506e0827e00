//! Collects a program's output: streamed as text, and stored with its beginning and its end.

use crate::Collected;

/// Collects the bytes of one stream.
#[derive(Debug)]
pub(crate) struct Collector {
    /// Bytes of an incomplete character, at most three.
    partial: Vec<u8>,
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Maximum size of the head, and of the tail.
    half_bytes: usize,
    passed_bytes: usize,
    limit_bytes: usize,
    total_bytes: u64,
}

impl Collector {
    /// Streams at most `limit_bytes`, and stores as many.
    pub(crate) fn new(limit_bytes: usize) -> Self {
        Self {
            partial: Vec::new(),
            head: Vec::new(),
            tail: Vec::new(),
            half_bytes: limit_bytes / 2,
            passed_bytes: 0,
            limit_bytes,
            total_bytes: 0,
        }
    }

    /// Takes bytes, and passes on complete characters.
    pub(crate) fn push(&mut self, bytes: &[u8], pass_on: impl FnMut(&str)) {
        self.keep(bytes);
        let room_bytes = self.limit_bytes.saturating_sub(self.passed_bytes);
        if room_bytes == 0 {
            self.partial.clear();
            return;
        }
        let bytes = &bytes[..bytes.len().min(room_bytes)];
        self.passed_bytes += bytes.len();
        self.partial.extend_from_slice(bytes);
        let open = open_end(&self.partial);
        let rest = self.partial.split_off(self.partial.len() - open);
        pass_text(&std::mem::replace(&mut self.partial, rest), pass_on);
    }

    /// Passes on the rest; an incomplete character becomes a replacement character.
    pub(crate) fn finish(mut self, pass_on: impl FnMut(&str)) -> Collected {
        pass_text(&self.partial, pass_on);
        self.partial.clear();
        let kept = self.head.len() + self.tail.len();
        let dropped_bytes = self.total_bytes.saturating_sub(kept as u64);
        if dropped_bytes == 0 {
            self.head.append(&mut self.tail);
            let text = String::from_utf8_lossy(&self.head).into_owned();
            return Collected {
                text,
                total_bytes: self.total_bytes,
                dropped_bytes,
            };
        }
        self.head.truncate(self.head.len() - open_end(&self.head));
        // The tail may begin within a character.
        let begin = self
            .tail
            .iter()
            .take(3)
            .take_while(|byte| (**byte & 0xC0) == 0x80)
            .count();
        let head = String::from_utf8_lossy(&self.head);
        let tail = String::from_utf8_lossy(&self.tail[begin..]);
        let text = format!("{head}\n[… {dropped_bytes} bytes left out …]\n{tail}");
        Collected {
            text,
            total_bytes: self.total_bytes,
            dropped_bytes,
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.total_bytes += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(self.half_bytes - self.head.len()));
        self.head.extend_from_slice(first);
        if rest.len() > self.half_bytes {
            self.tail.clear();
        }
        let rest = &rest[rest.len().saturating_sub(self.half_bytes)..];
        // The tail is cut only at twice its size, so that bytes are not moved on every write.
        self.tail.extend_from_slice(rest);
        if self.tail.len() > 2 * self.half_bytes {
            self.cut_tail();
        }
    }

    fn cut_tail(&mut self) {
        let over = self.tail.len().saturating_sub(self.half_bytes);
        self.tail.drain(..over);
    }
}

fn pass_text(bytes: &[u8], mut pass_on: impl FnMut(&str)) {
    if !bytes.is_empty() {
        pass_on(&String::from_utf8_lossy(bytes));
    }
}

/// The number of bytes at the end that belong to an incomplete character.
fn open_end(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let needed = match bytes[bytes.len() - back] {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            0x80..=0xBF => continue,
            _ => return 0,
        };
        return if needed > back { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(limit_bytes: usize, pieces: &[&[u8]]) -> (Vec<String>, Collected) {
        let mut collector = Collector::new(limit_bytes);
        let mut passed = Vec::new();
        for piece in pieces {
            collector.push(piece, |text| passed.push(text.to_owned()));
        }
        let collected = collector.finish(|text| passed.push(text.to_owned()));
        (passed, collected)
    }

    #[test]
    fn characters_are_not_torn() {
        let text = "aä€🦀z";
        for cut in 0..=text.len() {
            let (passed, collected) = run(100, &[&text.as_bytes()[..cut], &text.as_bytes()[cut..]]);
            assert_eq!(passed.concat(), text, "cut at {cut}");
            assert_eq!(
                collected,
                Collected {
                    text: text.into(),
                    total_bytes: 11,
                    dropped_bytes: 0
                }
            );
        }
    }

    #[test]
    fn bytes_that_are_no_text_become_replacement_characters() {
        let (passed, collected) = run(100, &[b"\xFFa\x80", b"\xE2\x82"]);
        assert_eq!(passed.concat(), "\u{FFFD}a\u{FFFD}\u{FFFD}");
        assert_eq!(collected.text, "\u{FFFD}a\u{FFFD}\u{FFFD}");
    }

    #[test]
    fn a_flood_keeps_its_beginning_and_its_end() {
        let piece = [b'x'; 1000];
        let mut pieces: Vec<&[u8]> = vec![b"first "];
        pieces.extend(std::iter::repeat_n(&piece[..], 1000));
        pieces.push(b" last");
        let (passed, collected) = run(100, &pieces);
        assert_eq!(passed.concat().len(), 100);
        assert!(collected.text.starts_with("first xx") && collected.text.ends_with("xx last"));
        assert_eq!(collected.total_bytes, 1_000_011);
        assert!(collected.text.len() < 250, "{}", collected.text.len());
    }

    #[test]
    fn a_limit_of_nothing_holds() {
        let (passed, collected) = run(0, &[b"abc"]);
        assert_eq!(
            (passed.len(), collected.dropped_bytes, collected.total_bytes),
            (0, 3, 3)
        );
    }
}
