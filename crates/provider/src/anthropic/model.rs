//! The capabilities of each generation of Claude, derived from the model name.

/// The capabilities of a model. Other vendors' servers that speak this format are treated as a plain model with
/// budgets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Capabilities {
    pub(crate) thinking: Thinking,
    pub(crate) off: ThinkingOff,
    /// The level for the maximum effort.
    pub(crate) top_effort: Option<&'static str>,
    /// Whether `temperature` and `top_p` are accepted at all.
    pub(crate) sampling: bool,
    /// Whether both may be set at once.
    pub(crate) both_samplings: bool,
    /// Whether `output_config.format` is supported.
    pub(crate) json_schema: bool,
    /// Whether messages of the role `system` may occur in the middle of a conversation.
    pub(crate) inline_system: bool,
    /// Whether a tool call can be forced.
    pub(crate) forced_choice: bool,
    /// Whether thinking between tool calls must be requested by a beta.
    pub(crate) interleaving_beta: bool,
    /// The default of `max_tokens`.
    pub(crate) default_output: u64,
    /// The maximum of `max_tokens`.
    pub(crate) max_output: u64,
}

/// How thinking is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// Not supported.
    None,
    /// With a budget of tokens.
    Budget,
    /// Adaptive, or with a budget.
    AdaptiveOrBudget,
    /// Adaptive only; the summary must be requested.
    Adaptive,
}

/// How thinking is disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThinkingOff {
    /// It is off by default.
    Default,
    /// `{"type": "disabled"}`.
    Disabled,
    /// `{"type": "between_tools"}`.
    BetweenTools,
    /// It always thinks.
    Never,
}

/// The capabilities of a model by its name, with or without a region, a vendor or a date.
pub(crate) fn abilities(model: &str) -> Capabilities {
    let Some(Claude { line, version }) = Claude::parse(model) else {
        return OTHER;
    };
    let mythical = matches!(line, "fable" | "mythos");
    let (thinking, off) = match version {
        (..=2, _) | (3, ..=6) => (Thinking::None, ThinkingOff::Default),
        (3, _) | (4, ..=5) => (Thinking::Budget, ThinkingOff::Default),
        (4, 6) => (Thinking::AdaptiveOrBudget, ThinkingOff::Default),
        (4, _) => (Thinking::Adaptive, ThinkingOff::Default),
        _ if mythical || (line, version) == ("opus", (5, 5)) => {
            (Thinking::Adaptive, ThinkingOff::Never)
        }
        _ if (line, version) == ("sonnet", (5, 5)) => {
            (Thinking::Adaptive, ThinkingOff::BetweenTools)
        }
        _ => (Thinking::Adaptive, ThinkingOff::Disabled),
    };
    let (default_output, max_output) = match version {
        (..=2, _) | (3, ..=4) => (4096, 4096),
        (3, 5 | 6) => (8192, 8192),
        // These refuse a request whose input and `max_tokens` together exceed the context window.
        (3, _) => (8192, 64_000),
        (4, ..=4) => (8192, if line == "opus" { 32_000 } else { 64_000 }),
        (4, 5) => (32_000, 64_000),
        _ => (32_000, 128_000),
    };
    Capabilities {
        thinking,
        off,
        top_effort: match thinking {
            Thinking::Adaptive => Some("xhigh"),
            Thinking::AdaptiveOrBudget => Some("max"),
            Thinking::None | Thinking::Budget => None,
        },
        sampling: thinking != Thinking::Adaptive,
        both_samplings: version < (4, 1),
        json_schema: version >= (4, 5) || (line, version) == ("opus", (4, 1)),
        inline_system: (mythical || line == "opus") && version >= (4, 8),
        forced_choice: version <= (5, 0),
        interleaving_beta: matches!(version, (4, ..=5)),
        default_output,
        max_output,
    }
}

const OTHER: Capabilities = Capabilities {
    thinking: Thinking::Budget,
    off: ThinkingOff::Disabled,
    top_effort: None,
    sampling: true,
    both_samplings: true,
    json_schema: false,
    inline_system: false,
    forced_choice: true,
    interleaving_beta: false,
    default_output: 16_384,
    max_output: u64::MAX,
};

/// A parsed Claude model name.
#[derive(Debug, PartialEq, Eq)]
struct Claude<'a> {
    line: &'a str,
    version: (u16, u16),
}

impl<'a> Claude<'a> {
    /// Parses `claude-opus-4-5-20251101`, `claude-3-7-sonnet-latest`, `us.anthropic.claude-sonnet-4-6`,
    /// `anthropic/claude-opus-4.5` and the like. A name without a version means the newest.
    fn parse(model: &'a str) -> Option<Self> {
        let at = model.find("claude")?;
        let mut line = "";
        let mut numbers = Vec::new();
        for word in model[at..].split(['-', '.', '@', ':', '/', '[']).skip(1) {
            match word.parse::<u16>() {
                // A date has eight digits.
                Ok(number) if number < 100 && numbers.len() < 2 => numbers.push(number),
                Err(_)
                    if word.starts_with(|c: char| c.is_ascii_alphabetic()) && line.is_empty() =>
                {
                    line = word
                }
                Err(_) | Ok(_) if !numbers.is_empty() => break,
                Err(_) | Ok(_) => {}
            }
        }
        // `claude-v2` and `claude-instant-v1`.
        let old = matches!(line, "v1" | "v2" | "instant");
        let newest = if old { 2 } else { 5 };
        let version = (
            numbers.first().copied().unwrap_or(newest),
            numbers.get(1).copied().unwrap_or(0),
        );
        Some(Self { line, version })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_place_are_read() {
        for (name, line, version) in [
            ("claude-opus-4-5-20251101", "opus", (4, 5)),
            ("claude-sonnet-4-20250514", "sonnet", (4, 0)),
            ("claude-sonnet-4-0", "sonnet", (4, 0)),
            ("claude-3-7-sonnet-latest", "sonnet", (3, 7)),
            ("claude-3-opus-20240229", "opus", (3, 0)),
            (
                "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                "sonnet",
                (4, 5),
            ),
            (
                "us.anthropic.claude-3-7-sonnet-20250219-v1:0",
                "sonnet",
                (3, 7),
            ),
            ("anthropic.claude-v2", "v2", (2, 0)),
            ("claude-opus-4@20250514", "opus", (4, 0)),
            ("anthropic/claude-opus-4.5", "opus", (4, 5)),
            ("claude-fable-5", "fable", (5, 0)),
            ("claude-sonnet-5[1m]", "sonnet", (5, 0)),
            ("claude-haiku-5-5-20260801", "haiku", (5, 5)),
            ("claude-next", "next", (5, 0)),
        ] {
            assert_eq!(
                Claude::parse(name),
                Some(Claude { line, version }),
                "{name}"
            );
        }
        assert_eq!(Claude::parse("deepseek-chat"), None);
    }

    #[test]
    fn generations_differ() {
        let thinking = |name: &str| {
            let of = abilities(name);
            (of.thinking, of.off, of.sampling, of.json_schema)
        };
        for (name, expected) in [
            (
                "claude-3-5-haiku-latest",
                (Thinking::None, ThinkingOff::Default, true, false),
            ),
            (
                "claude-3-7-sonnet-latest",
                (Thinking::Budget, ThinkingOff::Default, true, false),
            ),
            (
                "claude-sonnet-4-5",
                (Thinking::Budget, ThinkingOff::Default, true, true),
            ),
            (
                "claude-opus-4-6",
                (Thinking::AdaptiveOrBudget, ThinkingOff::Default, true, true),
            ),
            (
                "claude-opus-4-8",
                (Thinking::Adaptive, ThinkingOff::Default, false, true),
            ),
            (
                "claude-sonnet-5",
                (Thinking::Adaptive, ThinkingOff::Disabled, false, true),
            ),
            (
                "claude-sonnet-5-5",
                (Thinking::Adaptive, ThinkingOff::BetweenTools, false, true),
            ),
            (
                "claude-fable-5",
                (Thinking::Adaptive, ThinkingOff::Never, false, true),
            ),
            (
                "kimi-k2-thinking",
                (Thinking::Budget, ThinkingOff::Disabled, true, false),
            ),
        ] {
            assert_eq!(thinking(name), expected, "{name}");
        }
        assert!(
            abilities("claude-opus-5").forced_choice && !abilities("claude-opus-5-5").forced_choice
        );
        assert!(
            abilities("claude-opus-4-8").inline_system
                && !abilities("claude-sonnet-5").inline_system
        );
    }
}
