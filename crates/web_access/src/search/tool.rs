//! Calls a search tool of an MCP server: maps the query to its arguments and parses its answer in various formats.

use serde_json::{Deserializer, Map, Value, json};

use super::{SNIPPET_CHARS, TITLE_CHARS, WebHit, plain};
use crate::address::normalised;

/// Names of the query parameter, the most likely first.
const QUESTIONS: [&str; 8] = [
    "query",
    "q",
    "search_query",
    "searchQuery",
    "search_term",
    "question",
    "text",
    "keywords",
];
/// Names of the parameter for the number of results.
const COUNTS: [&str; 9] = [
    "max_results",
    "maxResults",
    "num_results",
    "numResults",
    "limit",
    "count",
    "n_results",
    "top_k",
    "n",
];
const URLS: [&str; 4] = ["url", "link", "href", "uri"];
/// Labels of a result's URL in texts.
const URL_LABELS: [&str; 5] = ["url", "link", "source", "href", "uri"];
const TITLES: [&str; 3] = ["title", "name", "heading"];
const SNIPPETS: [&str; 7] = [
    "snippet",
    "content",
    "description",
    "summary",
    "text",
    "body",
    "excerpt",
];
/// Maximum depth of a list in an answer.
const DEPTH: usize = 5;
/// Maximum number of entries of an answer to examine.
const LOOKED_AT: usize = 200;

/// The arguments for a tool with this schema; `None` if it has no parameter for a query.
#[must_use]
pub fn arguments(
    schema: &Map<String, Value>,
    query: &str,
    limit: usize,
) -> Option<Map<String, Value>> {
    let fields = schema.get("properties")?.as_object()?;
    let takes =
        |name: &str, kind: &str| fields.get(name).is_some_and(|field| has_type(field, kind));
    let required = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let only: Vec<&str> = required.filter(|name| takes(name, "string")).collect();
    let question = QUESTIONS.iter().copied().find(|name| takes(name, "string"));
    let question = question.or(match only[..] {
        [only] => Some(only),
        _ => None,
    })?;
    let mut arguments = Map::from_iter([(question.to_owned(), query.into())]);
    if let Some(count) = COUNTS
        .iter()
        .find(|name| takes(name, "integer") || takes(name, "number"))
    {
        let max = fields[*count]
            .get("maximum")
            .and_then(Value::as_u64)
            .unwrap_or(u64::MAX);
        arguments.insert((*count).to_owned(), json!((limit as u64).min(max)));
    }
    Some(arguments)
}

/// Whether a field accepts this type, alone or among others.
fn has_type(field: &Value, kind: &str) -> bool {
    let is_it = |of: &Value| match &of["type"] {
        Value::String(one) => one == kind,
        Value::Array(several) => several.iter().any(|one| one == kind),
        _ => false,
    };
    let any = field.get("anyOf").and_then(Value::as_array);
    is_it(field) || any.is_some_and(|any| any.iter().any(is_it))
}

/// The results in an answer: JSON lists, a sequence of JSON objects, or text with URLs.
#[must_use]
pub fn hits(answer: &str) -> Vec<WebHit> {
    let values: Vec<Value> = Deserializer::from_str(answer)
        .into_iter()
        .take(LOOKED_AT)
        .map_while(Result::ok)
        .collect();
    let of_json: Vec<WebHit> = values
        .iter()
        .flat_map(|value| entries(value, DEPTH))
        .filter_map(of_entry)
        .collect();
    if of_json.is_empty() {
        of_text(answer)
    } else {
        of_json
    }
}

/// The objects with a URL in the first list that has any, or the object itself.
fn entries(value: &Value, depth: usize) -> Vec<&Value> {
    let inner: Vec<&Value> = match value {
        Value::Object(_) if address(value).is_some() => return vec![value],
        Value::Object(fields) => fields.values().collect(),
        Value::Array(list) => {
            let found: Vec<&Value> = list
                .iter()
                .filter(|entry| address(entry).is_some())
                .take(LOOKED_AT)
                .collect();
            if !found.is_empty() {
                return found;
            }
            list.iter().take(LOOKED_AT).collect()
        }
        _ => return Vec::new(),
    };
    if depth == 0 {
        return Vec::new();
    }
    inner
        .into_iter()
        .map(|value| entries(value, depth - 1))
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

fn address(entry: &Value) -> Option<&str> {
    first(entry, &URLS).filter(|url| url.starts_with("http://") || url.starts_with("https://"))
}

fn first<'a>(entry: &'a Value, names: &[&str]) -> Option<&'a str> {
    names
        .iter()
        .filter_map(|name| entry.get(name)?.as_str())
        .find(|text| !text.trim().is_empty())
}

fn of_entry(entry: &Value) -> Option<WebHit> {
    let title = first(entry, &TITLES);
    let snippet = first(entry, &SNIPPETS);
    hit(
        address(entry)?,
        title.unwrap_or_default(),
        snippet.unwrap_or_default(),
    )
}

fn hit(url: &str, title: &str, snippet: &str) -> Option<WebHit> {
    let url = normalised(url).ok()?;
    let title = plain(title, TITLE_CHARS);
    let title = if title.is_empty() {
        url.host_str()?.to_owned()
    } else {
        title
    };
    Some(WebHit {
        title,
        url: url.into(),
        snippet: plain(snippet, SNIPPET_CHARS),
        is_result: true,
    })
}

/// The results in a text: a paragraph is one result, unless it has several URLs; then each line is.
fn of_text(text: &str) -> Vec<WebHit> {
    let text = text.replace('\r', "");
    let mut hits = Vec::new();
    for paragraph in text.split("\n\n").take(LOOKED_AT) {
        match addresses(paragraph).len() {
            0 => {}
            1 => hits.extend(of_paragraph(paragraph)),
            _ => hits.extend(paragraph.lines().take(LOOKED_AT).filter_map(of_paragraph)),
        }
    }
    hits
}

/// The URLs in a text, without closing punctuation and brackets.
pub(super) fn addresses(text: &str) -> Vec<&str> {
    let begins = text.match_indices("http").map(|(place, _)| &text[place..]);
    let begins = begins.filter(|rest| rest.starts_with("http://") || rest.starts_with("https://"));
    let whole = begins.map(|rest| {
        let end = rest.find(|char: char| {
            char.is_whitespace() || matches!(char, '<' | '>' | '"' | ')' | ']' | '|')
        });
        rest[..end.unwrap_or(rest.len())]
            .trim_end_matches(['.', ',', ';', ':', '!', '*', '`', '\''])
    });
    whole.collect()
}

/// A result in plain text. Its title is the link's text, a labelled line or the first line.
fn of_paragraph(paragraph: &str) -> Option<WebHit> {
    let url = *addresses(paragraph).first()?;
    let named = paragraph
        .split_once(&format!("]({url}"))
        .and_then(|(before, _)| before.rsplit_once('['));
    let mut title = named.map_or("", |(_, name)| name).to_owned();
    let mut rest = Vec::new();
    for line in paragraph.lines() {
        let line = line
            .trim()
            .trim_start_matches(|char: char| char.is_ascii_digit() || ".-*#) ".contains(char));
        let (label, value) = line.split_once(':').unwrap_or_default();
        let label = label.trim().trim_matches('*').to_ascii_lowercase();
        if label == "title" && named.is_none() {
            value.trim().clone_into(&mut title);
        } else if line.contains(url) {
            let around = line
                .replace(url, "")
                .trim_end_matches([' ', '.', ',', ';'])
                .to_owned();
            let is_all = URL_LABELS.contains(&label.as_str()) || named.is_some();
            rest.extend((!is_all).then_some(around));
        } else {
            let value = if SNIPPETS.contains(&label.as_str()) {
                value
            } else {
                line
            };
            rest.push(value.to_owned());
        }
    }
    if title.is_empty() && !rest.is_empty() {
        title = rest.remove(0);
    }
    let title = title.trim_matches([' ', '-', ':', '*', '(', ')', '[', ']', '|']);
    let hit = hit(url, title, &rest.join(" "))?;
    Some(WebHit {
        is_result: named.is_some() || has_own_line(paragraph, url),
        ..hit
    })
}

/// Whether a line presents the URL as a result: alone, after a label, or at the end of a list item. In the middle of a
/// sentence it is only mentioned, for example if the tool repeats the query.
fn has_own_line(paragraph: &str, url: &str) -> bool {
    paragraph.lines().any(|line| {
        let line = line.trim();
        let item =
            line.trim_start_matches(|char: char| char.is_ascii_digit() || ".-*#) ".contains(char));
        let Some((before, behind)) = item.split_once(url) else {
            return false;
        };
        let label = before
            .trim()
            .trim_matches(['*', '_', ':', '<', ' '])
            .to_ascii_lowercase();
        let is_last = behind
            .trim_end_matches(['.', ',', ';', '>', ')', '*', ' '])
            .is_empty();
        is_last
            && (label.is_empty() || URL_LABELS.contains(&label.as_str()) || item.len() < line.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(answer: &str) -> Vec<(String, String, String)> {
        hits(answer)
            .into_iter()
            .map(|hit| (hit.title, hit.url, hit.snippet))
            .collect()
    }

    fn expected(all: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
        all.iter()
            .map(|(title, url, snippet)| ((*title).into(), (*url).into(), (*snippet).into()))
            .collect()
    }

    #[test]
    fn the_question_goes_where_the_tool_takes_it() {
        let asked =
            |schema: Value| arguments(schema.as_object().unwrap(), "seals", 6).map(Value::Object);
        let text = json!({"type": "string"});
        assert_eq!(
            asked(
                json!({"properties": {"query": text, "max_results": {"type": "integer", "maximum": 5}}})
            ),
            Some(json!({"query": "seals", "max_results": 5}))
        );
        assert_eq!(
            asked(json!({"properties": {"what": text, "lang": text}, "required": ["what"]})),
            Some(json!({"what": "seals"}))
        );
        assert_eq!(
            asked(
                json!({"properties": {"q": {"anyOf": [text, {"type": "null"}]}, "limit": {"type": ["integer", "null"]}}})
            ),
            Some(json!({"q": "seals", "limit": 6}))
        );
        for no_place in [
            json!({}),
            json!({"properties": 7}),
            json!({"properties": {"query": {"type": "integer"}}}),
        ] {
            assert_eq!(asked(no_place), None);
        }
    }

    #[test]
    fn lists_are_found_wherever_they_are() {
        let one = json!({"url": "https://a.example/", "title": "A", "content": "seals"});
        let all = expected(&[("A", "https://a.example/", "seals")]);
        for answer in [
            json!([one]),
            json!({"results": [one]}),
            json!({"took": 3, "web": {"results": [7, one]}}),
            json!({"data": {"organic": [{"link": "https://a.example/", "name": "A", "snippet": "seals"}]}}),
            one.clone(),
        ] {
            assert_eq!(found(&answer.to_string()), all, "{answer}");
        }
        // A sequence of objects, as some servers send lists.
        let other = json!({"url": "https://b.example/", "title": "B"});
        assert_eq!(found(&format!("{one}\n\n{other}")).len(), 2);
    }

    #[test]
    fn texts_with_addresses_are_read() {
        for (answer, all) in [
            (
                "Title: A thing\nDescription: It is one\nURL: https://a.example/x\n\nTitle: B\nURL: https://b.example/",
                expected(&[
                    ("A thing", "https://a.example/x", "It is one"),
                    ("B", "https://b.example/", ""),
                ]),
            ),
            (
                "1. [A thing](https://a.example/x)\n   It is one.\n\n2. [B](https://b.example/)",
                expected(&[
                    ("A thing", "https://a.example/x", "It is one."),
                    ("B", "https://b.example/", ""),
                ]),
            ),
            (
                "- A thing: https://a.example/x.\n- B - https://b.example/",
                expected(&[
                    ("A thing", "https://a.example/x", ""),
                    ("B", "https://b.example/", ""),
                ]),
            ),
            (
                "### A thing\nhttps://a.example/x\nIt is one.",
                expected(&[("A thing", "https://a.example/x", "It is one.")]),
            ),
        ] {
            assert_eq!(found(answer), all, "{answer}");
        }
    }

    #[test]
    fn an_address_in_a_sentence_is_not_a_results_own() {
        for (answer, own) in [
            ("Search results for \"http://a.example/x\":", false),
            ("Search results for http://a.example/x", false),
            (
                "You searched for http://a.example/x and nothing was found.",
                false,
            ),
            ("Did you mean http://a.example/x?\nNo results.", false),
            ("Title: A\nURL: http://a.example/x", true),
            ("**URL:** http://a.example/x", true),
            ("A thing\nhttp://a.example/x\nIt is one.", true),
            ("A thing\n<http://a.example/x>", true),
            ("- A thing: http://a.example/x.", true),
            ("1. A thing - http://a.example/x", true),
            ("See [A thing](http://a.example/x) for more.", true),
            ("{\"results\": [{\"url\": \"http://a.example/x\"}]}", true),
        ] {
            let hits = hits(answer);
            assert_eq!(
                hits.iter().map(|hit| hit.is_result).collect::<Vec<_>>(),
                [own],
                "{answer}"
            );
        }
    }

    #[test]
    fn hostile_answers_are_no_hits() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let nested = format!("{}1{}", "{\"a\":".repeat(120), "}".repeat(120));
        for answer in [
            "",
            "Nothing was found.",
            "null",
            &deep,
            &nested,
            "[{\"url\": \"javascript:alert(1)\"}, {\"url\": 7}, {\"url\": \"file:///etc/passwd\"}]",
            "https://",
            "http://[",
            "\u{0}http\u{ffff}",
        ] {
            assert_eq!(found(answer), [], "{}", &answer[..answer.len().min(80)]);
        }
        let many = "https://a.example/\n\n".repeat(10_000);
        assert!(found(&many).len() <= LOOKED_AT);
        let long = json!([{"url": "https://a.example/", "title": "x".repeat(10_000), "text": "y".repeat(100_000)}]);
        let (title, _, snippet) = &found(&long.to_string())[0];
        assert_eq!((title.len(), snippet.len()), (TITLE_CHARS, SNIPPET_CHARS));
    }
}
