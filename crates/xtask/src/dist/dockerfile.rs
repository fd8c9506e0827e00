//! Parses the subset of Dockerfile syntax that ours uses; anything unknown is an error rather than skipped.

use anyhow::{Context, bail};

/// A build stage, which begins with a `FROM`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Stage {
    /// The base image.
    pub(super) base: String,
    /// Its name in later stages.
    pub(super) name: Option<String>,
    /// Its instructions, in order.
    pub(super) steps: Vec<Step>,
}

/// One instruction.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A build argument and its default.
    Argument(String, String),
    /// A shell command.
    Run(String),
    /// Copies files of the repository, or of another stage.
    Copy {
        from: Option<String>,
        sources: Vec<String>,
        target: String,
    },
    /// An environment variable.
    Variable(String, String),
    /// The working directory.
    Folder(String),
    /// The user.
    User(String),
    /// A folder that outlives the container.
    Volume(String),
    /// A port that others may connect to.
    Port(u16),
    /// The health check command.
    Health(Vec<String>),
    /// The command that is started.
    Entrypoint(Vec<String>),
    /// Its default arguments.
    Arguments(Vec<String>),
}

/// All stages, in order.
///
/// # Errors
/// If an instruction is not supported, with its line.
pub(super) fn parse(text: &str) -> anyhow::Result<Vec<Stage>> {
    let mut stages: Vec<Stage> = Vec::new();
    for line in lines(text) {
        let (word, rest) = line
            .split_once(' ')
            .with_context(|| format!("“{line}” is not whole"))?;
        let rest = rest.trim();
        if word == "FROM" {
            let (base, name) = rest
                .split_once(" AS ")
                .map_or((rest, None), |(b, n)| (b, Some(n.to_owned())));
            stages.push(Stage {
                base: base.to_owned(),
                name,
                steps: Vec::new(),
            });
            continue;
        }
        let stage = stages
            .last_mut()
            .with_context(|| format!("“{line}” stands before FROM"))?;
        stage
            .steps
            .extend(steps(word, rest).with_context(|| format!("in “{line}”"))?);
    }
    Ok(stages)
}

/// Lines without comments, with backslash continuations joined.
fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let (piece, more) = line
            .strip_suffix('\\')
            .map_or((line, false), |piece| (piece.trim_end(), true));
        match lines.last_mut().filter(|_| goes_on) {
            Some(last) => *last = format!("{last} {piece}"),
            None => lines.push(piece.to_owned()),
        }
        goes_on = more;
    }
    lines
}

fn steps(word: &str, rest: &str) -> anyhow::Result<Vec<Step>> {
    Ok(match word {
        "ARG" => {
            let (name, value) = rest
                .split_once('=')
                .context("it has no value to begin with")?;
            vec![Step::Argument(
                name.to_owned(),
                value.trim_matches('"').to_owned(),
            )]
        }
        "RUN" => vec![Step::Run(rest.to_owned())],
        "COPY" => vec![copy(rest)?],
        "ENV" => rest
            .split_whitespace()
            .map(variable)
            .collect::<anyhow::Result<_>>()?,
        "WORKDIR" => vec![Step::Folder(rest.to_owned())],
        "USER" => vec![Step::User(rest.to_owned())],
        "VOLUME" => vec![Step::Volume(rest.to_owned())],
        "EXPOSE" => vec![Step::Port(rest.parse()?)],
        "HEALTHCHECK" => {
            let (_, command) = rest.split_once("CMD ").context("it has no CMD")?;
            vec![Step::Health(words(command)?)]
        }
        "ENTRYPOINT" => vec![Step::Entrypoint(words(rest)?)],
        "CMD" => vec![Step::Arguments(words(rest)?)],
        other => bail!("{other} is not known here; add it in {}", file!()),
    })
}

fn variable(text: &str) -> anyhow::Result<Step> {
    let (name, value) = text.split_once('=').context("it has no value")?;
    Ok(Step::Variable(name.to_owned(), value.to_owned()))
}

fn copy(rest: &str) -> anyhow::Result<Step> {
    let mut words: Vec<&str> = rest.split_whitespace().collect();
    let from = words
        .first()
        .and_then(|first| first.strip_prefix("--from="))
        .map(str::to_owned);
    if from.is_some() {
        words.remove(0);
    }
    if let Some(option) = words.iter().find(|word| word.starts_with("--")) {
        bail!("{option} is not known here");
    }
    let target = words
        .pop()
        .filter(|_| !words.is_empty())
        .context("it names no source and target")?;
    Ok(Step::Copy {
        from,
        sources: words.into_iter().map(str::to_owned).collect(),
        target: target.to_owned(),
    })
}

/// The exec form: a JSON list.
fn words(text: &str) -> anyhow::Result<Vec<String>> {
    serde_json::from_str(text).context("write it as [\"program\", \"argument\"]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_read() {
        let dockerfile = "# a\nFROM a:1 AS one\nRUN a \\\n  # not this\n && b\n\nFROM b\nARG P=\"x y\"\nCOPY --from=one /a /b /c/\n\
                    ENV A=1 B=2\nHEALTHCHECK --interval=3s CMD [\"a\", \"b\"]\nEXPOSE 80\n";
        let text = |word: &str| word.to_owned();
        let stages = parse(dockerfile).unwrap();
        assert_eq!(
            (stages[0].base.as_str(), stages[0].name.as_deref()),
            ("a:1", Some("one"))
        );
        assert_eq!(stages[0].steps, [Step::Run(text("a && b"))]);
        let copy = Step::Copy {
            from: Some(text("one")),
            sources: vec![text("/a"), text("/b")],
            target: text("/c/"),
        };
        let rest = [
            Step::Argument(text("P"), text("x y")),
            copy,
            Step::Variable(text("A"), text("1")),
            Step::Variable(text("B"), text("2")),
            Step::Health(vec![text("a"), text("b")]),
            Step::Port(80),
        ];
        assert_eq!(stages[1].steps, rest);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for bad in [
            "RUN x",
            "FROM a\nONBUILD RUN x",
            "FROM a\nCOPY --chown=a b c",
            "FROM a\nCMD x",
            "FROM a\nCOPY a",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
