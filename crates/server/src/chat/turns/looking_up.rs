//! The look before an answer: at the web where the person wants it, and at the documents that earlier messages point to. What
//! is searched for is worked out by the pipeline for that, where it is on.

use std::sync::Arc;

use agent::{
    Asker, LookUp,
    library::Library,
    pipelines::{Pipeline, Said, read_queries},
};
use domain::{ChatId, CollectionId, DocumentId, Message, Part, Role, RunId, Sentence, UserId};
use futures_util::{FutureExt, future::BoxFuture};
use serde_json::Map;
use store::StoreError;

use super::{Referred, referred::Searched};
use crate::{
    chat::{
        pipelines::{Job, said_in, values},
        research::{DocumentLibrary, Pages},
        turns::Preparation,
    },
    documents::{SEARCH_TOOL, Scope},
    error::ApiError,
    gateway::{models::ResolvedModel, research_wish::ResearchWish},
    identity::groups::{Permit, Thing},
    web,
};

/// Most queries that are taken from the pipeline.
const QUERIES: usize = 3;

/// What documents are searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Queries {
    /// The message itself.
    Itself,
    /// What the pipeline says, and the message.
    WorkedOut,
}

/// Whose look it is, and for what.
pub(super) struct Looker<'a> {
    pub(super) model: &'a ResolvedModel,
    pub(super) permit: &'a Permit,
    pub(super) chat: Option<ChatId>,
    pub(super) run: RunId,
    pub(super) history: &'a [Message],
}

impl Preparation {
    /// What documents are searched for before the answer; nothing where none are. The first message is its own query, and
    /// costs no call before the answer. Where no queries are worked out, only a message that points to documents has any.
    pub(super) async fn document_queries(
        &self,
        looker: &Looker<'_>,
        referred: &Referred,
    ) -> Result<Option<Queries>, StoreError> {
        let of_agent = looker
            .model
            .agent
            .as_ref()
            .is_some_and(|agent| agent.collections.is_some());
        let may = looker.permit.allows(Thing::Tool(SEARCH_TOOL))
            && !looker.model.authority.principal.is_front_end_person();
        if !may || referred.is_empty() && !of_agent {
            // Most chats, which then read nothing for it.
            return Ok(None);
        }
        let is_first = !looker
            .history
            .iter()
            .any(|message| message.role == Role::Assistant);
        let are_worked_out = !is_first && {
            let set = self
                .effective_pipelines
                .pipeline_in_force(Pipeline::Queries)
                .await?;
            set.enabled && set.common.retrieval_queries
        };
        Ok(match are_worked_out {
            true => Some(Queries::WorkedOut),
            false => points_to_documents(looker.history).then_some(Queries::Itself),
        })
    }

    /// How to look before the answer; nothing where there is nothing to look in. `searched` are the documents that the
    /// conversation points to and that are not told whole; where there are none and queries are worked out, those of the agent
    /// are looked in.
    pub(super) async fn look_up(
        self: &Arc<Self>,
        looker: Looker<'_>,
        wish: Option<ResearchWish>,
        searched: Option<(Searched, Queries)>,
    ) -> Result<Option<LookUp>, StoreError> {
        let Looker {
            model,
            permit,
            chat,
            run,
            history,
        } = looker;
        let principal = &model.authority.principal;
        let owner = principal.account;
        let may = |tool| permit.allows(Thing::Tool(tool));
        let wants_web = wish.is_some_and(ResearchWish::looks_at_web);
        let searches = wants_web && may(web::SEARCH) && self.web.searches(principal);
        let web = searches.then(|| Arc::new(Pages::new(&self.web, principal)) as Arc<dyn Library>);
        let works_out = matches!(searched, Some((_, Queries::WorkedOut)));
        let within = match searched {
            Some((searched, _)) if !searched.is_empty() => Some(searched.places()),
            Some((_, Queries::WorkedOut)) => self.given_to_agent(owner, model).await?,
            _ => None,
        };
        let documents = within.map(|within| {
            let documents = DocumentLibrary::passages(self.documents.clone(), principal, within);
            Arc::new(documents) as Arc<dyn Library>
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
            works_out,
        };
        let warning = (wants_web && web.is_none()).then(|| Sentence::NoWebHere.into());
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

    /// The collections that the agent has been given, if any.
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

/// Asks the pipeline for queries on the person's account.
#[derive(Debug)]
struct Looking {
    preparation: Arc<Preparation>,
    owner: UserId,
    chat: Option<ChatId>,
    run: RunId,
    model: ResolvedModel,
    said: Vec<Said>,
    question: String,
    /// Whether the last message itself points to documents.
    points: bool,
    web: bool,
    documents: bool,
    /// Whether queries for the documents alone are worth a call.
    works_out: bool,
}

impl Looking {
    async fn worked_out(&self) -> Vec<String> {
        let itself = || vec![self.question.clone()];
        let asked = self.ask().await;
        // A model that cannot do it: the question itself is looked for.
        let mut queries = asked.unwrap_or_else(|error| {
            tracing::info!(run = %self.run, %error, "no queries are worked out");
            None
        });
        if let Some(queries) = &mut queries {
            queries.truncate(QUERIES);
        }
        match queries {
            None => itself(),
            // Documents are searched for what was said, too.
            Some(queries) if self.documents && (self.points || !queries.is_empty()) => {
                [queries, itself()].concat()
            }
            Some(queries) => queries,
        }
    }

    /// What the model says; nothing where it is not asked or says nothing that can be used.
    async fn ask(&self) -> Result<Option<Vec<String>>, ApiError> {
        let settings = &self.preparation.effective_pipelines;
        if !self.web && !self.works_out {
            return Ok(None);
        }
        let set = settings.pipeline_in_force(Pipeline::Queries).await?;
        let is_on =
            self.web && set.common.search_queries || self.works_out && set.common.retrieval_queries;
        let (true, true, Some(template)) = (is_on, set.enabled, set.template.clone()) else {
            return Ok(None);
        };
        let Some(model) = settings.pipeline_model(&set, &self.model)? else {
            return Ok(None);
        };
        let (person, now) = (
            settings.told_person(&self.preparation.store.user(self.owner).await?),
            settings.told_now(),
        );
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

    async fn told(&self, found: String) -> String {
        match self
            .preparation
            .as_material(self.owner, &found, Some(&self.question))
            .await
        {
            Ok(told) => told,
            Err(error) => {
                tracing::warn!(run = %self.run, %error, "what was found is told without the template");
                found
            }
        }
    }
}

impl Asker for Looking {
    fn queries(&self) -> BoxFuture<'_, Vec<String>> {
        self.worked_out().boxed()
    }

    fn material(&self, found: String) -> BoxFuture<'_, String> {
        self.told(found).boxed()
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
