//! The tools offered to a model whose server accepts fewer than there are: the agent's own and the caller's first, a
//! search tool, and tools that it found or called in this conversation. All of them can be called.

use std::sync::Arc;

use domain::{Message, Role};
use llm::ToolSpec;

use crate::{tool::Toolbox, tools::find_tools};

/// Number of slots for tools that were found.
const FOUND_PLACES: usize = 24;

/// The tools to offer in this conversation to a model that accepts `limit` of them. Those that are always offered keep
/// their order, so that the prompt cache stays valid.
pub(crate) fn within(tools: &Toolbox, limit: Option<usize>, messages: &[Message]) -> Toolbox {
    let Some(limit) = limit.filter(|limit| tools.specs().len() > *limit) else {
        return tools.clone();
    };
    let all = tools.shared_specs();
    let found_places = FOUND_PLACES.min(limit / 2);
    let places = limit.saturating_sub(found_places + 1);
    let (is_always, left_out) = parted(tools, &all, places);
    let Ok(search) = find_tools::tool(&all, &left_out) else {
        return tools.clone();
    };
    let found = found(messages);
    let mut offered: Vec<ToolSpec> = all
        .iter()
        .zip(&is_always)
        .filter(|(_, always)| **always)
        .map(|(spec, _)| spec.clone())
        .collect();
    let known = |name: &&str| {
        left_out
            .iter()
            .find(|spec| spec.name == **name)
            .map(|spec| (*spec).clone())
    };
    let mut found: Vec<ToolSpec> = found
        .iter()
        .rev()
        .filter_map(known)
        .take(found_places)
        .collect();
    found.reverse();
    offered.push(search.spec().clone());
    offered.append(&mut found);
    tools.offering(offered, Arc::new(search))
}

/// Splits the tools into those always offered and the others.
fn parted<'a>(
    tools: &Toolbox,
    all: &'a [ToolSpec],
    places: usize,
) -> (Vec<bool>, Vec<&'a ToolSpec>) {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|at| !tools.is_client(&all[*at].name));
    let mut is_always = vec![false; all.len()];
    order
        .into_iter()
        .take(places)
        .for_each(|at| is_always[at] = true);
    let left_out = all
        .iter()
        .zip(&is_always)
        .filter(|(_, always)| !**always)
        .map(|(spec, _)| spec)
        .collect();
    (is_always, left_out)
}

/// The names of tools found or called in a conversation, ordered by when they were last named.
fn found(messages: &[Message]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let mut searches: Vec<&str> = Vec::new();
    let mut note = |name| {
        names.retain(|known| *known != name);
        names.push(name);
    };
    for message in messages {
        for call in &message.tool_calls {
            match call.name.as_str() {
                find_tools::NAME => searches.push(&call.id),
                name => note(name),
            }
        }
        let is_search = message
            .tool_call_id
            .as_deref()
            .is_some_and(|id| searches.contains(&id));
        if message.role == Role::Tool && is_search {
            let texts = message.content.iter().filter_map(|part| match part {
                domain::Part::Text { text } => Some(text.as_str()),
                _ => None,
            });
            // Results are sorted best first; the best should be dropped last.
            let found: Vec<&str> = texts.flat_map(find_tools::names_in).collect();
            found.into_iter().rev().for_each(&mut note);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use domain::ToolCall;
    use serde_json::json;

    use super::*;
    use crate::{Tool, ToolKind};

    fn toolbox(count: usize) -> Toolbox {
        let tool = |number: usize| {
            let parameters = json!({"type": "object"}).into();
            let spec = ToolSpec {
                name: format!("s__t{number}"),
                description: String::new(),
                parameters,
            };
            let made = Tool::from_outside(spec, ToolKind::ONCE, |_, _| {
                std::future::ready(Ok(String::new()))
            });
            Arc::new(made.unwrap())
        };
        Toolbox::new((0..count).map(tool).collect())
    }

    fn names(tools: &Toolbox) -> Vec<&str> {
        tools
            .specs()
            .iter()
            .map(|spec| spec.name.as_str())
            .collect()
    }

    #[test]
    fn few_tools_are_offered_as_they_are() {
        let tools = toolbox(128);
        assert_eq!(names(&within(&tools, Some(128), &[])), names(&tools));
        assert_eq!(within(&toolbox(500), None, &[]).specs().len(), 500);
    }

    #[test]
    fn of_many_the_first_and_those_that_were_found_are_offered() {
        let client = ToolSpec {
            name: "mine".into(),
            description: String::new(),
            parameters: json!({"type": "object"}).into(),
        };
        let tools = toolbox(223).with_client_tools(&[client]);
        let first = within(&tools, Some(128), &[]);
        assert_eq!(first.specs().len(), 128 - FOUND_PLACES);
        assert!(names(&first).contains(&"mine") && names(&first).contains(&find_tools::NAME));
        assert!(first.is_client("mine"));
        assert!(first.get("s__t200").is_some(), "it can be called");
        let call = |id: &str, name: &str| Message {
            tool_calls: vec![ToolCall {
                id: id.into(),
                name: name.into(),
                arguments: "{}".into(),
            }],
            ..Message::text(Role::Assistant, "")
        };
        let said = [
            call("1", find_tools::NAME),
            Message::tool_result(
                "1",
                "- s__t200: It.\n- s__t150: It.\n- gone: It.\n- s__t1: It.",
            ),
            call("2", "s__t210"),
            Message::tool_result("2", "- s__t180: not a search"),
        ];
        let then = within(&tools, Some(128), &said);
        let added: Vec<&str> = names(&then)[first.specs().len()..].to_vec();
        assert_eq!(added, ["s__t150", "s__t200", "s__t210"]);
        assert_eq!(
            names(&then)[..first.specs().len()],
            names(&first)[..],
            "in the same order"
        );
    }

    #[test]
    fn never_more_than_the_limit() {
        let tools = toolbox(300);
        let said: Vec<Message> = (100..300)
            .map(|number| Message {
                tool_calls: vec![ToolCall {
                    id: "1".into(),
                    name: format!("s__t{number}"),
                    arguments: "{}".into(),
                }],
                ..Message::text(Role::Assistant, "")
            })
            .collect();
        for limit in [128, 64, 10, 1] {
            assert!(
                within(&tools, Some(limit), &said).specs().len() <= limit,
                "{limit}"
            );
        }
        assert!(
            names(&within(&tools, Some(128), &said)).contains(&"s__t299"),
            "the last ones"
        );
    }
}
