//! `write_todos`: the agent's plan, shown to the person as it changes.

use domain::{
    EventBody,
    event::{Todo, TodoStatus},
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Tool, ToolFailure,
    tool::{ToolContext, ToolKind},
};

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// All tasks in order: the whole plan, not only what changes.
    #[schemars(length(max = 50))]
    todos: Vec<Item>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(inline)]
struct Item {
    /// The task, in a few words.
    #[schemars(length(min = 1, max = 500))]
    content: String,
    /// How far it is.
    status: Status,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
}

pub(super) fn tool() -> Result<Tool, ToolFailure> {
    Tool::new(
        "write_todos",
        "Writes your plan: the list of tasks with their status (pending, in_progress, completed). Use it for \
         work with three or more steps; send the whole list again whenever a task begins or ends.",
        ToolKind::REPEATABLE,
        write_todos,
    )
}

async fn write_todos(arguments: Arguments, context: ToolContext) -> Result<String, ToolFailure> {
    let todos: Vec<Todo> = arguments
        .todos
        .into_iter()
        .map(|item| Todo {
            content: item.content,
            status: match item.status {
                Status::Pending => TodoStatus::Pending,
                Status::InProgress => TodoStatus::InProgress,
                Status::Completed => TodoStatus::Completed,
            },
        })
        .collect();
    let done = todos
        .iter()
        .filter(|todo| todo.status == TodoStatus::Completed)
        .count();
    let answer = format!("The plan has {} tasks, {done} completed.", todos.len());
    context.emit(EventBody::PlanChanged { todos }).await;
    Ok(answer)
}
