//! Research: our code decides what is done next, and a model thinks where thinking is needed. A plan, turns of searching
//! and reading, notes with quotes that code has found in the source, and a report that cites them.

mod citations;
mod driver;
pub(crate) mod excerpt;
mod notes;
mod prompts;
pub(crate) mod quotes;
pub(crate) mod ranking;
mod reader;
mod thinking;
pub(crate) mod tools;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use domain::{Message, Role, Sentence, event::NoticeLevel};
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::{
    AgentSpec, Agents, ToolChoice, ToolFailure,
    answers::write_answer,
    tool::Toolbox,
    turns::{AgentContext, Stop},
};

use notes::{Notes, Reading};

pub(crate) use citations::{Citations, nearest};

/// Where research looks: documents, the web.
pub trait Library: fmt::Debug + Send + Sync {
    /// What the log calls a search in it, such as `web_search`.
    fn name(&self) -> &'static str;

    /// The best places for the query, the best first.
    ///
    /// # Errors
    /// In words, where it cannot be searched.
    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Hits, ToolFailure>>;

    /// All of the place at this address, as it is kept here. Only addresses that a search gave are asked for.
    ///
    /// # Errors
    /// In words, where it cannot be read.
    fn read<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Page, ToolFailure>>;
}

/// What a search has come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hits {
    /// The places.
    pub places: Vec<Hit>,
    /// What people should know of how they were found, such as that the usual search was away.
    pub note: Option<String>,
}

/// A place that a search found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// Its title.
    pub title: String,
    /// Its address, by which it can be read.
    pub url: String,
    /// Some of its words.
    pub snippet: String,
}

/// A place that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// The address here of what is kept of it; a place in it is `?from=` and `&to=`, in characters.
    pub copy: Option<String>,
    /// What is kept of it.
    pub text: String,
}

/// How research goes.
#[derive(Debug, Clone)]
pub struct Research {
    /// Where it looks.
    pub libraries: Vec<Arc<dyn Library>>,
    /// How often it searches and reads before it writes, at most.
    pub turns: u32,
    /// Most queries of a turn, in each library.
    pub queries: usize,
    /// Most sources read in a turn.
    pub sources: usize,
    /// Whether somebody is there who may be asked, and may change the plan.
    pub interactive: bool,
}

/// Research into one question.
#[derive(Debug)]
pub(crate) struct Task {
    research: Research,
    /// The last thing the person said.
    question: String,
    /// The texts that were read, by their names, with their addresses: the same text is not read twice.
    texts: Mutex<HashMap<String, String>>,
    known: Mutex<Known>,
}

/// What is known so far, for an end before the report.
#[derive(Debug, Default)]
struct Known {
    /// The notes of all turns that are over.
    notes: Notes,
    /// What was read since.
    readings: Vec<Reading>,
}

impl Research {
    /// Research into what the person said last.
    pub(crate) fn about(self, history: &[Message]) -> Arc<Task> {
        let asked = history
            .iter()
            .rev()
            .find(|message| message.role == Role::User);
        let question = asked.map(Message::plain_text).unwrap_or_default();
        Arc::new(Task {
            research: self,
            question,
            texts: Mutex::default(),
            known: Mutex::default(),
        })
    }
}

impl Task {
    /// The same agents; the main one has what research needs and nothing else. It looks only where each choice lets it.
    pub(crate) fn agents(self: &Arc<Self>, agents: Agents, narrowed: &[ToolChoice]) -> Agents {
        let tools = tools::all(self, narrowed).unwrap_or_else(|failure| {
            tracing::error!(%failure, "research has no tools");
            Vec::new()
        });
        let main = AgentSpec {
            tools: Toolbox::new(tools),
            sub_agents: None,
            ..agents.main
        };
        Agents {
            main,
            sub_agents: Vec::new(),
        }
    }

    /// Carries it out. Returns the report.
    pub(crate) async fn carry_out(
        self: Arc<Self>,
        agent: Arc<AgentContext>,
        history: Vec<Message>,
    ) -> Result<String, Stop> {
        driver::carry_out(agent, self, history).await
    }

    /// Gives what is known as the answer of a run that ends before its report. Nothing where nothing is.
    pub(crate) async fn tell_known(&self, agent: &AgentContext) {
        let Known {
            mut notes,
            readings,
        } = std::mem::take(&mut *self.known());
        readings.iter().for_each(|reading| notes.add(reading));
        if notes.is_empty() {
            return;
        }
        notes.tell(agent).await;
        agent
            .notice(NoticeLevel::Warning, Sentence::NotesSoFar)
            .await;
        if let Err(Stop::Failed(problem)) = write_answer(agent, 0, &notes.as_report(), None).await {
            agent.notice(NoticeLevel::Warning, problem.words()).await;
        }
    }

    /// Notes what a reader has read.
    fn know_reading(&self, reading: &Reading) {
        self.known().readings.push(reading.clone());
    }

    /// Notes all that is known after a turn.
    fn know(&self, notes: &Notes) {
        *self.known() = Known {
            notes: notes.clone(),
            readings: Vec::new(),
        };
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the text of this name is at this address. Where it was found first.
    fn first_with(&self, text: &str, url: &str) -> String {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts
            .entry(text.to_owned())
            .or_insert_with(|| url.to_owned())
            .clone()
    }

    fn library(&self, name: &str) -> Option<&Arc<dyn Library>> {
        self.research
            .libraries
            .iter()
            .find(|library| library.name() == name)
    }
}

/// Longest query, characters.
const QUERY_CHARS: usize = 200;

/// A query on one line. Addresses are left out: what a page says must not lead elsewhere.
pub(crate) fn as_query(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| !word.contains("://"));
    first_chars(&words.collect::<Vec<_>>().join(" "), QUERY_CHARS)
}

/// Whether two texts have the same letters and digits, small or capital.
fn says_the_same(one: &str, other: &str) -> bool {
    let letters = |text: &str| -> String {
        text.chars()
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect()
    };
    letters(one) == letters(other)
}

/// The first so many characters.
pub(crate) fn first_chars(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
