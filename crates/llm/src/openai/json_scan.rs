//! Follows a JSON value as it arrives, just far enough to find its end and to rule out a tool call early.

/// Keys that name the tool.
pub(crate) const NAME_KEYS: [&str; 5] = ["name", "tool", "tool_name", "function", "function_name"];

/// Keys that hold the arguments.
pub(crate) const ARGUMENT_KEYS: [&str; 4] = ["arguments", "parameters", "args", "input"];

/// Keys that may be next to them.
const OTHER_KEYS: [&str; 3] = ["type", "id", "action"];

/// The key of a list of calls.
pub(crate) const CALL_LIST: &str = "tool_calls";

/// The result so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It may become a call.
    Undecided,
    /// It is not a call.
    No,
    /// The value is complete and ends before this byte.
    Whole(usize),
}

/// The state of the scan. Each byte is read once.
#[derive(Debug)]
pub(crate) struct Scan {
    from: usize,
    at: usize,
    depth: u32,
    /// Depth of the first object: 1, or 2 inside a list.
    object_depth: u32,
    string_from: Option<usize>,
    escaped: bool,
    is_value: bool,
    names_tool: bool,
    /// A list of calls, or a call of an offered tool: it can be nothing else so far.
    is_meant: bool,
    /// Only a list of calls counts.
    is_list_only: bool,
    is_list: bool,
}

impl Scan {
    /// A value that begins at byte `from` with `{` or `[`.
    pub(crate) fn new(from: usize) -> Self {
        Self {
            from,
            at: from,
            depth: 0,
            object_depth: 0,
            string_from: None,
            escaped: false,
            is_value: false,
            names_tool: false,
            is_meant: false,
            is_list_only: false,
            is_list: false,
        }
    }

    /// The same for a value that can only be an object with a list of calls.
    pub(crate) fn new_list(from: usize) -> Self {
        Self {
            is_list_only: true,
            ..Self::new(from)
        }
    }

    /// Whether the value so far can only be meant as a call.
    pub(crate) fn is_meant(&self) -> bool {
        self.is_meant
    }

    /// Whether it is a list of calls in the instructed format.
    pub(crate) fn is_list(&self) -> bool {
        self.is_list
    }

    /// The offset of the value.
    pub(crate) fn from(&self) -> usize {
        self.from
    }

    /// How many bytes of it were read.
    pub(crate) fn size(&self) -> usize {
        self.at - self.from
    }

    /// Continues in `text`, which only grows at its end.
    pub(crate) fn advance(&mut self, text: &str, tools: &[String]) -> Verdict {
        while let Some(byte) = text.as_bytes().get(self.at).copied() {
            let verdict = match self.string_from {
                Some(from) => self.in_string(byte, from, text, tools),
                None => self.between(byte),
            };
            self.at += 1;
            if verdict != Verdict::Undecided {
                return verdict;
            }
        }
        Verdict::Undecided
    }

    fn in_string(&mut self, byte: u8, from: usize, text: &str, tools: &[String]) -> Verdict {
        if std::mem::take(&mut self.escaped) {
            return Verdict::Undecided;
        }
        match byte {
            b'\\' => self.escaped = true,
            b'"' => {
                self.string_from = None;
                if self.depth == self.object_depth {
                    return self.vet(&text[from..self.at], tools);
                }
            }
            _ => {}
        }
        Verdict::Undecided
    }

    fn between(&mut self, byte: u8) -> Verdict {
        let in_list_of_calls = self.depth == 1 && self.object_depth == 0;
        match byte {
            b'"' if in_list_of_calls => return Verdict::No,
            b'"' => self.string_from = Some(self.at + 1),
            b'{' | b'[' => {
                self.depth += 1;
                if self.object_depth == 0 && byte == b'{' {
                    self.object_depth = self.depth;
                } else if self.object_depth == 0 && self.depth > 1 {
                    return Verdict::No;
                }
                self.is_value = false;
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    return Verdict::Whole(self.at + 1);
                }
            }
            b':' => self.is_value = true,
            b',' => self.is_value = false,
            byte if in_list_of_calls && !byte.is_ascii_whitespace() => return Verdict::No,
            _ => {}
        }
        Verdict::Undecided
    }

    /// Checks a complete string of the first object: a known key, or the tool's name.
    fn vet(&mut self, string: &str, tools: &[String]) -> Verdict {
        let known = if self.is_list {
            true
        } else if self.is_value {
            let is_name = std::mem::take(&mut self.names_tool);
            let is_tool = is_name && tools.iter().any(|tool| tool == string);
            self.is_meant |= is_tool;
            !is_name || is_tool
        } else if string == CALL_LIST {
            self.is_list = true;
            self.is_meant = true;
            true
        } else {
            self.names_tool = NAME_KEYS.contains(&string);
            let is_known =
                self.names_tool || ARGUMENT_KEYS.contains(&string) || OTHER_KEYS.contains(&string);
            is_known && !self.is_list_only
        };
        if known {
            Verdict::Undecided
        } else {
            Verdict::No
        }
    }
}
