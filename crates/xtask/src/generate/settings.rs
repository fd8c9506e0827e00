//! The tables of settings in the configuration reference.

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::Value;

/// Begins a table, followed by the names of its settings: `limits.steps`, `limits.*`, or `*` for the rest of the top
/// level.
const BEGIN: &str = "<!-- settings: ";
const END: &str = "<!-- end of settings -->";

/// A setting as the server describes it.
#[derive(Deserialize)]
pub(super) struct Setting {
    name: String,
    variable: String,
    summary: String,
    details: String,
    default: Value,
    changed_in: String,
}

/// The page with updated tables between its marks.
///
/// # Errors
/// If a mark has no end, or a setting is in no table.
pub(super) fn with_tables(page: &str, settings: Vec<Setting>) -> anyhow::Result<String> {
    let patterns: Vec<&str> = page.lines().filter_map(patterns).flatten().collect();
    let mut rest = settings;
    let mut written = String::with_capacity(page.len());
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        written.push_str(line);
        written.push('\n');
        let Some(wanted) = self::patterns(line) else {
            continue;
        };
        let (chosen, others) = rest.into_iter().partition(|setting| {
            wanted.clone().any(|pattern| {
                fits(pattern, &setting.name)
                    || pattern == "*"
                        && !setting.name.contains('.')
                        && !patterns.iter().any(|other| fits(other, &setting.name))
            })
        });
        rest = others;
        written.push_str(&table(chosen));
        written.push_str(END);
        written.push('\n');
        lines
            .find(|line| *line == END)
            .with_context(|| format!("“{line}” has no “{END}”"))?;
    }
    if let Some(setting) = rest.first() {
        bail!("{} is in no table: name it after “{BEGIN}”", setting.name);
    }
    Ok(written)
}

fn patterns(line: &str) -> Option<impl Iterator<Item = &str> + Clone> {
    let names = line.strip_prefix(BEGIN)?.strip_suffix(" -->")?;
    Some(names.split(", "))
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix(".*") {
        Some(section) => name.split_once('.').is_some_and(|(of, _)| of == section),
        None => pattern == name,
    }
}

fn table(settings: Vec<Setting>) -> String {
    let mut table =
        "\n| setting | variable | default | change in | meaning |\n|---|---|---|---|---|\n"
            .to_owned();
    for setting in settings {
        let meaning = [setting.summary, setting.details].join(" ");
        let cells = [
            format!("`{}`", setting.name),
            format!("`{}`", setting.variable),
            format!("`{}`", as_toml(&setting.default)),
            changed_in(&setting.changed_in).to_owned(),
            with_links(meaning.trim_end()),
        ];
        table.push_str("| ");
        table.push_str(&cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
        table.push_str(" |\n");
    }
    table.push('\n');
    table
}

/// Where a setting is changed, for the table. The introduction of the page explains the words.
fn changed_in(place: &str) -> &str {
    match place {
        "web_app" | "approval_rules" | "sign_in" | "mail" | "start_prompts" | "web_search"
        | "embedding" | "background_tasks" => "web app",
        "start" => "file, restart",
        _ => "file, operator",
    }
}

/// A value as in the default file.
fn as_toml(value: &Value) -> String {
    match value {
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(as_toml).collect();
            format!("[{}]", values.join(", "))
        }
        value => value.to_string(),
    }
}

/// Converts pages named in the text, such as `docs/team/sign-in.md#two-factor`, to links from the reference.
fn with_links(text: &str) -> String {
    let mut linked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("docs/") {
        linked.push_str(&rest[..start]);
        let end = rest[start..]
            .find(|c: char| !(c.is_ascii_alphanumeric() || "/-_.#".contains(c)))
            .map_or(rest.len(), |length| start + length);
        let path = rest[start..end].trim_end_matches('.');
        let target = path.trim_start_matches("docs/");
        let name = target
            .rsplit('/')
            .next()
            .and_then(|file| file.split(".md").next())
            .unwrap_or(target)
            .replace('-', " ");
        let target = target
            .strip_prefix("reference/")
            .map_or_else(|| format!("../{target}"), str::to_owned);
        linked.push_str(&format!("[{name}]({target})"));
        rest = &rest[start + path.len()..];
    }
    linked.push_str(rest);
    linked
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn setting(name: &str, default: Value, place: &str, details: &str) -> Setting {
        Setting {
            name: name.to_owned(),
            variable: format!("GLASSHOUSE_{}", name.replace('.', "_").to_uppercase()),
            summary: "What it does.".to_owned(),
            details: details.to_owned(),
            default,
            changed_in: place.to_owned(),
        }
    }

    #[test]
    fn tables_stand_between_their_marks() {
        let page = "# Page\n\n<!-- settings: * -->\nold\n<!-- end of settings -->\n\n\
                    <!-- settings: log.*, b -->\n<!-- end of settings -->\nEnd.\n";
        let settings = vec![
            setting(
                "a",
                json!(["x", "y"]),
                "web_app",
                "See docs/team/sign-in.md#two-step.",
            ),
            setting("b", json!(1.0), "start", "`a|b`: docs/reference/api.md"),
            setting("log.level", json!("info"), "operator", ""),
        ];
        let head = "| setting | variable | default | change in | meaning |\n|---|---|---|---|---|";
        let expected = format!(
            "# Page\n\n<!-- settings: * -->\n\n{head}\n| `a` | `GLASSHOUSE_A` | `[\"x\", \"y\"]` | web app | What it does. See \
             [sign in](../team/sign-in.md#two-step). |\n\n<!-- end of settings -->\n\n<!-- settings: log.*, b -->\n\n\
             {head}\n| `b` | `GLASSHOUSE_B` | `1.0` | file, restart | What it does. `a\\|b`: [api](api.md) |\n| `log.level` | \
             `GLASSHOUSE_LOG_LEVEL` | `\"info\"` | file, operator | What it does. |\n\n<!-- end of settings -->\nEnd.\n"
        );
        assert_eq!(with_tables(page, settings).unwrap(), expected);
    }

    #[test]
    fn a_setting_in_no_table_is_an_error() {
        let page = "<!-- settings: a -->\n<!-- end of settings -->\n";
        let settings = || {
            vec![
                setting("a", json!(1), "start", ""),
                setting("b", json!(1), "start", ""),
            ]
        };
        assert!(
            with_tables(page, settings())
                .unwrap_err()
                .to_string()
                .starts_with("b is in no")
        );
        assert!(with_tables("<!-- settings: * -->\n", settings()).is_err());
    }
}
