//! `python`: runs Python code in the chat's sandbox; variables persist between calls.

use sandbox::{Cell, CellEnd};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Tool, ToolFailure,
    programs::Programs,
    tool::ToolContext,
    tools::shell::{changed, output},
};

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// Python code. The value of a last expression is shown, as in a notebook.
    #[schemars(length(min = 1, max = 100000))]
    code: String,
    /// Begin anew, without the variables of earlier calls.
    #[serde(default)]
    restart: bool,
}

pub(crate) fn tool(programs: &Programs) -> Result<Tool, ToolFailure> {
    let found = programs.found();
    let modules = match found.python_modules.as_slice() {
        [] => "Only the standard library is there".to_owned(),
        modules => format!(
            "Beside the standard library there are {}",
            modules.join(", ")
        ),
    };
    let pictures = if found
        .python_modules
        .iter()
        .any(|module| module == "matplotlib")
    {
        " Open matplotlib figures become PNG files; show one to the person with ![what it shows](/its/path.png)."
    } else {
        ""
    };
    let description = format!(
        "Runs Python {} in a sandbox without network. Variables stay for the next call of this chat. {modules}; \
         nothing can be installed. The chat's files are in /files (the file /notes.md is /files/notes.md), which is \
         the working folder; what is changed there is kept.{pictures} Limit: {} seconds a call.",
        found.python_version,
        programs.limits().wall_ms / 1000
    );
    let kind = programs.kind();
    let programs = programs.clone();
    Tool::new("python", &description, kind, move |arguments, context| {
        python(programs.clone(), arguments, context)
    })
}

async fn python(
    programs: Programs,
    arguments: Arguments,
    context: ToolContext,
) -> Result<String, ToolFailure> {
    let (started, cell, files) = programs
        .run_cell(&context, &arguments.code, arguments.restart)
        .await?;
    let report = report(&cell, started, &files);
    if report.as_ref().is_ok_and(String::is_empty) {
        context.note_for_model("It ran and printed nothing.");
    }
    report
}

fn report(cell: &Cell, started: bool, files: &[String]) -> Result<String, ToolFailure> {
    let mut parts = output(&cell.stdout, &cell.stderr);
    let well = match &cell.end {
        CellEnd::Value(value) => {
            parts.extend(value.clone());
            true
        }
        CellEnd::Raised(raised) => {
            parts.push(raised.traceback.trim_end().to_owned());
            if started {
                parts.push(
                    "[this was a new Python process: there are no variables of earlier calls]"
                        .to_owned(),
                );
            }
            false
        }
        CellEnd::Interrupted(raised) => {
            parts.push(raised.traceback.trim_end().to_owned());
            parts.push("[it took too long and was interrupted; the variables are kept]".to_owned());
            false
        }
        CellEnd::Lost(why) => {
            parts.push(format!("[{why}; all variables are gone]"));
            false
        }
    };
    if !cell.pictures.is_empty() {
        let names: Vec<String> = cell
            .pictures
            .iter()
            .map(|name| format!("/{name}"))
            .collect();
        parts.push(format!("[pictures: {}]", names.join(", ")));
    }
    parts.extend(changed(files));
    let report = parts.join("\n");
    if well {
        Ok(report)
    } else {
        Err(ToolFailure(report))
    }
}
