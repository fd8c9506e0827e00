//! Follows JSON text as it arrives, just far enough to detect the end of an object or list.

/// The state of the scan. Each byte is read once.
#[derive(Debug, Default)]
pub(crate) struct JsonEnd {
    depth: u32,
    in_string: bool,
    escaped: bool,
    is_whole: bool,
}

impl JsonEnd {
    /// Reads more text.
    pub(crate) fn push(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.is_whole |= self.depth == 0;
                }
                _ => {}
            }
        }
    }

    /// Whether an object or a list is complete.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole && self.depth == 0 && !self.in_string
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_with_the_object() {
        let is_whole = |pieces: &[&str]| {
            let mut end = JsonEnd::default();
            pieces.iter().for_each(|piece| end.push(piece));
            end.is_whole()
        };
        for whole in [
            &["{}"][..],
            &["{\"a\":\"\\", "\"}\",\"b\":[{", "}]}"],
            &["{}", " "],
            &["[1]"],
        ] {
            assert!(is_whole(whole), "{whole:?}");
        }
        for half in [
            &[""][..],
            &["{"],
            &["{\"a\":\"}"],
            &["{\"a\":{}"],
            &["\"{}"],
            &["{}{"],
        ] {
            assert!(!is_whole(half), "{half:?}");
        }
    }
}
