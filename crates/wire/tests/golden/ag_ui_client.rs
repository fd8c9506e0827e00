//! A strict AG-UI client: checks the protocol's rules on a stream, and collects messages and state.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Value, json};

/// A client that is as strict as the strictest real one.
#[derive(Default)]
pub(crate) struct Client {
    pub(crate) messages: Vec<Value>,
    pub(crate) state: Value,
    pub(crate) ended: Option<Value>,
    /// `kind id` → who opened it.
    open: BTreeMap<String, Value>,
    owners: HashMap<String, Value>,
    agents_ended: HashSet<String>,
    /// The current step of each agent, and the step that each text began in.
    steps: HashMap<String, Value>,
    begun: bool,
}

/// Fields with foreign JSON, which may contain `null`.
const FREE: [&str; 6] = [
    "value",
    "snapshot",
    "delta",
    "metadata",
    "responseSchema",
    "messages",
];

impl Client {
    /// Reads the next event; returns the broken rule.
    pub(crate) fn read(&mut self, event: &Value) -> Result<(), String> {
        let kind = event["type"].as_str().ok_or("no type")?.to_owned();
        let fields = event.as_object().ok_or("not an object")?;
        for (name, value) in fields
            .iter()
            .filter(|(name, _)| !FREE.contains(&name.as_str()))
        {
            if has_null(value) {
                return Err(format!("{name} holds null"));
            }
        }
        if !event["timestamp"].is_i64() {
            return Err("no timestamp".into());
        }
        match kind.as_str() {
            "RUN_STARTED" => return self.begin(event),
            _ if !self.begun => return Err("before RUN_STARTED".into()),
            _ if self.ended.is_some() => return Err("after the end".into()),
            _ => {}
        }
        if kind.ends_with("_CONTENT") && event["delta"].as_str().is_none_or(str::is_empty) {
            return Err("a piece of text without text".into());
        }
        let by = event["subagentRunId"].clone();
        let id = event["messageId"]
            .as_str()
            .or(event["toolCallId"].as_str())
            .unwrap_or_default()
            .to_owned();
        match kind.as_str() {
            "TEXT_MESSAGE_START" => {
                self.open("text", &id, &by)?;
                if let Some(step) = self.steps.get(&by.to_string()).cloned() {
                    self.steps.insert(format!("text {id}"), step);
                }
            }
            "TEXT_MESSAGE_CONTENT" => self.continues("text", &id, &by)?,
            "TEXT_MESSAGE_END" => self.close("text", &id, &by)?,
            "REASONING_START" => self.open("reasoning span", &id, &by)?,
            "REASONING_MESSAGE_START" => self.open("reasoning", &id, &by)?,
            "REASONING_MESSAGE_CONTENT" => self.continues("reasoning", &id, &by)?,
            "REASONING_MESSAGE_END" => self.close("reasoning", &id, &by)?,
            "REASONING_END" => self.close("reasoning span", &id, &by)?,
            "TOOL_CALL_START" => {
                let parent = format!(
                    "text {}",
                    event["parentMessageId"].as_str().ok_or("no parent")?
                );
                if self.owners.get(&parent).is_some_and(|owner| *owner != by) {
                    return Err("the call is another agent's than its message".into());
                }
                if self.owners.contains_key(&parent)
                    && self.steps.get(&parent) != self.steps.get(&by.to_string())
                {
                    return Err("the call is of a later step than its message".into());
                }
                let known = self.messages.iter().any(|message| has_call(message, &id));
                if known {
                    return Err(format!("call {id} was there before: its arguments double"));
                }
                self.open("call", &id, &by)?;
            }
            "TOOL_CALL_ARGS" => self.continues("call", &id, &by)?,
            "TOOL_CALL_END" => self.close("call", &id, &by)?,
            "TOOL_CALL_RESULT" => {
                let call = event["toolCallId"].as_str().unwrap();
                if !self.messages.iter().any(|message| has_call(message, call)) {
                    return Err(format!("a result without its call {call}"));
                }
                if !event["content"].is_string() {
                    return Err("a result that old clients cannot read".into());
                }
            }
            "STEP_STARTED" => {
                self.open("step", event["stepName"].as_str().unwrap(), &by)?;
                self.steps.insert(by.to_string(), event["stepName"].clone());
            }
            "STEP_FINISHED" => self.close("step", event["stepName"].as_str().unwrap(), &by)?,
            "SUBAGENT_STARTED" => {
                let agent = by.as_str().ok_or("no id")?;
                if self.agents_ended.contains(agent) {
                    return Err(format!("sub-agent {agent} began again"));
                }
                let parent = event["parentSubagentRunId"].as_str();
                if parent.is_some_and(|parent| !self.open.contains_key(&format!("agent {parent}")))
                {
                    return Err("the parent is not running".into());
                }
                self.open("agent", agent, &by)?;
            }
            "SUBAGENT_FINISHED" | "SUBAGENT_ERROR" => {
                let agent = by.as_str().ok_or("no id")?.to_owned();
                self.close("agent", &agent, &by)?;
                self.agents_ended.insert(agent);
            }
            "STATE_SNAPSHOT" => self.state = event["snapshot"].clone(),
            "STATE_DELTA" => self.patch(&event["delta"])?,
            "CUSTOM" => drop(event["name"].as_str().ok_or("no name")?),
            "RUN_ERROR" => self.ended = Some(event.clone()),
            "RUN_FINISHED" => {
                if let Some(open) = self.open.keys().next() {
                    return Err(format!("{open} is open at the end"));
                }
                self.ended = Some(event.clone());
            }
            "MESSAGES_SNAPSHOT" => self.messages = event["messages"].as_array().unwrap().clone(),
            other => return Err(format!("{other} is not an event of AG-UI")),
        }
        self.apply(&kind, &id, event);
        Ok(())
    }

    fn begin(&mut self, event: &Value) -> Result<(), String> {
        if self.begun && self.ended.is_none() {
            return Err("a run began inside another".into());
        }
        let messages = std::mem::take(&mut self.messages);
        *self = Self {
            messages,
            state: self.state.clone(),
            begun: true,
            ..Self::default()
        };
        let named = ["threadId", "runId", "protocolVersion"]
            .iter()
            .all(|name| event[*name].is_string());
        if named {
            Ok(())
        } else {
            Err("a run without its names".into())
        }
    }

    fn open(&mut self, kind: &str, id: &str, by: &Value) -> Result<(), String> {
        let key = format!("{kind} {id}");
        if self.open.insert(key.clone(), by.clone()).is_some() {
            return Err(format!("{key} opens twice"));
        }
        match self.owners.insert(key.clone(), by.clone()) {
            Some(before) if before != *by => Err(format!("{key} changed hands")),
            _ => Ok(()),
        }
    }

    fn continues(&self, kind: &str, id: &str, by: &Value) -> Result<(), String> {
        match self.open.get(&format!("{kind} {id}")) {
            None => Err(format!("{kind} {id} is not open")),
            Some(owner) if owner != by => Err(format!("{kind} {id} is another agent's")),
            Some(_) => Ok(()),
        }
    }

    fn close(&mut self, kind: &str, id: &str, by: &Value) -> Result<(), String> {
        self.continues(kind, id, by)?;
        self.open.remove(&format!("{kind} {id}"));
        Ok(())
    }

    /// Only `add` into existing objects, and `remove` of existing values.
    fn patch(&mut self, delta: &Value) -> Result<(), String> {
        for change in delta.as_array().ok_or("no patch")? {
            let (parent, name) = change["path"]
                .as_str()
                .unwrap()
                .rsplit_once('/')
                .ok_or("no path")?;
            let name = name.replace("~1", "/").replace("~0", "~");
            let target = self
                .state
                .pointer_mut(parent)
                .and_then(Value::as_object_mut);
            let target = target.ok_or(format!("there is no {parent}"))?;
            match change["op"].as_str() {
                Some("add") => _ = target.insert(name, change["value"].clone()),
                Some("remove") => {
                    _ = target
                        .remove(&name)
                        .ok_or(format!("there is no {name} to remove"))?
                }
                _ => return Err(format!("{change} is not what we send")),
            }
        }
        Ok(())
    }

    fn apply(&mut self, kind: &str, id: &str, event: &Value) {
        match kind {
            "TEXT_MESSAGE_START" | "REASONING_MESSAGE_START" => {
                let content = json!({"content": ""});
                self.add(
                    id,
                    event["role"].as_str().unwrap(),
                    content,
                    &event["subagentRunId"],
                );
            }
            "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT" => {
                let message = self
                    .messages
                    .iter_mut()
                    .find(|message| message["id"] == id)
                    .unwrap();
                let grown = format!(
                    "{}{}",
                    message["content"].as_str().unwrap(),
                    event["delta"].as_str().unwrap()
                );
                message["content"] = json!(grown);
            }
            "TOOL_CALL_START" => {
                let parent = event["parentMessageId"].as_str().unwrap();
                if !self.messages.iter().any(|message| message["id"] == parent) {
                    self.add(
                        parent,
                        "assistant",
                        json!({"toolCalls": []}),
                        &event["subagentRunId"],
                    );
                }
                let message = self
                    .messages
                    .iter_mut()
                    .find(|message| message["id"] == parent)
                    .unwrap();
                let mut calls = message["toolCalls"].as_array().cloned().unwrap_or_default();
                calls.push(json!({"id": id, "type": "function",
                    "function": {"name": event["toolCallName"], "arguments": ""}}));
                message["toolCalls"] = json!(calls);
            }
            "TOOL_CALL_ARGS" => {
                let message = self
                    .messages
                    .iter_mut()
                    .find(|message| has_call(message, id))
                    .unwrap();
                let calls = message["toolCalls"].as_array_mut().unwrap();
                let call = calls.iter_mut().find(|call| call["id"] == id).unwrap();
                let arguments = call.pointer_mut("/function/arguments").unwrap();
                *arguments = json!(format!(
                    "{}{}",
                    arguments.as_str().unwrap(),
                    event["delta"].as_str().unwrap()
                ));
            }
            "TOOL_CALL_RESULT" => {
                let call = event["toolCallId"].as_str().unwrap();
                let owner = self
                    .messages
                    .iter()
                    .position(|message| has_call(message, call))
                    .unwrap();
                let after = self.messages[owner + 1..]
                    .iter()
                    .take_while(|message| message["role"] == "tool");
                let place = owner + 1 + after.count();
                let content = json!({"toolCallId": call, "content": event["content"]});
                self.add(
                    event["messageId"].as_str().unwrap(),
                    "tool",
                    content,
                    &event["subagentRunId"],
                );
                let message = self.messages.pop().unwrap();
                self.messages.insert(place, message);
            }
            _ => {}
        }
    }

    fn add(&mut self, id: &str, role: &str, rest: Value, by: &Value) {
        let mut message = json!({"id": id, "role": role});
        let object = message.as_object_mut().unwrap();
        object.extend(rest.as_object().unwrap().clone());
        if !by.is_null() {
            object.insert("subagentRunId".into(), by.clone());
        }
        self.messages.push(message);
    }
}

fn has_call(message: &Value, call: &str) -> bool {
    message["toolCalls"]
        .as_array()
        .is_some_and(|calls| calls.iter().any(|own| own["id"] == call))
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.iter().any(has_null),
        Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| !FREE.contains(&name.as_str()) && has_null(value)),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
