//! Sets up research for a run: its sources and its limits.

mod library;

use std::sync::Arc;

use agent::{Research, ResearchRequest, library::Library};
use domain::RunId;
use store::StoreError;

use super::{Preparation, References, RunSubject};
use crate::{documents::SEARCH_TOOL, error::ApiError, identity::groups::Resource, web};

pub(crate) use library::{DocumentLibrary, Pages};

impl Preparation {
    /// The research that a run was started with; `None` if there was none or the run is deleted.
    ///
    /// # Errors
    /// Database errors.
    pub(crate) async fn research_of(
        &self,
        run: RunId,
    ) -> Result<Option<ResearchRequest>, ApiError> {
        let kept = match self.store.run_research(run).await {
            Err(StoreError::NotFound) => None,
            kept => kept?,
        };
        kept.map(|kept| serde_json::from_str(&kept))
            .transpose()
            .map_err(ApiError::internal)
    }

    /// The sources and limits of a report, or `None` if no report is requested. Documents belong to accounts, not to
    /// the users of a front end.
    pub(crate) async fn research(
        &self,
        run: &RunSubject<'_>,
        references: &References,
    ) -> Result<Option<Research>, StoreError> {
        let Some(ResearchRequest::Report { deep, interactive }) = run.spec.research else {
            return Ok(None);
        };
        let principal = run.principal();
        let mut libraries: Vec<Arc<dyn Library>> = Vec::new();
        let may = |tool| run.permit.allows(Resource::Tool(tool));
        if may(SEARCH_TOOL)
            && !principal.is_front_end_person()
            && (references.is_any()
                || !self
                    .store
                    .searchable_collections(principal.account)
                    .await?
                    .is_empty())
        {
            libraries.push(Arc::new(DocumentLibrary::new(
                self.documents.clone(),
                principal,
                references,
            )));
        }
        if may(web::SEARCH) && may(web::FETCH) && self.web.searches(principal) && self.web.reads() {
            libraries.push(Arc::new(Pages::new(&self.web, principal)));
        }
        let settings = &self.config.now().research;
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
