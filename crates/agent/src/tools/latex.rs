//! `latex`: compiles a LaTeX document to PDF in the chat's sandbox.

use sandbox::Ended;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Tool, ToolFailure, programs::Programs, tool::ToolContext, tools::shell::changed,
    workspace::Path,
};

/// The model reads the end of a long log, where the errors are.
const LOG_TAIL_LINES: usize = 40;

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// The document: a `.tex` file of the chat, such as `/paper/main.tex`.
    path: String,
}

pub(crate) fn tool(programs: &Programs) -> Result<Tool, ToolFailure> {
    let kind = programs.kind();
    let programs = programs.clone();
    Tool::new(
        "latex",
        "Compiles a LaTeX document among the chat's files to a PDF next to it. Write the document with \
         write_file first.",
        kind,
        move |arguments, context| latex(programs.clone(), arguments, context),
    )
}

async fn latex(
    programs: Programs,
    arguments: Arguments,
    context: ToolContext,
) -> Result<String, ToolFailure> {
    let path = Path::parse_file(&arguments.path)?;
    let (folder, name) = split(&path)?;
    let script = script(&programs.found().latex)?;
    // The error for a missing file names similar ones.
    context.workspace().read(&path).await?;
    let variables = [("FOLDER", folder.as_str()), ("NAME", name.as_str())];
    let (outcome, files) = programs.run_script(&context, &script, &variables).await?;
    if outcome.ended == Ended::Exit(0) {
        let made = changed(&files).unwrap_or_else(|| "The PDF is the same as before.".to_owned());
        return Ok(format!("Done.\n{made}"));
    }
    let log = outcome.stdout.text.trim_end();
    let lines: Vec<&str> = log.lines().collect();
    let tail = lines[lines.len().saturating_sub(LOG_TAIL_LINES)..].join("\n");
    Err(ToolFailure(format!(
        "LaTeX could not make the PDF: {}.\n{tail}",
        outcome.ended
    )))
}

/// The folder inside `/files`, and the name without `.tex`. Both are passed as environment variables, never inserted
/// into the script.
fn split(path: &Path) -> Result<(String, String), ToolFailure> {
    let (folder, file) = path
        .as_str()
        .rsplit_once('/')
        .unwrap_or(("", path.as_str()));
    match file.strip_suffix(".tex") {
        Some(name) if !name.is_empty() && !name.starts_with('-') => {
            Ok((format!("/files{folder}"), name.to_owned()))
        }
        _ => Err(ToolFailure(format!(
            "{path} is not a LaTeX document: its name has to end with .tex."
        ))),
    }
}

/// The script that makes the PDF with the best program available. Only the PDF is kept among the files.
fn script(found: &[String]) -> Result<String, ToolFailure> {
    let has = |program: &str| found.iter().any(|found| found == program);
    let flags =
        "-interaction=nonstopmode -halt-on-error -file-line-error -output-directory=/tmp/latex";
    let make = if has("latexmk") {
        format!("latexmk -pdf {flags} \"$NAME.tex\"")
    } else if has("tectonic") {
        "tectonic --only-cached --outdir /tmp/latex \"$NAME.tex\"".to_owned()
    } else if let Some(engine) = ["lualatex", "pdflatex", "xelatex"]
        .into_iter()
        .find(|engine| has(engine))
    {
        // References and the table of contents are correct only from the second pass on.
        format!("{engine} {flags} \"$NAME.tex\" && {engine} {flags} \"$NAME.tex\"")
    } else {
        return Err(ToolFailure(
            "There is no LaTeX on this server, so no PDF can be made. The administrator can install one: on Debian \
             and Ubuntu the packages texlive-latex-extra and latexmk. Tell the person, and leave the document as it \
             is."
                .to_owned(),
        ));
    };
    Ok(format!(
        "mkdir -p /tmp/latex && cd \"$FOLDER\" && {make} && cp \"/tmp/latex/$NAME.pdf\" ."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_out_of_the_script() {
        let path = Path::parse_file("/a b/$(rm -r .).tex").unwrap();
        let (folder, name) = split(&path).unwrap();
        assert_eq!(
            (folder.as_str(), name.as_str()),
            ("/files/a b", "$(rm -r .)")
        );
        assert!(!script(&["pdflatex".to_owned()]).unwrap().contains("rm -r"));
        assert!(split(&Path::parse_file("/-shell-escape.tex").unwrap()).is_err());
        assert!(split(&Path::parse_file("/notes.md").unwrap()).is_err());
    }

    #[test]
    fn without_latex_it_says_how_to_install_it() {
        assert!(script(&[]).unwrap_err().0.contains("texlive-latex-extra"));
        assert!(
            script(&["pdflatex".into(), "latexmk".into()])
                .unwrap()
                .contains("latexmk -pdf")
        );
    }
}
