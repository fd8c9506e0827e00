//! Retrieval before the answer: from the web if the user asks for it, and from documents that earlier messages refer
//! to. The query pipeline generates the queries if it is enabled.

use std::sync::Arc;

use agent::{
    Asker, LookUp,
    library::Library,
    pipelines::{Pipeline, Said, read_queries},
};
use domain::{ChatId, CollectionId, DocumentId, Message, Part, Role, RunId, UserId};
use futures_util::{FutureExt, future::BoxFuture};
use serde_json::Map;
use store::StoreError;

use super::{DocumentLibrary, Pages, Preparation};
use super::{References, RunSubject, references::SearchScope};
use crate::{
    documents::{SEARCH_TOOL, Scope},
    error::ApiError,
    gateway::models::ResolvedModel,
    identity::groups::Resource,
    messages,
    pipelines::{Job, said_in, values},
    web,
};

/// Maximum number of queries from the pipeline.
const QUERIES: usize = 3;

/// The queries that documents are searched with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Queries {
    /// The message itself.
    Itself,
    /// Those of the pipeline, and the message.
    Generated,
}

impl Preparation {
    /// The queries that documents are searched with before the answer, if they are searched at all. The first message
    /// is its own query, without a model call. Unless queries are generated, only a message that refers to documents
    /// has one.
    pub(super) async fn document_queries(
        &self,
        run: &RunSubject<'_>,
        references: &References,
    ) -> Result<Option<Queries>, StoreError> {
        let of_agent = run
            .model
            .agent
            .as_ref()
            .is_some_and(|agent| agent.collections.is_some());
        let may = run.permit.allows(Resource::Tool(SEARCH_TOOL))
            && !run.principal().is_front_end_person();
        if !may || references.is_empty() && !of_agent {
            // Most chats: they read no settings for it.
            return Ok(None);
        }
        let is_first = !run
            .history
            .iter()
            .any(|message| message.role == Role::Assistant);
        let are_generated = !is_first && {
            let set = self
                .effective_pipelines
                .pipeline_in_force(Pipeline::Queries)
                .await?;
            set.enabled && set.common.retrieval_queries
        };
        Ok(match are_generated {
            true => Some(Queries::Generated),
            false => points_to_documents(run.history).then_some(Queries::Itself),
        })
    }

    /// The retrieval before the answer; `None` if there is nothing to search. `searched` are the referenced documents
    /// that are not in the prompt in full. If there are none and queries are generated, the agent's own documents are
    /// searched.
    pub(super) async fn look_up(
        self: &Arc<Self>,
        subject: &RunSubject<'_>,
        searched: Option<(SearchScope, Queries)>,
    ) -> Result<Option<LookUp>, StoreError> {
        let RunSubject {
            model,
            permit,
            chat,
            run,
            history,
            ..
        } = *subject;
        let principal = subject.principal();
        let owner = principal.account;
        let may = |tool| permit.allows(Resource::Tool(tool));
        let wants_web = subject.spec.searches_web_first();
        let searches = wants_web && may(web::SEARCH) && self.web.searches(principal);
        let web = searches.then(|| Arc::new(Pages::new(&self.web, principal)) as Arc<dyn Library>);
        let generates = matches!(searched, Some((_, Queries::Generated)));
        let within = match searched {
            Some((searched, _)) if !searched.is_empty() => Some(searched.places()),
            Some((_, Queries::Generated)) => self.given_to_agent(owner, model).await?,
            _ => None,
        };
        let documents = within.map(|(collections, named)| {
            let documents = self.documents.clone();
            let library = DocumentLibrary::passages(documents, principal, collections, named);
            Arc::new(library) as Arc<dyn Library>
        });
        if !wants_web && documents.is_none() {
            return Ok(None);
        }
        let asker = Looking {
            preparation: Arc::clone(self),
            owner,
            chat,
            run,
            model: model.clone(),
            said: said_in(history),
            question: question(history),
            points: points_to_documents(history),
            web: web.is_some(),
            documents: documents.is_some(),
            generates,
        };
        let warning = (wants_web && web.is_none()).then(|| messages::Runs::NoWebHere.into());
        let settings = self.effective_pipelines.common_settings().await?;
        Ok(Some(LookUp {
            asker: Arc::new(asker),
            documents,
            web,
            reads: may(web::FETCH) && self.web.reads(),
            passages: settings.rag_top_k as usize,
            in_system: settings.rag_system_context,
            warning,
        }))
    }

    /// The agent's own collections, if it has any.
    async fn given_to_agent(
        &self,
        owner: UserId,
        model: &ResolvedModel,
    ) -> Result<Option<(Vec<CollectionId>, Vec<DocumentId>)>, StoreError> {
        let only = model
            .agent
            .as_ref()
            .and_then(|agent| agent.collections.clone());
        let Some(only) = only else { return Ok(None) };
        let scope = Scope {
            only: Some(only),
            attached: Vec::new(),
        };
        let collections = scope.collections(&self.store, owner).await?;
        let ids: Vec<CollectionId> = collections
            .into_iter()
            .map(|collection| collection.id)
            .collect();
        Ok((!ids.is_empty()).then_some((ids, Vec::new())))
    }
}

/// Calls the query pipeline on the user's account.
#[derive(Debug)]
struct Looking {
    preparation: Arc<Preparation>,
    owner: UserId,
    chat: Option<ChatId>,
    run: RunId,
    model: ResolvedModel,
    said: Vec<Said>,
    question: String,
    /// Whether the last message itself refers to documents.
    points: bool,
    web: bool,
    documents: bool,
    /// Whether queries for documents alone are generated.
    generates: bool,
}

impl Looking {
    async fn generated(&self) -> Vec<String> {
        let itself = || vec![self.question.clone()];
        let asked = self.ask().await;
        // If the model cannot do it, the question itself is the query.
        let mut queries = asked.unwrap_or_else(|error| {
            tracing::info!(run = %self.run, %error, "no queries were generated");
            None
        });
        if let Some(queries) = &mut queries {
            queries.truncate(QUERIES);
        }
        match queries {
            None => itself(),
            // Documents are searched with the message, too.
            Some(queries) if self.documents && (self.points || !queries.is_empty()) => {
                [queries, itself()].concat()
            }
            Some(queries) => queries,
        }
    }

    /// The model's queries; `None` if it is not asked or its answer has none.
    async fn ask(&self) -> Result<Option<Vec<String>>, ApiError> {
        let settings = &self.preparation.effective_pipelines;
        if !self.web && !self.generates {
            return Ok(None);
        }
        let set = settings.pipeline_in_force(Pipeline::Queries).await?;
        let is_on =
            self.web && set.common.search_queries || self.generates && set.common.retrieval_queries;
        let (true, true, Some(template)) = (is_on, set.enabled, set.template.clone()) else {
            return Ok(None);
        };
        let Some(model) = settings.pipeline_model(&set, &self.model)? else {
            return Ok(None);
        };
        let person = settings.person_variables(&self.preparation.store.user(self.owner).await?);
        let now = settings.time_variables();
        let prompt = template.fill(&values(&self.said, &person, &now));
        let job = Job {
            pipelines: &[Pipeline::Queries],
            chat: self.chat,
            run: Some(self.run),
            model,
            bounds: set.bounds,
            metadata: Map::new(),
        };
        let read = |text: &str| read_queries(text).map_err(|fault| (fault, None));
        let shown = |queries: &Vec<String>| match queries.is_empty() {
            true => "Nothing has to be looked up.".to_owned(),
            false => queries.join("\n"),
        };
        Ok(self
            .preparation
            .pipelines
            .ask_pipeline(&job, prompt, read, shown)
            .await?
            .read)
    }

    async fn prompt_text(&self, found: String) -> String {
        match self
            .preparation
            .as_material(self.owner, &found, Some(&self.question))
            .await
        {
            Ok(prompt_text) => prompt_text,
            Err(error) => {
                tracing::warn!(run = %self.run, %error, "search results go into the prompt without the template");
                found
            }
        }
    }
}

impl Asker for Looking {
    fn queries(&self) -> BoxFuture<'_, Vec<String>> {
        self.generated().boxed()
    }

    fn material(&self, found: String) -> BoxFuture<'_, String> {
        self.prompt_text(found).boxed()
    }
}

fn asked(history: &[Message]) -> Option<&Message> {
    history.iter().rfind(|message| message.role == Role::User)
}

fn question(history: &[Message]) -> String {
    asked(history).map(Message::plain_text).unwrap_or_default()
}

fn points_to_documents(history: &[Message]) -> bool {
    let points = |part: &Part| matches!(part, Part::Collection { .. } | Part::Document { .. });
    asked(history).is_some_and(|message| message.content.iter().any(points))
}
