//! The steps of research as tool calls, so that they are logged, shown, and not repeated after a crash.

use std::sync::Arc;

use domain::{
    EventBody, Form, Reply,
    event::{Todo, TodoStatus},
    form::{Field, Kind},
};
use llm::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Task, reader};
use crate::{
    AgentSpec, Question, Tool, ToolChoice, ToolFailure, Toolbox,
    library::{Library, first_chars, search},
    loose_json,
    subagent::{Job, run_reader},
    tool::{ToolContext, ToolKind},
};

/// Shows the plan, and waits for changes if the person may make some.
pub(super) const PLAN: &str = "plan_research";
/// Reads one source and takes notes.
pub(super) const READ: &str = "read_source";
/// Asks the person.
pub(super) const ASK: &str = "ask_user";

/// Maximum length of a search snippet, characters.
const SNIPPET_CHARS: usize = 240;
/// Maximum number of parts of a plan, and maximum length of each in characters.
pub(super) const MAX_PARTS: usize = 10;
pub(super) const PART_CHARS: usize = 300;
/// The name of the only field in the form of the plan.
const FIELD: &str = "plan";

pub(super) fn all(
    task: &Arc<Task>,
    narrowed: &[ToolChoice],
) -> Result<Vec<Arc<Tool>>, ToolFailure> {
    let mut tools = vec![Arc::new(ask()?), Arc::new(plan()?)];
    let is_open =
        |library: &&Arc<dyn Library>| narrowed.iter().all(|choice| choice.allows(library.name()));
    for library in task.research.libraries.iter().filter(is_open) {
        tools.push(Arc::new(search::tool(library, SNIPPET_CHARS)?));
    }
    tools.push(Arc::new(read(task)?));
    Ok(tools)
}

fn spec(name: &str, description: &str, properties: Value) -> ToolSpec {
    let parameters = json!({"type": "object", "properties": properties});
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: parameters.into(),
    }
}

fn ask() -> Result<Tool, ToolFailure> {
    let spec = spec(
        ASK,
        "Asks the person.",
        json!({"question": {"type": "string"}}),
    );
    Tool::from_outside(
        spec,
        ToolKind::WAITING,
        |arguments: Value, context: ToolContext| async move {
            let text = arguments["question"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            let question = Question {
                text,
                options: Vec::new(),
                form: None,
            };
            Ok(match wait(&context, question).await {
                Some(Reply::Words(words)) => words,
                _ => "(no answer)".to_owned(),
            })
        },
    )
}

/// Asks, and waits until the person answers or wants the report now.
async fn wait(context: &ToolContext, question: Question) -> Option<Reply> {
    let finish = context.agent.run.finish.clone();
    context
        .ask(question, async move { finish.cancelled().await })
        .await
}

fn plan() -> Result<Tool, ToolFailure> {
    let properties = json!({
        "plan": {"type": "array", "items": {"type": "string"}},
        "review": {"type": "boolean"},
    });
    let spec = spec(PLAN, "Shows the plan of the research.", properties);
    Tool::from_outside(spec, ToolKind::WAITING, show_plan)
}

#[derive(Deserialize)]
struct Plan {
    plan: Vec<String>,
    #[serde(default)]
    review: bool,
}

async fn show_plan(arguments: Value, context: ToolContext) -> Result<String, ToolFailure> {
    let Plan { plan, review } =
        serde_json::from_value(arguments).map_err(|error| ToolFailure(error.to_string()))?;
    tell_plan(&context, &plan).await;
    let reply = if review {
        let question = Question {
            text: "This is the plan. Change it, or begin.".to_owned(),
            options: Vec::new(),
            form: Some(form(&plan)?),
        };
        wait(&context, question).await
    } else {
        None
    };
    let changed = match reply {
        Some(Reply::Values(values)) => parts(loose_json::texts(values.get(FIELD))),
        _ => Vec::new(),
    };
    // If the person does not reply or makes no changes, the research begins.
    let plan = if changed.is_empty() { plan } else { changed };
    tell_plan(&context, &plan).await;
    Ok(json!({ "plan": plan }).to_string())
}

async fn tell_plan(context: &ToolContext, plan: &[String]) {
    context
        .emit(EventBody::PlanChanged {
            todos: todos(plan, TodoStatus::Pending),
        })
        .await;
}

/// The plan as shown.
pub(super) fn todos(plan: &[String], status: TodoStatus) -> Vec<Todo> {
    plan.iter()
        .map(|part| Todo {
            content: part.clone(),
            status,
        })
        .collect()
}

/// The parts of a plan, limited in length.
pub(super) fn parts(texts: Vec<String>) -> Vec<String> {
    let lines = texts.iter().flat_map(|text| text.lines());
    let parts = lines.map(|line| line.trim().trim_start_matches(['-', '*', '•']).trim());
    parts
        .filter(|part| !part.is_empty())
        .take(MAX_PARTS)
        .map(|part| first_chars(part, PART_CHARS))
        .collect()
}

fn form(plan: &[String]) -> Result<Form, ToolFailure> {
    let field = Field {
        name: FIELD.to_owned(),
        title: Some("Plan".to_owned()),
        description: Some("One part on each line.".to_owned()),
        required: false,
        default: Some(plan.join("\n").into()),
        kind: Kind::Text {
            least: 0,
            most: Some(4_000),
            format: None,
        },
    };
    Form::new(vec![field]).map_err(|fault| ToolFailure(fault.message.message))
}

#[derive(Deserialize)]
struct Source {
    library: String,
    url: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    focus: String,
}

fn read(task: &Arc<Task>) -> Result<Tool, ToolFailure> {
    let text = || json!({"type": "string"});
    let properties = json!({"library": text(), "url": text(), "title": text(), "focus": text()});
    let spec = spec(READ, "Reads a source and takes notes.", properties);
    let task = Arc::clone(task);
    Tool::from_outside(
        spec,
        ToolKind::WAITING,
        move |arguments: Value, context: ToolContext| {
            let task = Arc::clone(&task);
            async move {
                let source: Source = serde_json::from_value(arguments)
                    .map_err(|error| ToolFailure(error.to_string()))?;
                let role = "Reads one source of a research.";
                let nothing = ToolChoice::Only(Vec::new());
                let spec = AgentSpec::new("reader", role, role, &Toolbox::default(), nothing);
                let name = if source.title.is_empty() {
                    source.url.clone()
                } else {
                    source.title.clone()
                };
                // Only web addresses mean something to people; a document's address consists of ids.
                let is_web = source.url.starts_with("http");
                let what = if is_web {
                    source.url.clone()
                } else {
                    name.clone()
                };
                let job = Job {
                    name: first_chars(&name, 80),
                    task: what,
                    continues: None,
                };
                run_reader(context, spec, job, move |agent| async move {
                    let library = task.library(&source.library);
                    let page = match library {
                        Some(library) => library.read(&source.url).await,
                        None => Err(ToolFailure("It cannot be looked in any more.".to_owned())),
                    };
                    let page = page.map_err(|why| reader::cannot_read(why.0))?;
                    if page.text.trim().is_empty() {
                        return Err(reader::cannot_read("There is no text in it.".to_owned()));
                    }
                    let text = reader::name_of(&page.text);
                    let first = task.first_with(&text, &source.url);
                    let reading = if first == source.url {
                        reader::read(&agent, &task, page, &source.focus).await?
                    } else {
                        reader::same_text(&page, first)
                    };
                    task.know_reading(&reading);
                    Ok(reading.into_result())
                })
                .await
            }
        },
    )
}
