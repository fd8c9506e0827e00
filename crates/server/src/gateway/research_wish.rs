//! What kind of work a request wants: an answer, a look at the web before it, or a report.

use serde::{Deserialize, Serialize};
use wire::chat_stream::Mode;

/// The research that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ResearchWish {
    /// A report.
    Report {
        /// The long one.
        deep: bool,
        /// Whether the person can be asked, and can change the plan.
        #[serde(default)]
        interactive: bool,
    },
    /// A look before the answer.
    LookUp {
        /// On the web, which is searched on request only.
        web_search: bool,
    },
}

/// What kind of work is wanted, as our own API names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(
    rename_all = "snake_case",
    expecting = "`mode` has to be \"chat\", \"web_search\", \"research\" or \"deep\""
)]
pub(crate) enum WorkMode {
    /// A conversation.
    #[default]
    Chat,
    /// The same, with a look at the web before the answer.
    WebSearch,
    /// A short research.
    Research,
    /// A long one.
    Deep,
}

impl From<Mode> for WorkMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Chat => Self::Chat,
            Mode::WebSearch => Self::WebSearch,
            Mode::Research => Self::Research,
            Mode::Deep => Self::Deep,
        }
    }
}

impl WorkMode {
    /// The research of this mode. With `interactive` the person can be asked and can change the plan.
    pub(crate) fn research(self, interactive: bool) -> Option<ResearchWish> {
        match self {
            Self::Chat => None,
            Self::WebSearch => Some(ResearchWish::LookUp { web_search: true }),
            Self::Research => Some(ResearchWish::Report {
                deep: false,
                interactive,
            }),
            Self::Deep => Some(ResearchWish::Report {
                deep: true,
                interactive,
            }),
        }
    }
}

impl ResearchWish {
    /// Whether the web is to be looked at before the answer.
    pub(crate) fn looks_at_web(self) -> bool {
        matches!(self, Self::LookUp { web_search: true })
    }

    /// The research that a built-in agent's model id stands for.
    pub(crate) fn of_model(id: &str) -> Option<Self> {
        match id {
            "glasshouse/research" => WorkMode::Research.research(false),
            "glasshouse/deep" => WorkMode::Deep.research(false),
            _ => None,
        }
    }
}
