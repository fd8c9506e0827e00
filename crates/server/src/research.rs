//! Research for the runs of this server, from a look at the web before an answer to a report: where it looks, and how long.

mod library;

use std::sync::Arc;

use agent::{Research, library::Library};
use domain::RunId;
use serde::{Deserialize, Serialize};
use store::{Principal, StoreError};
use wire::chat_stream::Mode;

use crate::{
    app::App,
    error::ApiError,
    groups::{Permit, Thing},
    knowledge::SEARCH_TOOL,
    turns::Referred,
    web,
};

pub(crate) use library::{Documents, Pages};

/// Research that somebody wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ResearchWish {
    /// A report.
    Report {
        /// The long one.
        deep: bool,
        /// Whether somebody is there who may be asked, and may change the plan.
        #[serde(default)]
        interactive: bool,
    },
    /// A look before the answer.
    LookUp {
        /// At the web; the only place that is looked at by somebody's wish.
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
    /// The research that is wanted, if it is research; `interactive` where somebody is there who may be asked.
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

    /// What the name of one of our agents stands for.
    pub(crate) fn of_model(id: &str) -> Option<Self> {
        match id {
            "glasshouse/research" => WorkMode::Research.research(false),
            "glasshouse/deep" => WorkMode::Deep.research(false),
            _ => None,
        }
    }
}

impl App {
    /// The research that was wanted of a run; nothing where it was none, or is gone.
    ///
    /// # Errors
    /// Those of the database.
    pub(crate) async fn research_of(&self, run: RunId) -> Result<Option<ResearchWish>, ApiError> {
        let kept = match self.store.run_research(run).await {
            Err(StoreError::NotFound) => None,
            kept => kept?,
        };
        kept.map(|kept| serde_json::from_str(&kept))
            .transpose()
            .map_err(ApiError::internal)
    }

    /// The report as this person may have it; nothing where none is wanted. Documents are an account's own, not those of a
    /// front end's people.
    pub(crate) async fn research(
        &self,
        principal: &Principal,
        permit: &Permit,
        wish: Option<ResearchWish>,
        referred: &Referred,
    ) -> Result<Option<Research>, StoreError> {
        let Some(ResearchWish::Report { deep, interactive }) = wish else {
            return Ok(None);
        };
        let mut libraries: Vec<Arc<dyn Library>> = Vec::new();
        let may = |tool| permit.allows(Thing::Tool(tool));
        if may(SEARCH_TOOL)
            && !principal.is_front_end_person()
            && (referred.is_any()
                || !self
                    .store
                    .searchable_collections(principal.account)
                    .await?
                    .is_empty())
        {
            libraries.push(Arc::new(Documents::new(
                self.knowledge.app(),
                principal,
                referred,
            )));
        }
        if may(web::SEARCH) && may(web::FETCH) && self.web.searches(principal) && self.web.reads() {
            libraries.push(Arc::new(Pages::new(&self.web, principal)));
        }
        let settings = &self.config.research;
        Ok(Some(Research {
            libraries,
            turns: if deep {
                settings.deep_turns
            } else {
                settings.turns
            },
            queries: settings.queries,
            sources: settings.sources,
            interactive,
        }))
    }
}
