//! Reads and merges the layers of the configuration. The compiled-in defaults are also the list of known settings.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use toml::{Table, Value};

use super::{Environment, Flags};

/// The commented default configuration file.
pub const DEFAULTS: &str = include_str!("../../../../../config.example.toml");

/// Variables with our prefix that are not settings.
const OTHER_VARIABLES: [&str; 2] = ["GLASSHOUSE_CONFIG", "GLASSHOUSE_BUILD_WEB"];

/// Settings that can be set in the file only and that have no default.
const ONLY_IN_FILE: [&str; 6] = [
    "agents",
    "connections",
    "hooks",
    "mcp_servers",
    "model_aliases",
    "workspaces",
];

pub(super) fn defaults() -> anyhow::Result<Table> {
    toml::from_str(DEFAULTS).context("the compiled-in configuration is broken")
}

/// The configuration file: the given one, which must exist, or `glasshouse.toml` in the data folder, if it exists.
pub(super) fn find_file(
    named: Option<PathBuf>,
    data_dir: Option<&Path>,
) -> anyhow::Result<Option<(PathBuf, String)>> {
    let must_exist = named.is_some();
    let Some(path) = named.or_else(|| data_dir.map(|dir| dir.join("glasshouse.toml"))) else {
        return Ok(None);
    };
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some((path, text))),
        Err(error) if error.kind() == ErrorKind::NotFound && !must_exist => Ok(None),
        Err(error) => Err(error)
            .with_context(|| format!("cannot read the configuration file {}", path.display())),
    }
}

/// Parses the file; unknown settings are rejected by name.
pub(super) fn parse_file(known: &Table, path: &Path, text: &str) -> anyhow::Result<Table> {
    let file: Table = toml::from_str(text)
        .map_err(|error| anyhow::anyhow!("{} is not valid TOML: {error}", path.display()))?;
    let unknown = unknown_settings(known, &file, "");
    if !unknown.is_empty() {
        bail!(
            "{}: there is no setting {}. `glasshouse config print-default` shows all settings.",
            path.display(),
            unknown.join(", ")
        );
    }
    Ok(file)
}

fn unknown_settings(known: &Table, file: &Table, prefix: &str) -> Vec<String> {
    let mut unknown = Vec::new();
    for (name, value) in file {
        match (known.get(name), value) {
            (Some(Value::Table(known)), Value::Table(inner)) => {
                unknown.extend(unknown_settings(known, inner, &format!("{prefix}{name}.")));
            }
            (Some(_), _) => {}
            (None, _) if prefix.is_empty() && ONLY_IN_FILE.contains(&name.as_str()) => {}
            (None, _) => unknown.push(format!("“{prefix}{name}”")),
        }
    }
    unknown
}

pub(super) fn merge(table: &mut Table, over: Table) {
    for (name, value) in over {
        match (table.get_mut(&name), value) {
            (Some(Value::Table(inner)), Value::Table(over)) => merge(inner, over),
            // A single value counts as a list of one.
            (Some(Value::Array(_)), Value::String(one)) => {
                table.insert(name, Value::Array(vec![Value::String(one)]));
            }
            (_, value) => {
                table.insert(name, value);
            }
        }
    }
}

/// Reads `GLASSHOUSE_…` variables into `over`; returns warnings about unknown ones.
pub(super) fn read_environment(
    known: &Table,
    environment: &Environment,
    over: &mut Table,
) -> anyhow::Result<Vec<String>> {
    let mut used = OTHER_VARIABLES.map(str::to_owned).to_vec();
    read_variables(known, environment, "GLASSHOUSE", over, &mut used)?;
    // Kubernetes sets such variables for a service of our name, so unknown ones cannot be rejected.
    let stray = environment
        .keys()
        .filter(|name| name.starts_with("GLASSHOUSE_") && !used.contains(name));
    Ok(stray
        .map(|name| format!("the environment variable {name} is not a setting and is ignored"))
        .collect())
}

fn read_variables(
    known: &Table,
    environment: &Environment,
    prefix: &str,
    over: &mut Table,
    used: &mut Vec<String>,
) -> anyhow::Result<()> {
    for (name, default) in known {
        let variable = format!("{prefix}_{}", name.to_uppercase());
        if let Value::Table(known) = default {
            let mut inner = Table::new();
            read_variables(known, environment, &variable, &mut inner, used)?;
            if !inner.is_empty() {
                over.insert(name.clone(), Value::Table(inner));
            }
        } else if let Some(text) = environment.get(&variable) {
            over.insert(
                name.clone(),
                parse_like(default, text).with_context(|| variable.clone())?,
            );
            used.push(variable);
        }
    }
    Ok(())
}

/// Reads the variable that other programs use for a setting, unless ours is set. An empty one is ignored.
pub(super) fn read_alias(
    known: &Table,
    environment: &Environment,
    setting: &str,
    variable: &str,
    over: &mut Table,
) -> anyhow::Result<()> {
    let text = environment
        .get(variable)
        .map(|text| text.trim())
        .filter(|text| !text.is_empty());
    if let (Some(default), Some(text), None) = (known.get(setting), text, over.get(setting)) {
        over.insert(
            setting.to_owned(),
            parse_like(default, text).with_context(|| variable.to_owned())?,
        );
    }
    Ok(())
}

/// Parses `text` as the type of `default`.
pub(super) fn parse_like(default: &Value, text: &str) -> anyhow::Result<Value> {
    let text = text.trim();
    Ok(match default {
        Value::Integer(_) => Value::Integer(text.parse().context("must be a whole number")?),
        Value::Float(_) => Value::Float(text.parse().context("must be a number")?),
        // Python writes `True`.
        Value::Boolean(_) => Value::Boolean(
            text.to_lowercase()
                .parse()
                .context("must be true or false")?,
        ),
        // A list of tables has to be TOML, and a list of strings with commas may be. `[::1]:8000` is neither.
        Value::Array(_) if text.starts_with("[{") || text.starts_with("[\"") => {
            let mut table: Table =
                toml::from_str(&format!("list = {text}")).context("must be a list of TOML")?;
            table.remove("list").context("must be a list")?
        }
        Value::Array(_) => Value::Array(
            text.split(',')
                .map(|part| Value::String(part.trim().to_owned()))
                .collect(),
        ),
        _ => Value::String(text.to_owned()),
    })
}

pub(super) fn read_flags(flags: &Flags, over: &mut Table) {
    if !flags.listen.is_empty() {
        over.insert("listen".to_owned(), flags.listen.clone().into());
    }
    if let Some(dir) = &flags.data_dir {
        over.insert(
            "data_dir".to_owned(),
            dir.to_string_lossy().into_owned().into(),
        );
    }
    if let Some(auth) = &flags.auth {
        over.insert("auth".to_owned(), auth.clone().into());
    }
}

/// Rewords a type error so that the person finds the setting.
pub(super) fn in_words(error: toml::de::Error) -> anyhow::Error {
    anyhow::anyhow!(
        "a setting has a value it cannot have: {}",
        error.to_string().trim().replace('\n', ", ")
    )
}
