//! The work mode of a request: an answer, an answer after a web search, or a research report.

use agent::ResearchRequest;
use schemars::JsonSchema;
use serde::Deserialize;
use wire::chat_stream::Mode;

/// The work mode that a message selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(
    rename_all = "snake_case",
    expecting = "`mode` has to be \"chat\", \"web_search\", \"research\" or \"deep\""
)]
pub(crate) enum WorkMode {
    /// A conversation.
    #[default]
    Chat,
    /// A conversation, with a [web search](docs/tools/web.md#search-before-the-answer) before the answer.
    WebSearch,
    /// A short [research](docs/research.md).
    Research,
    /// A long [research](docs/research.md).
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
    /// The research of this mode. If `interactive`, the user can be asked questions and can change the plan.
    pub(crate) fn research(self, interactive: bool) -> Option<ResearchRequest> {
        match self {
            Self::Chat => None,
            Self::WebSearch => Some(ResearchRequest::LookUp { web_search: true }),
            Self::Research => Some(ResearchRequest::Report {
                deep: false,
                interactive,
            }),
            Self::Deep => Some(ResearchRequest::Report {
                deep: true,
                interactive,
            }),
        }
    }
}

/// The research that a built-in agent's model id selects.
pub(crate) fn research_of_model(id: &str) -> Option<ResearchRequest> {
    match id {
        "glasshouse/research" => WorkMode::Research.research(false),
        "glasshouse/deep" => WorkMode::Deep.research(false),
        _ => None,
    }
}
