//! The subset of JSON Schema that each server format supports, and its maximum number of tools.

/// The formats of tool definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolFormat {
    /// Chat Completions, of OpenAI and all servers like it.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
    /// Gemini's `generateContent`.
    GenerateContent,
    /// Bedrock's Converse.
    Converse,
}

/// The limits of a format. One unsupported schema makes the server refuse the whole request.
#[derive(Debug)]
pub(super) struct Accepts {
    /// Maximum number of tools of one request; `None` if there is no known limit.
    pub(super) max_tools: Option<usize>,
    pub(super) form: Form,
    pub(super) patterns: Patterns,
    /// Whether a tuple can be told from a list (`prefixItems`).
    pub(super) tuples: bool,
    /// Whether each list has to say what its items are.
    pub(super) needs_items: bool,
    /// The only keywords at the top; empty allows all but choices.
    pub(super) top: &'static [&'static str],
    /// Whether the names of arguments have to be `[a-zA-Z0-9_.-]{1,64}`.
    pub(super) plain_names: bool,
}

/// How a schema is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As it is, but for what is refused.
    Whole,
    /// In the few keywords that are known.
    Subset,
}

/// Which regular expressions are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patterns {
    None,
    /// Those without look-around, references and assertions: they become a grammar.
    Regular,
}

impl ToolFormat {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Chat,
        Self::Responses,
        Self::Messages,
        Self::GenerateContent,
        Self::Converse,
    ];

    /// Maximum number of tools of one request; `None` if there is no known limit.
    #[must_use]
    pub fn max_tools(self) -> Option<usize> {
        self.accepts().max_tools
    }

    pub(super) fn accepts(self) -> &'static Accepts {
        match self {
            // DeepSeek, Groq, Kimi and Mistral have OpenAI's limit. llama.cpp takes patterns only with both anchors and
            // without classes such as `\d`.
            Self::Chat => &Accepts {
                max_tools: Some(128),
                form: Form::Whole,
                patterns: Patterns::None,
                tuples: false,
                needs_items: true,
                top: &[],
                plain_names: false,
            },
            Self::Responses => &Accepts {
                max_tools: Some(128),
                form: Form::Whole,
                patterns: Patterns::Regular,
                tuples: false,
                needs_items: true,
                top: &[],
                plain_names: false,
            },
            Self::Messages => &Accepts {
                max_tools: None,
                form: Form::Whole,
                patterns: Patterns::Regular,
                tuples: true,
                needs_items: false,
                top: &[],
                plain_names: true,
            },
            Self::GenerateContent => &Accepts {
                max_tools: Some(128),
                form: Form::Subset,
                patterns: Patterns::None,
                tuples: true,
                needs_items: false,
                top: &[],
                plain_names: false,
            },
            // Nova takes no other keywords at the top.
            Self::Converse => &Accepts {
                max_tools: None,
                form: Form::Whole,
                patterns: Patterns::Regular,
                tuples: true,
                needs_items: false,
                top: &["type", "properties", "required", "$defs"],
                plain_names: true,
            },
        }
    }
}
