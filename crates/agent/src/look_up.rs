//! Retrieval before the answer: our code searches documents and the web for a message, reads the best pages, and passes
//! the results to the model. Searches and page reads are tool calls in the log, so they are shown and not repeated
//! after a restart.

mod found;
mod tools;

use std::{fmt, sync::Arc};

use domain::{EventBody, LocalizedText, Message, Part, Role, event::NoticeLevel};
use found::{Found, ReadPage};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tools::READ;

use crate::{
    ToolChoice,
    answer::RequestedCall,
    calls::{MODEL_RESULT_BYTES, request_ours, run_side_by_side},
    library::{
        Hit, Library, as_query, first_chars,
        ranking::{best, fused},
    },
    messages,
    tool::Toolbox,
    turns::{AgentContext, Before},
};

/// Maximum number of queries per message, in addition to the message itself.
const QUERIES: usize = 3;
/// Maximum number of pages to read.
const PAGES: usize = 3;
/// Maximum length of the question for which a page is read, characters.
const ABOUT_CHARS: usize = 600;
/// Maximum size of the results for the model, bytes; at most a quarter of its window is used.
const MAX_BYTES: u64 = 60_000;
const UNKNOWN_WINDOW_TOKENS: u64 = 16_000;

/// The model calls of a retrieval.
pub trait Asker: fmt::Debug + Send + Sync {
    /// The search queries, one line each; empty if no retrieval is needed.
    fn queries(&self) -> BoxFuture<'_, Vec<String>>;

    /// The results as text for the model.
    fn material(&self, found: String) -> BoxFuture<'_, String>;
}

/// The configuration of a retrieval.
#[derive(Debug, Clone)]
pub struct LookUp {
    /// Writes the queries and formats the results.
    pub asker: Arc<dyn Asker>,
    /// The documents to search, if any; the results are passages.
    pub documents: Option<Arc<dyn Library>>,
    /// The web search, if the web is to be searched.
    pub web: Option<Arc<dyn Library>>,
    /// Whether the pages found may be read.
    pub reads: bool,
    /// Maximum number of passages from documents, and from pages.
    pub passages: usize,
    /// Whether the results are added to the instructions instead of the message.
    pub in_system: bool,
    /// A warning for the person if something they wanted searched cannot be searched.
    pub warning: Option<LocalizedText>,
}

impl LookUp {
    /// Restricts it to what all of `choices` allow.
    pub(crate) fn narrowed(self, choices: &[ToolChoice]) -> Self {
        let is_open = |name: &str| choices.iter().all(|choice| choice.allows(name));
        let open =
            |library: Option<Arc<dyn Library>>| library.filter(|library| is_open(library.name()));
        let reads = self.reads && is_open(READ);
        Self {
            documents: open(self.documents),
            web: open(self.web),
            reads,
            ..self
        }
    }
}

/// Retrieves material for the last message of the history. Returns the history with the material, and the state needed
/// in later turns. `numbers` are the numbers of sources already in the log.
pub(crate) async fn look(
    agent: &Arc<AgentContext>,
    look_up: LookUp,
    mut history: Vec<Message>,
    numbers: usize,
) -> (Vec<Message>, Before) {
    let tools = Toolbox::new(tools::all(&look_up));
    let mut look = Look {
        agent,
        look_up,
        tools,
        question: question(&history),
        step: 0,
    };
    let found = look.find().await;
    let mut before = Before {
        steps: look.step,
        ..Before::default()
    };
    for step in 1..=look.step {
        let said = agent.journal.step(step).said();
        history.extend(said.map(|text| Message::text(Role::User, text)));
    }
    let (text, sources) = found.listing(look.room(), numbers);
    if sources.is_empty() {
        return (history, before);
    }
    before.cites = Some(numbers + sources.len());
    agent
        .journal
        .once(EventBody::SourcesFound { sources })
        .await;
    let material = look.look_up.asker.material(text).await;
    let asked = history
        .iter_mut()
        .rfind(|message| message.role == Role::User);
    match asked.filter(|_| !look.look_up.in_system) {
        Some(asked) => asked.content.insert(0, Part::Text { text: material }),
        None => before.instructions = material,
    }
    (history, before)
}

struct Look<'a> {
    agent: &'a Arc<AgentContext>,
    look_up: LookUp,
    tools: Toolbox,
    question: String,
    /// The number of the last step.
    step: u32,
}

impl Look<'_> {
    async fn find(&mut self) -> Found {
        let calls = self.search().await;
        let results = self.run(&calls).await;
        let mut documents = Vec::new();
        let mut pages = Vec::new();
        let mut queries = Vec::new();
        for (call, result) in calls.iter().zip(results) {
            // A failed call has no results.
            let hits: Vec<Hit> = serde_json::from_str(&result.plain_text()).unwrap_or_default();
            let is_of_documents = self
                .look_up
                .documents
                .as_ref()
                .is_some_and(|library| library.name() == call.written.name);
            if is_of_documents {
                documents.push(hits);
            } else {
                pages.push((call.written.name.clone(), hits));
            }
            let query = arguments(call)["query"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            if !queries.contains(&query) {
                queries.push(query);
            }
        }
        let mut documents = fused(documents);
        documents.truncate(self.look_up.passages);
        let chosen: Vec<Hit> = best(pages, |_| false, PAGES)
            .into_iter()
            .map(|candidate| candidate.hit)
            .collect();
        let read = self.read(&chosen, &queries).await;
        let pages = chosen.into_iter().zip(read).collect();
        Found {
            documents,
            pages,
            passages: self.look_up.passages,
        }
    }

    /// The searches; empty if no retrieval is needed.
    async fn search(&mut self) -> Vec<RequestedCall> {
        self.step = 1;
        let journal = &self.agent.journal;
        let step = journal.step(1);
        if !step.is_answered() && journal.step(2).is_begun() {
            // No retrieval was needed.
            return Vec::new();
        }
        let warning = self.look_up.warning.clone();
        let warning = warning.filter(|_| !step.is_begun());
        let decide = async {
            if let Some(warning) = warning {
                self.agent.notice(NoticeLevel::Warning, warning).await;
            }
            self.agent.status(messages::Runs::LookingFor).await;
            let queries = self.queries().await;
            if queries.is_empty() {
                return Vec::new();
            }
            self.agent
                .status(messages::Runs::SearchingQueries {
                    count: queries.len() as u64,
                })
                .await;
            let libraries = [&self.look_up.documents, &self.look_up.web]
                .into_iter()
                .flatten();
            let names: Vec<&str> = libraries.map(|library| library.name()).collect();
            let wanted = queries.iter().flat_map(|query| {
                names
                    .iter()
                    .map(move |name| (*name, json!({"query": query})))
            });
            request_ours(self.agent, wanted.collect()).await
        };
        step.calls(decide).await
    }

    async fn queries(&self) -> Vec<String> {
        if self.tools.names().is_empty() {
            return Vec::new();
        }
        let _at_work = self.agent.run.begin_work().await;
        let _busy = self.agent.run.active_time.busy();
        let mut queries: Vec<String> = Vec::new();
        for query in self.look_up.asker.queries().await {
            let query = as_query(&query);
            let is_known = |known: &String| known.to_lowercase() == query.to_lowercase();
            if !query.is_empty() && !queries.iter().any(is_known) {
                queries.push(query);
            }
        }
        queries.truncate(QUERIES);
        queries
    }

    /// The pages that were read, at the index of their hits; `None` for those not read.
    async fn read(&mut self, chosen: &[Hit], queries: &[String]) -> Vec<Option<ReadPage>> {
        let nothing = vec![None; chosen.len()];
        if chosen.is_empty() || !self.look_up.reads {
            return nothing;
        }
        self.step += 1;
        let decide = async {
            self.agent
                .status(messages::Runs::ReadingPages {
                    count: chosen.len() as u64,
                })
                .await;
            let about = first_chars(
                &format!("{} {}", queries.join(" "), self.question),
                ABOUT_CHARS,
            );
            let wanted = chosen
                .iter()
                .map(|hit| (READ, json!({"url": hit.url, "about": about})));
            request_ours(self.agent, wanted.collect()).await
        };
        let calls = self.agent.journal.step(self.step).calls(decide).await;
        let results = self.run(&calls).await;
        let mut read = nothing;
        for (call, result) in calls.iter().zip(results) {
            let of = chosen
                .iter()
                .position(|hit| arguments(call)["url"] == hit.url);
            if let Some(place) = of.and_then(|at| read.get_mut(at)) {
                *place = serde_json::from_str(&result.plain_text()).ok();
            }
        }
        read
    }

    async fn run(&self, calls: &[RequestedCall]) -> Vec<Message> {
        let calls: Vec<&RequestedCall> = calls.iter().collect();
        run_side_by_side(self.agent, &self.tools, &calls, MODEL_RESULT_BYTES).await
    }

    /// Maximum size of the results for the model, bytes.
    fn room(&self) -> usize {
        // A token has about four bytes.
        let window = self
            .agent
            .models
            .chosen()
            .settings()
            .context_tokens
            .unwrap_or(UNKNOWN_WINDOW_TOKENS);
        usize::try_from(window.min(MAX_BYTES)).unwrap_or(usize::MAX)
    }
}

/// The person's last message.
fn question(history: &[Message]) -> String {
    let asked = history.iter().rfind(|message| message.role == Role::User);
    asked.map(Message::plain_text).unwrap_or_default()
}

fn arguments(call: &RequestedCall) -> Value {
    domain::message::arguments_value(&call.written.arguments)
}
