//! The research mode: code controls the steps, and a model is called where judgement is needed. It plans, searches and
//! reads in turns, takes notes whose quotes code has verified in the source, and writes a report that cites them.

mod citations;
mod driver;
mod notes;
mod prompts;
mod reader;
mod thinking;
pub(crate) mod tools;
mod unconfirmed;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use domain::{Message, Role, event::NoticeLevel};
use notes::{Notes, Reading};

use crate::{
    AgentSpec, Agents, ToolChoice,
    answers::write_report,
    library::Library,
    messages,
    tool::Toolbox,
    turns::{AgentContext, Stop},
};

pub(crate) use citations::{Citations, nearest};
pub(crate) use unconfirmed::unconfirmed;

/// The settings of research.
#[derive(Debug, Clone)]
pub struct Research {
    /// The libraries to search.
    pub libraries: Vec<Arc<dyn Library>>,
    /// Maximum number of turns of searching and reading before the report.
    pub turns: u32,
    /// Maximum number of queries per turn and library.
    pub queries: usize,
    /// Maximum number of sources read per turn.
    pub sources: usize,
    /// Whether a person can be asked, and can change the plan.
    pub interactive: bool,
}

/// A research task.
#[derive(Debug)]
pub(crate) struct Task {
    research: Research,
    /// The person's last message.
    question: String,
    /// Names of the texts that were read, with their addresses, so that the same text is not read twice.
    texts: Mutex<HashMap<String, String>>,
    known: Mutex<Known>,
}

/// The results so far, used if the run ends before the report.
#[derive(Debug, Default)]
struct Known {
    /// The notes of all finished turns.
    notes: Notes,
    /// The notes of the current turn.
    readings: Vec<Reading>,
}

impl Research {
    /// Research into the person's last message.
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
    /// Restricts the agents to a main agent with only the research tools. It searches only what all of `narrowed`
    /// allow.
    pub(crate) fn agents(self: &Arc<Self>, agents: Agents, narrowed: &[ToolChoice]) -> Agents {
        let tools = tools::all(self, narrowed).unwrap_or_else(|failure| {
            tracing::error!(%failure, "failed to create the research tools");
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

    /// Runs the research. Returns the report.
    pub(crate) async fn carry_out(
        self: Arc<Self>,
        agent: Arc<AgentContext>,
        history: Vec<Message>,
    ) -> Result<String, Stop> {
        driver::carry_out(agent, self, history).await
    }

    /// Emits the results so far, if any, as the answer of a run that ends before its report.
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
            .notice(NoticeLevel::Warning, messages::Runs::NotesSoFar)
            .await;
        let written = write_report(agent, 0, &notes.as_report(), &notes.sources()).await;
        if let Err(Stop::Failed(problem)) = written {
            agent.notice(NoticeLevel::Warning, problem.words()).await;
        }
    }

    /// Records the notes of a reader.
    fn know_reading(&self, reading: &Reading) {
        self.known().readings.push(reading.clone());
    }

    /// Records all notes after a turn.
    fn know(&self, notes: &Notes) {
        *self.known() = Known {
            notes: notes.clone(),
            readings: Vec::new(),
        };
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the first address recorded for the text of this name, recording `url` if there is none.
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

/// Whether two texts have the same letters and digits, ignoring case.
fn says_the_same(one: &str, other: &str) -> bool {
    let letters = |text: &str| -> String {
        text.chars()
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect()
    };
    letters(one) == letters(other)
}
