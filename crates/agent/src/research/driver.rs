//! The control flow of research: plan, turns of searching and reading, and report. Each step is recorded as tool calls,
//! so that a resumed run takes the same course.

use std::{collections::HashSet, sync::Arc};

use domain::{
    EventBody, LocalizedText, Message, Part, Problem, ProblemCode, Role,
    citation_marks::cited_numbers,
    event::{NoticeLevel, TodoStatus},
};
use serde_json::{Map, Value, json};

use super::{
    Task,
    notes::{Notes, Reading},
    prompts::{self, MAY_ASK, NOTHING_FOUND, QUERIES, REPORT, RESEARCHER},
    says_the_same,
    thinking::{Thought, think},
    tools::{self, ASK, PLAN, READ, parts, todos},
    unconfirmed::unsupported,
};
use crate::{
    answer::RequestedCall,
    answers::write_report,
    budget::limit_reached,
    calls::{MODEL_RESULT_BYTES, request_ours, run_side_by_side},
    journal::Step,
    library::{
        Hit, as_query, first_chars,
        ranking::{Candidate, best, same_address},
    },
    loose_json::texts,
    messages,
    quota::is_limit,
    run::with_instructions,
    script::is_foreign,
    step::{Shape, call_model},
    tool::Toolbox,
    turns::{AgentContext, Stop},
};

/// Maximum part of the conversation sent to the model, messages and bytes.
const MESSAGES: usize = 12;
const CONVERSATION_BYTES: usize = 24_000;
/// Maximum size of the notes sent to the model, bytes.
const MAX_NOTES_BYTES: usize = 60_000;
const MIN_NOTES_BYTES: usize = 2_000;
/// Length of the part of the request that is repeated after the notes, characters.
const REQUEST_CHARS: usize = 2_000;
/// Number of further attempts at a report, with fewer notes, if the model's window is full.
const SHORTER: u32 = 3;
/// Why the step is the last one if a person ended the research.
const FINISH: &str = "The person wants the report now.";

/// Why the search ends.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Over {
    /// A person wants the report now.
    Finish,
    /// A limit is nearly reached.
    Limit(LocalizedText),
}

/// Parses the text in the log.
impl From<&str> for Over {
    fn from(why: &str) -> Self {
        if why == FINISH {
            Self::Finish
        } else {
            Self::Limit(why.into())
        }
    }
}

struct Course {
    agent: Arc<AgentContext>,
    task: Arc<Task>,
    tools: Toolbox,
    conversation: Vec<Message>,
    /// The number of the last step.
    step: u32,
    plan: Vec<String>,
    notes: Notes,
    queries: Vec<String>,
    /// The normalized addresses of the sources that were read.
    read: HashSet<String>,
}

/// Runs the research until there is a report, and returns it.
pub(super) async fn carry_out(
    agent: Arc<AgentContext>,
    task: Arc<Task>,
    history: Vec<Message>,
) -> Result<String, Stop> {
    let (notes, readings) = Notes::of_earlier(&history);
    let read = readings
        .iter()
        .map(|reading| same_address(&reading.url))
        .collect();
    let tools = agent.tools();
    let conversation = conversation(&history);
    let mut course = Course {
        agent,
        task,
        tools,
        conversation,
        step: 0,
        plan: Vec::new(),
        notes,
        queries: Vec::new(),
        read,
    };
    readings
        .iter()
        .for_each(|reading| course.know_text(reading));
    course.check_libraries()?;
    course.notes.tell(&course.agent).await;
    course.task.know(&course.notes);
    let over = course.research().await?;
    course.report(over).await
}

impl Course {
    fn check_libraries(&self) -> Result<(), Stop> {
        let mut libraries = self.task.research.libraries.iter();
        if libraries.any(|library| self.tools.get(library.name()).is_some()) {
            return Ok(());
        }
        Err(Stop::Failed(Problem::new(
            ProblemCode::InvalidRequest,
            messages::Runs::NothingToResearchIn,
        )))
    }

    /// All steps before the report. Returns why it ended early, if it did.
    async fn research(&mut self) -> Result<Option<Over>, Stop> {
        if self.notes.is_empty() {
            if let Some(over) = self.over() {
                return Ok(Some(over));
            }
            self.make_plan().await?;
        }
        for turn in 1..=self.task.research.turns {
            if let Some(over) = self.over() {
                return Ok(Some(over));
            }
            let Some(found) = self.search(turn).await? else {
                break;
            };
            if let Some(over) = self.over() {
                return Ok(Some(over));
            }
            let known = |address: &str| self.read.contains(address);
            let chosen = best(found, known, self.task.research.sources);
            if !chosen.is_empty() {
                self.read_all(turn, chosen).await;
            }
        }
        Ok(self.over().filter(|over| *over == Over::Finish))
    }

    /// Why the next step has to be the report. A step that began before a restart keeps its kind.
    fn over(&self) -> Option<Over> {
        let next = self.agent.journal.step(self.step + 1);
        next.last(|| self.over_now())
    }

    fn over_now(&self) -> Option<Over> {
        if self.agent.run.finish.is_cancelled() {
            return Some(Over::Finish);
        }
        // Searching, reading and the report are still to come.
        let steps = self.agent.steps();
        if self.step + 3 > steps && self.step > 0 {
            let near = messages::Runs::LimitStepsNear {
                count: self.step,
                limit: steps,
            };
            return Some(Over::Limit(near.into()));
        }
        let spent = self.agent.run.active_time.spent();
        self.agent
            .budget
            .nearly_spent(spent)
            .filter(|_| self.step > 0)
            .map(Over::Limit)
    }

    async fn make_plan(&mut self) -> Result<(), Stop> {
        let interactive = self.task.research.interactive;
        for may_ask in [interactive, false] {
            self.next_step().await;
            let decide = async {
                self.agent.status(messages::Runs::Planning).await;
                let language = prompts::in_the_language_of(&self.task.question);
                let ask = format!(
                    "{}{}{language}",
                    prompts::PLAN,
                    if may_ask { MAY_ASK } else { "" }
                );
                let properties = json!({"plan": {"type": "array", "items": {"type": "string"}}, "question": {"type": "string"}});
                let thought = self.think(ask, properties).await?;
                let fields = thought
                    .as_ref()
                    .and_then(|thought| thought.fields.clone())
                    .unwrap_or_default();
                let wanted = self.wanted_plan(&fields, may_ask);
                Ok(self.request(vec![wanted], thought).await)
            };
            let calls = self.step().try_calls(decide).await?;
            let results = self.run(&calls).await;
            let Some((call, result)) = calls.first().zip(results.first()) else {
                break;
            };
            if call.written.name == ASK {
                let answer = result.plain_text();
                self.conversation.push(Message::text(
                    Role::User,
                    format!("(Asked by you, the person said:) {answer}"),
                ));
                continue;
            }
            let result: Value = serde_json::from_str(&result.plain_text()).unwrap_or_default();
            self.plan = parts(texts(result.get("plan")));
            break;
        }
        Ok(())
    }

    fn wanted_plan(&self, fields: &Map<String, Value>, may_ask: bool) -> (&'static str, Value) {
        let question = fields
            .get("question")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .trim();
        let asked = self.task.question.as_str();
        // A question that the person cannot read, or that repeats theirs, is useless: begin without an answer.
        if may_ask
            && !question.is_empty()
            && !is_foreign(question, [asked])
            && !says_the_same(question, asked)
        {
            return (ASK, json!({"question": first_chars(question, 1_000)}));
        }
        let mut plan = parts(texts(fields.get("plan")));
        // Names may be in another script, but a plan entirely in another script cannot be read.
        if plan.iter().all(|part| is_foreign(part, [asked])) {
            // The model cannot plan: use the question itself as the plan.
            plan = parts(vec![first_chars(
                &asked.replace('\n', " "),
                tools::PART_CHARS,
            )]);
        }
        (
            PLAN,
            json!({"plan": plan, "review": self.task.research.interactive}),
        )
    }

    /// The results of a turn's searches; `None` if the notes already answer the question.
    async fn search(&mut self, turn: u32) -> Result<Option<Vec<(String, Vec<Hit>)>>, Stop> {
        self.next_step().await;
        let decide = async {
            self.tell_plan(TodoStatus::InProgress).await;
            self.agent
                .status(messages::Runs::SearchingInTurn { turn })
                .await;
            let properties = json!({"done": {"type": "boolean"}, "queries": {"type": "array", "items": {"type": "string"}}});
            let thought = self.think(self.state(QUERIES), properties).await?;
            let fields = thought.as_ref().map(|thought| thought.fields.clone());
            let queries = match fields {
                // A person wants the report now.
                None => Vec::new(),
                Some(fields) => self.next_queries(fields.as_ref()),
            };
            let wanted = self.searches(&queries);
            Ok(self.request(wanted, thought).await)
        };
        let calls = self.step().try_calls(decide).await?;
        if calls.is_empty() {
            return Ok(None);
        }
        for call in &calls {
            let query = arguments(call)["query"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            if !self.queries.contains(&query) {
                self.queries.push(query);
            }
        }
        let results = self.run(&calls).await;
        let found = calls.iter().zip(results).map(|(call, result)| {
            // A failed call has no results.
            let hits: Vec<Hit> = serde_json::from_str(&result.plain_text()).unwrap_or_default();
            (call.written.name.clone(), hits)
        });
        Ok(Some(found.collect()))
    }

    /// The queries; if the model returns none, the question and the parts of the plan.
    fn next_queries(&self, fields: Option<&Map<String, Value>>) -> Vec<String> {
        let is_done = fields.is_some_and(|fields| fields.get("done") == Some(&Value::Bool(true)));
        if is_done && !self.notes.is_empty() {
            return Vec::new();
        }
        let mut wanted = fields
            .map(|fields| texts(fields.get("queries")))
            .unwrap_or_default();
        let asked = &self.task.question;
        if wanted.is_empty() {
            wanted.push(asked.clone());
            wanted.extend(self.plan.iter().cloned());
        }
        let queries = self.new_queries(&wanted);
        if queries.is_empty()
            || !queries
                .iter()
                .all(|query| is_foreign(query, [asked.as_str()]))
        {
            return queries;
        }
        // Search in the person's language as well: small models get names wrong in another.
        wanted.insert(0, asked.clone());
        self.new_queries(&wanted)
    }

    /// The queries not used before, up to the limit of a turn.
    fn new_queries(&self, wanted: &[String]) -> Vec<String> {
        let mut queries: Vec<String> = Vec::new();
        for query in wanted.iter().map(|query| as_query(query)) {
            if !query.is_empty() && !queries.contains(&query) && !self.queries.contains(&query) {
                queries.push(query);
            }
        }
        queries.truncate(self.task.research.queries);
        queries
    }

    fn searches(&self, queries: &[String]) -> Vec<(&'static str, Value)> {
        let libraries = self
            .task
            .research
            .libraries
            .iter()
            .map(|library| library.name());
        let libraries: Vec<_> = libraries
            .filter(|name| self.tools.get(name).is_some())
            .collect();
        let calls = queries.iter().flat_map(|query| {
            libraries
                .iter()
                .map(move |name| (*name, json!({"query": query})))
        });
        calls.collect()
    }

    /// Reads these sources concurrently, and adds their notes.
    async fn read_all(&mut self, turn: u32, chosen: Vec<Candidate>) {
        self.next_step().await;
        let decide = async {
            let count = chosen.len() as u64;
            self.agent
                .status(messages::Runs::ReadingInTurn { turn, count })
                .await;
            let focus = first_chars(&self.queries.join("; "), 1_000);
            let call = |Candidate { library, hit }| {
                (
                    READ,
                    json!({"library": library, "url": hit.url, "title": hit.title, "focus": focus}),
                )
            };
            self.request(chosen.into_iter().map(call).collect(), None)
                .await
        };
        let calls = self.step().calls(decide).await;
        // Mark the pages read before a restart first, so that they are not read again.
        for call in &calls {
            let reader = self.agent.journal.started_sub_agent(&call.id);
            let read = reader.and_then(|reader| reader.end);
            if let Some(reading) = read.and_then(|end| serde_json::from_str(&end.result).ok()) {
                self.know_text(&reading);
            }
        }
        let results = self.run(&calls).await;
        for (call, result) in calls.iter().zip(results) {
            self.read.insert(same_address(
                arguments(call)["url"].as_str().unwrap_or_default(),
            ));
            if let Ok(reading) = serde_json::from_str::<Reading>(&result.plain_text()) {
                self.notes.add(&reading);
            }
        }
        self.notes.tell(&self.agent).await;
        self.task.know(&self.notes);
    }

    fn know_text(&self, reading: &Reading) {
        if reading.same_as.is_none() && !reading.text.is_empty() {
            self.task.first_with(&reading.text, &reading.url);
        }
    }

    /// Writes the report as the answer.
    async fn report(&mut self, over: Option<Over>) -> Result<String, Stop> {
        let last = over.as_ref().map(|over| match over {
            Over::Finish => FINISH.to_owned(),
            Over::Limit(why) => why.to_string(),
        });
        let agent = Arc::clone(&self.agent);
        let report = agent.journal.step(self.step + 1);
        let write = async {
            self.next_step().await;
            self.step().emit_begin(last).await;
            self.tell_plan(TodoStatus::Completed).await;
            self.agent.status(messages::Runs::WritingReport).await;
            let text = self.write().await?;
            self.tell_share(&text).await;
            Ok(text)
        };
        let text = report.text(write).await?;
        match over {
            Some(Over::Limit(why)) => {
                self.agent.notice(NoticeLevel::Warning, why.clone()).await;
                Err(Stop::Limited {
                    problem: limit_reached(why),
                    text,
                })
            }
            _ => Ok(text),
        }
    }

    async fn write(&self) -> Result<String, Stop> {
        let proofs = &self.notes.sources();
        let mut max_bytes = self.notes_bytes();
        for shorter in 0..=SHORTER {
            let notes = self.notes.for_model(max_bytes);
            let notes = if notes.is_empty() {
                NOTHING_FOUND
            } else {
                &notes
            };
            let mut messages = with_instructions(REPORT, self.conversation.clone());
            let plan = self.plan.join("\n- ");
            // Repeated, since the notes separate it from the original request.
            let request = first_chars(&self.task.question, REQUEST_CHARS);
            let feedback = format!(
                "The notes:\n\n{notes}\n\nWhat was to be found out:\n- {plan}\n\nThe request again: {request}\n\nWrite \
                 the report now."
            );
            messages.push(Message::text(Role::User, feedback));
            let shape = Shape {
                step: self.step,
                format: None,
                cites: Some(self.notes.count()),
                proofs,
            };
            let failed = match call_model(&self.agent, &messages, &Toolbox::default(), shape).await
            {
                Ok(answer) if answer.text.trim().is_empty() => break,
                Ok(answer) if answer.held => {
                    return write_report(&self.agent, self.step, &answer.text, proofs).await;
                }
                Ok(answer) => return Ok(answer.text),
                Err(failed) => failed,
            };
            let is_full = failed.problem.code == ProblemCode::ModelContextFull && !failed.has_begun;
            if !is_full || shorter == SHORTER {
                return Err(Stop::because(failed.problem));
            }
            max_bytes /= 3;
        }
        self.write_without_model().await
    }

    /// Writes the notes as the report, if the model writes nothing.
    async fn write_without_model(&self) -> Result<String, Stop> {
        self.agent
            .notice(NoticeLevel::Warning, messages::Runs::NoReport)
            .await;
        let text = if self.notes.is_empty() {
            NOTHING_FOUND.to_owned()
        } else {
            self.notes.as_report()
        };
        write_report(&self.agent, self.step, &text, &self.notes.sources()).await
    }

    /// Reports how many of the citations are backed by a quote from their source, and what without a citation is in none.
    async fn tell_share(&self, text: &str) {
        let (verified, cited) = self.notes.verified(&cited_numbers(text));
        if cited == 0 {
            self.agent
                .notice(NoticeLevel::Warning, messages::Runs::CitesNothing)
                .await;
        }
        if cited > 0 {
            let level = if verified == cited {
                NoticeLevel::Info
            } else {
                NoticeLevel::Warning
            };
            let verified = verified as u64;
            let count = cited as u64;
            self.agent
                .notice(level, messages::Runs::QuotesFound { verified, count })
                .await;
        }
        let unsupported = unsupported(text, &self.notes.sources(), &self.task.question);
        if !unsupported.is_empty() {
            let list = unsupported.join(", ");
            self.agent
                .notice(
                    NoticeLevel::Warning,
                    messages::Runs::FiguresUnsupported { list },
                )
                .await;
        }
    }

    async fn tell_plan(&self, status: TodoStatus) {
        if !self.plan.is_empty() {
            self.agent
                .emitter
                .emit(EventBody::PlanChanged {
                    todos: todos(&self.plan, status),
                })
                .await;
        }
    }

    /// The state of the research for the model, to precede `ask`.
    fn state(&self, ask: &str) -> String {
        let notes = self.notes.for_model(self.notes_bytes() / 2);
        let notes = if notes.is_empty() { "none yet" } else { &notes };
        let plan = self.plan.join("\n- ");
        let queries = if self.queries.is_empty() {
            "none yet".to_owned()
        } else {
            self.queries.join("\n- ")
        };
        let most = self.task.research.queries;
        format!(
            "To find out:\n- {plan}\n\nSearched for so far:\n- {queries}\n\nNotes so far:\n{notes}\n\n{ask} At most {most} queries."
        )
    }

    fn notes_bytes(&self) -> usize {
        let window = self.agent.models.chosen().settings().context_tokens;
        let bytes = window.map_or(MAX_NOTES_BYTES, |tokens| {
            usize::try_from(tokens).unwrap_or(usize::MAX)
        });
        bytes.clamp(MIN_NOTES_BYTES, MAX_NOTES_BYTES)
    }

    /// Asks the model for fields. `None` if a person wants the report now.
    async fn think(&self, ask: String, properties: Value) -> Result<Option<Thought>, Stop> {
        let mut messages = with_instructions(RESEARCHER, self.conversation.clone());
        messages.push(Message::text(Role::User, ask));
        let thought = tokio::select! {
            biased;
            () = self.agent.run.finish.cancelled() => return Ok(None),
            thought = think(&self.agent, &messages, properties) => thought,
        };
        match thought {
            Ok(thought) => Ok(Some(thought)),
            // With notes there is something to report.
            Err(problem) if is_limit(&problem) && !self.notes.is_empty() => Ok(None),
            Err(problem) => Err(Stop::because(problem)),
        }
    }

    /// Advances to the next step, adding what people have written before it.
    async fn next_step(&mut self) {
        self.step += 1;
        let step = self.agent.journal.step(self.step);
        let said = self.agent.said_before(&step).await;
        self.conversation.extend(said);
    }

    fn step(&self) -> Step<'_> {
        self.agent.journal.step(self.step)
    }

    /// Emits the step's calls, and the model call that led to them.
    async fn request(
        &self,
        wanted: Vec<(&'static str, Value)>,
        thought: Option<Thought>,
    ) -> Vec<RequestedCall> {
        let calls = request_ours(&self.agent, wanted).await;
        if let Some(thought) = thought {
            thought.tell(&self.agent).await;
        }
        calls
    }

    async fn run(&self, calls: &[RequestedCall]) -> Vec<Message> {
        let calls: Vec<&RequestedCall> = calls.iter().collect();
        run_side_by_side(&self.agent, &self.tools, &calls, MODEL_RESULT_BYTES).await
    }
}

fn arguments(call: &RequestedCall) -> Value {
    domain::message::arguments_value(&call.written.arguments)
}

/// The conversation without tool calls and results.
fn conversation(history: &[Message]) -> Vec<Message> {
    let said = history
        .iter()
        .filter(|message| message.role != Role::Tool)
        .filter_map(|message| {
            let content: Vec<Part> = message
                .content
                .iter()
                .filter(|part| !is_blank(part))
                .cloned()
                .collect();
            (!content.is_empty()).then(|| Message {
                content,
                ..Message::text(message.role, "")
            })
        });
    let mut kept = Vec::new();
    let mut bytes = 0;
    for message in said.collect::<Vec<_>>().into_iter().rev().take(MESSAGES) {
        bytes += message.plain_text().len();
        if bytes > CONVERSATION_BYTES && !kept.is_empty() {
            break;
        }
        kept.push(message);
    }
    kept.reverse();
    kept
}

fn is_blank(part: &Part) -> bool {
    matches!(part, Part::Text { text } if text.trim().is_empty())
}
