//! Research: code decides what is done next, and a model is asked where judgement is needed. It makes a plan, searches and reads
//! in turns, takes notes whose quotes code has found in the source, and writes a report that cites them.

mod citations;
mod driver;
mod notes;
mod prompts;
mod reader;
mod thinking;
pub(crate) mod tools;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use domain::{Message, Role, Sentence, event::NoticeLevel};
use notes::{Notes, Reading};

use crate::{
    AgentSpec, Agents, ToolChoice,
    answers::write_answer,
    library::Library,
    tool::Toolbox,
    turns::{AgentContext, Stop},
};

pub(crate) use citations::{Citations, nearest};

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
