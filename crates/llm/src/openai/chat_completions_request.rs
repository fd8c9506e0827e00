//! Encodes a Chat Completions request, its fallback variants, and the reader for the answer's text.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use bytes::Bytes;
use domain::{LeftOut, Message};
use provider::{
    OptionalField,
    openai::{ChatBody, Dialect, ParameterFields, ReasoningComplaint, Tool, request::OutputLimit},
};
use serde_json::{Map, Value, json};

use super::{
    ModelEndpoint, Pool, Target,
    fault::{Fault, Retry},
    media::{Kinds, without},
    prompt, schema,
    schema_reader::SchemaReader,
    template_calls::TemplateCalls,
    text_calls::{CallSyntax, TextCallParser},
    text_reader::TextReader,
};
use crate::{ChatRequest, ToolMode, ToolPrompt, ToolSpec};

/// The field that vLLM, SGLang and llama.cpp pass to the model's template to disable thinking.
const NO_THOUGHTS: &str = "chat_template_kwargs";

/// One encoded request.
#[derive(Debug)]
pub(crate) struct ChatCompletionsRequest {
    body: Bytes,
    /// Fallback variants for a server that refuses the first; the next one last.
    other_bodies: Vec<Bytes>,
    /// The name of the output token limit in the bodies.
    limit: Option<LimitName>,
    /// The server uses the other name for that limit.
    has_other_limit: bool,
    reading: Reading,
    /// The same request with notes in place of its media, if the server refuses those.
    without_media: Option<Box<Self>>,
    /// The media kinds left out because the server just refused them, and where that is recorded.
    left_out: Option<(Arc<Pool>, Kinds)>,
    /// Complaints about reasoning that were already answered.
    complaints: Vec<ReasoningComplaint>,
}

#[derive(Debug)]
enum Reading {
    Plain,
    /// Continues a text.
    Continuing,
    /// Asks for an answer without thinking.
    Quick {
        /// How many stricter bodies were refused.
        refused: usize,
        /// Where the refusal is recorded.
        pool: Arc<Pool>,
    },
    /// The text may contain calls of these tools.
    Native {
        tools: Vec<String>,
        /// The text has a required format, so it contains no calls.
        has_form: bool,
        /// How to read the answer to the fallback body, which describes tools in text.
        syntax: Option<CallSyntax>,
        /// Where tool support is recorded.
        pool: Arc<Pool>,
    },
    /// Calls are written in the text.
    Prompt {
        tools: Vec<String>,
        syntax: CallSyntax,
        /// Where to record that the servers refuse native tools, as they just did.
        refused_by: Option<Arc<Pool>>,
    },
    Schema {
        tools: Vec<String>,
        /// The schema form of `body`.
        is_object_form: bool,
        /// The schema form that this server accepts, as far as known.
        prefers_object_form: Arc<AtomicBool>,
    },
}

impl ChatCompletionsRequest {
    /// Encodes a request for `endpoint` without the features that its servers are known to refuse. Returns the parameters
    /// that are not sent.
    pub(crate) fn new(request: &ChatRequest<'_>, endpoint: &ModelEndpoint) -> (Self, Vec<LeftOut>) {
        let (_, left_out) = fields(request, endpoint);
        (Self::with_media(request, endpoint), left_out)
    }

    fn with_media(request: &ChatRequest<'_>, endpoint: &ModelEndpoint) -> Self {
        let media = Kinds::of(request.messages);
        if !media.any() {
            return Self::encode(request, endpoint);
        }
        let pool = &endpoint.settings.pool;
        let known = media.and(pool.refused_media.kinds());
        let taken = media.but(known);
        let messages = without(request.messages, known);
        let mut ask = Self::encode(
            &ChatRequest {
                messages: &messages,
                ..*request
            },
            endpoint,
        );
        if taken.any() {
            let messages = without(&messages, taken);
            let spare = Self::encode(
                &ChatRequest {
                    messages: &messages,
                    ..*request
                },
                endpoint,
            );
            ask.without_media = Some(Box::new(Self {
                left_out: Some((Arc::clone(pool), taken)),
                ..spare
            }));
        }
        ask
    }

    fn encode(request: &ChatRequest<'_>, endpoint: &ModelEndpoint) -> Self {
        if endpoint.continues {
            let reading = Reading::Continuing;
            return Self::of(text_body(request, endpoint), Vec::new(), reading);
        }
        let mode = mode(request, &endpoint.settings.pool);
        let limit = LimitName::in_request(request, endpoint);
        let has_other_limit = endpoint.settings.pool.has_other_limit();
        let ask = match mode {
            ToolMode::Off if request.without_thinking => Self::quick(request, endpoint),
            ToolMode::Off => {
                let plain = || body(request, endpoint, &[], None);
                let (body, other_bodies) = match request.answer_format {
                    Some(format) => (body(request, endpoint, &[], Some(format)), vec![plain()]),
                    None => (plain(), Vec::new()),
                };
                Self::of(body, other_bodies, Reading::Plain)
            }
            ToolMode::Native => Self::native(request, endpoint),
            ToolMode::Prompt => Self::prompt(request, endpoint),
            ToolMode::Schema => Self::schema(request, endpoint),
        };
        Self {
            limit,
            has_other_limit,
            ..ask
        }
    }

    fn of(body: Bytes, other_bodies: Vec<Bytes>, reading: Reading) -> Self {
        Self {
            body,
            other_bodies,
            limit: None,
            has_other_limit: false,
            reading,
            without_media: None,
            left_out: None,
            complaints: Vec::new(),
        }
    }

    /// Offers tools natively, and falls back to describing them in text if they are refused.
    fn native(request: &ChatRequest<'_>, endpoint: &ModelEndpoint) -> Self {
        let tools: Vec<Tool<'_>> = request.tools.iter().map(tool).collect();
        let pool = Arc::clone(&endpoint.settings.pool);
        let prompt = request.tool_prompt.filter(|_| pool.takes_tools().is_none());
        let (other_bodies, syntax) = match prompt {
            Some(prompt) => (
                vec![prompt_mode_body(request, endpoint, prompt)],
                Some(prompt),
            ),
            None => (Vec::new(), None),
        };
        let syntax =
            syntax.map(|prompt| prompt::call_syntax(request.messages, request.tools, prompt));
        let has_form = request.answer_format.is_some() || requires_format(request);
        let reading = Reading::Native {
            tools: names(request.tools),
            has_form,
            syntax,
            pool,
        };
        Self::of(body(request, endpoint, &tools, None), other_bodies, reading)
    }

    fn prompt(request: &ChatRequest<'_>, endpoint: &ModelEndpoint) -> Self {
        let prompt = request.tool_prompt.unwrap_or(&NO_PROMPT);
        let syntax = prompt::call_syntax(request.messages, request.tools, prompt);
        let reading = Reading::Prompt {
            tools: names(request.tools),
            syntax,
            refused_by: None,
        };
        let body = prompt_mode_body(request, endpoint, prompt);
        Self::of(body, Vec::new(), reading)
    }

    /// Asks for a formatted answer without thinking: as much of that as the servers of the pool are known to accept.
    fn quick(request: &ChatRequest<'_>, endpoint: &ModelEndpoint) -> Self {
        let mut extra = request.extra.cloned().unwrap_or_default();
        extra.insert(NO_THOUGHTS.to_owned(), json!({"enable_thinking": false}));
        let silent = ChatRequest {
            extra: Some(&extra),
            ..*request
        };
        let mut bodies = vec![body(request, endpoint, &[], None)];
        let older_form = request.answer_format.and_then(schema::as_object_format);
        let forms = older_form.as_ref().into_iter().chain(request.answer_format);
        bodies.extend(forms.map(|form| body(request, endpoint, &[], Some(form))));
        bodies.push(body(&silent, endpoint, &[], request.answer_format));
        let pool = Arc::clone(&endpoint.settings.pool);
        let refused = pool.refused_forms();
        bodies.truncate(bodies.len().saturating_sub(refused).max(1));
        let first = bodies.pop().unwrap_or_default();
        Self::of(first, bodies, Reading::Quick { refused, pool })
    }

    fn schema(request: &ChatRequest<'_>, endpoint: &ModelEndpoint) -> Self {
        let schema = schema::answer_schema(request.tools);
        let messages = schema::plain_messages(request.messages, request.tools);
        let extra = without_tool_settings(request);
        let request = ChatRequest {
            messages: &messages,
            extra: Some(&extra),
            ..*request
        };
        let encode = |format: &Value| body(&request, endpoint, &[], Some(format));
        let schema_form = encode(&schema::json_schema_format(&schema));
        let object_form = encode(&schema::json_object_format(&schema));
        let prefers_object_form = Arc::clone(&endpoint.prefers_object_form);
        let is_object_form = prefers_object_form.load(Ordering::Relaxed);
        let (body, other) = if is_object_form {
            (object_form, schema_form)
        } else {
            (schema_form, object_form)
        };
        let tools = names(request.tools);
        let reading = Reading::Schema {
            tools,
            is_object_form,
            prefers_object_form,
        };
        Self::of(body, vec![other], reading)
    }

    /// The JSON for this target.
    pub(crate) fn body(&self, target: &Target) -> Bytes {
        let usual = LimitName::at(target);
        let wanted = if self.has_other_limit {
            usual.other()
        } else {
            usual
        };
        match self.limit {
            Some(now) if now != wanted => renamed(&self.body, now.text(), wanted.text()),
            _ => self.body.clone(),
        }
    }

    /// The JSON before a target is chosen, for changes.
    pub(super) fn body_mut(&mut self) -> &mut Bytes {
        &mut self.body
    }

    /// Switches to the next untried variant that may help with this fault.
    pub(crate) fn use_other_form(&mut self, fault: &Fault) -> bool {
        let after = fault.retry;
        if let Retry::WithoutMedia(named) = after {
            let Some(spare) = self.without_media.take() else {
                return false;
            };
            *self = *spare;
            if let Some((_, kinds)) = &mut self.left_out
                && named.and(*kinds).any()
            {
                *kinds = named.and(*kinds);
            }
            return true;
        }
        let helps = match self.reading {
            Reading::Native { .. } => after == Retry::WithoutTools,
            _ => matches!(after, Retry::OtherForm | Retry::WithoutTools),
        };
        let Some(other) = self.other_bodies.pop_if(|_| helps) else {
            return false;
        };
        self.body = other;
        match &mut self.reading {
            Reading::Schema { is_object_form, .. } => *is_object_form = !*is_object_form,
            Reading::Quick { refused, .. } => *refused += 1,
            Reading::Native {
                tools,
                syntax,
                pool,
                ..
            } => {
                let tools = std::mem::take(tools);
                let syntax = syntax.take().unwrap_or_default();
                self.reading = Reading::Prompt {
                    tools,
                    syntax,
                    refused_by: Some(Arc::clone(pool)),
                };
            }
            Reading::Plain | Reading::Continuing | Reading::Prompt { .. } => {}
        }
        true
    }

    /// Changes the reasoning as the server's complaint demands. Each complaint is answered once.
    pub(crate) fn answer_complaint(&mut self, fault: &Fault) -> bool {
        let words = fault
            .refusal
            .as_deref()
            .map(|refusal| refusal.words.as_str())
            .unwrap_or_default();
        let complaint = ReasoningComplaint::of(words).filter(|it| !self.complaints.contains(it));
        let Some(complaint) = complaint else {
            return false;
        };
        self.complaints.push(complaint);
        let Some(body) = complaint.answered(&self.body) else {
            return false;
        };
        self.body = body.into();
        for other in &mut self.other_bodies {
            if let Some(body) = complaint.answered(other) {
                *other = body.into();
            }
        }
        true
    }

    /// Switches to the other name of the output token limit, if the server demands it.
    pub(crate) fn rename_limit(&mut self, fault: &Fault) -> bool {
        let words = fault
            .refusal
            .as_deref()
            .map(|refusal| refusal.words.as_str())
            .unwrap_or_default();
        let names_both = [LimitName::Old, LimitName::New]
            .iter()
            .all(|name| words.contains(name.text()));
        let helps = names_both && self.limit.is_some() && !self.has_other_limit;
        self.has_other_limit |= helps;
        helps
    }

    /// Removes a field from all variants.
    pub(crate) fn leave_out(&mut self, field: &OptionalField) {
        for body in std::iter::once(&mut self.body).chain(&mut self.other_bodies) {
            if let Some(without) = field.removed_from(body) {
                *body = without.into();
            }
        }
        if let Some(spare) = &mut self.without_media {
            spare.leave_out(field);
        }
    }

    /// The server accepted the request: the next one uses the same form.
    pub(crate) fn was_accepted(&self, pool: &Pool) {
        if self.has_other_limit {
            pool.note_other_limit();
        }
        if let Some((pool, kinds)) = &self.left_out {
            pool.refused_media.note(*kinds);
        }
        match &self.reading {
            Reading::Schema {
                is_object_form,
                prefers_object_form,
                ..
            } => {
                prefers_object_form.store(*is_object_form, Ordering::Relaxed);
            }
            Reading::Quick { refused, pool } => pool.note_refused_forms(*refused),
            Reading::Native { pool, .. } => pool.note_takes_tools(true),
            Reading::Prompt {
                refused_by: Some(pool),
                ..
            } => pool.note_takes_tools(false),
            Reading::Plain | Reading::Continuing | Reading::Prompt { .. } => {}
        }
    }

    /// Whether the model may think before it answers.
    pub(crate) fn may_think(&self) -> bool {
        matches!(
            self.reading,
            Reading::Plain | Reading::Native { .. } | Reading::Prompt { .. }
        )
    }

    /// A new reader for the text of the answer.
    pub(crate) fn text_reader(&self) -> TextReader {
        match &self.reading {
            Reading::Plain | Reading::Quick { .. } => TextReader::Plain,
            Reading::Continuing => TextReader::Continuing,
            Reading::Native { has_form: true, .. } => TextReader::Plain,
            Reading::Native { tools, .. } => TextReader::Native(TemplateCalls::new(tools.clone())),
            Reading::Prompt { tools, syntax, .. } => {
                let calls = TemplateCalls::without_json(tools.clone());
                TextReader::Instructed(
                    calls,
                    TextCallParser::new(tools.iter().cloned(), syntax.clone()),
                )
            }
            Reading::Schema { tools, .. } => TextReader::Schema(SchemaReader::new(tools.clone())),
        }
    }
}

/// Empty templates: the mode is never used without one.
static NO_PROMPT: ToolPrompt = ToolPrompt {
    tools: Vec::new(),
    code: None,
};

/// How tools are offered in this request.
fn mode(request: &ChatRequest<'_>, pool: &Pool) -> ToolMode {
    let has_none = request.tools.is_empty();
    // A model that has learned to write code in tags may still write it, which must be told apart from text.
    let code = request.tool_prompt.and_then(|prompt| prompt.code.as_ref());
    let reads_code =
        request.answer_format.is_none() && code.is_some_and(|code| code.not_run.is_some());
    match request.tool_mode {
        _ if has_none && !reads_code => ToolMode::Off,
        ToolMode::Native if pool.takes_tools() == Some(false) && request.tool_prompt.is_some() => {
            ToolMode::Prompt
        }
        ToolMode::Prompt if request.tool_prompt.is_none() => ToolMode::Off,
        ToolMode::Native | ToolMode::Schema if has_none => ToolMode::Off,
        mode => mode,
    }
}

/// Whether the caller requires JSON.
fn requires_format(request: &ChatRequest<'_>) -> bool {
    let form = request.extra.and_then(|extra| extra.get("response_format"));
    form.is_some_and(|form| !form.is_null() && form["type"] != "text")
}

/// The request in prompt mode, with the tools described by the template.
fn prompt_mode_body(
    request: &ChatRequest<'_>,
    endpoint: &ModelEndpoint,
    prompt: &ToolPrompt,
) -> Bytes {
    let messages = prompt::plain_messages(request.messages, request.tools, prompt);
    let extra = without_tool_settings(request);
    body(
        &ChatRequest {
            messages: &messages,
            extra: Some(&extra),
            ..*request
        },
        endpoint,
        &[],
        None,
    )
}

/// The caller's fields without tool and format settings: our prompt or schema replaces them.
fn without_tool_settings(request: &ChatRequest<'_>) -> Map<String, Value> {
    let mut extra = request.extra.cloned().unwrap_or_default();
    for name in ["response_format", "tool_choice", "parallel_tool_calls"] {
        extra.remove(name);
    }
    extra
}

/// OpenAI's newer models refuse the old name, and most other servers do not know the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LimitName {
    Old,
    New,
}

impl LimitName {
    fn at(target: &Target) -> Self {
        if target.url.host_str() == Some("api.openai.com") {
            Self::New
        } else {
            Self::Old
        }
    }

    /// The name that the bodies of a request use.
    fn in_request(request: &ChatRequest<'_>, endpoint: &ModelEndpoint) -> Option<Self> {
        if request.parameters.max_output_tokens.is_some() {
            return Some(Self::at(&endpoint.any()));
        }
        let extra = request.extra?;
        [Self::Old, Self::New]
            .into_iter()
            .find(|name| extra.contains_key(name.text()))
    }

    fn text(self) -> &'static str {
        match self {
            Self::Old => "max_tokens",
            Self::New => "max_completion_tokens",
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Old => Self::New,
            Self::New => Self::Old,
        }
    }
}

/// The same body with a renamed field.
fn renamed(body: &Bytes, from: &str, to: &str) -> Bytes {
    let Ok(mut fields) = serde_json::from_slice::<Map<String, Value>>(body) else {
        return body.clone();
    };
    if let Some(value) = fields.remove(from) {
        fields.insert(to.to_owned(), value);
    }
    Value::Object(fields).to_string().into()
}

fn names(tools: &[ToolSpec]) -> Vec<String> {
    tools.iter().map(|tool| tool.name.clone()).collect()
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    Tool {
        name: &spec.name,
        description: &spec.description,
        parameters: &spec.parameters,
    }
}

/// The JSON that asks for a continuation of the last message, up to the end of its line.
fn text_body(request: &ChatRequest<'_>, endpoint: &ModelEndpoint) -> Bytes {
    let text = request
        .messages
        .last()
        .map(Message::plain_text)
        .unwrap_or_default();
    let mut fields = json!({
        "model": endpoint.settings.model, "prompt": text, "stop": ["\n"], "stream": true,
        "stream_options": {"include_usage": true},
    });
    if let Some(max) = request.parameters.max_output_tokens {
        fields["max_tokens"] = json!(max);
    }
    if let Some(temperature) = request.parameters.temperature {
        fields["temperature"] = json!(temperature);
    }
    fields.to_string().into()
}

/// The fields for the parameters, and those that are not sent.
fn fields<'a>(
    request: &ChatRequest<'a>,
    endpoint: &ModelEndpoint,
) -> (ParameterFields<'a>, Vec<LeftOut>) {
    let dialect = Dialect::of_host(endpoint.any().url.host_str().unwrap_or_default());
    ParameterFields::new(request.parameters, &endpoint.settings.model, dialect)
}

fn body(
    request: &ChatRequest<'_>,
    endpoint: &ModelEndpoint,
    tools: &[Tool<'_>],
    response_format: Option<&Value>,
) -> Bytes {
    let limit = match LimitName::at(&endpoint.any()) {
        LimitName::New => OutputLimit::MaxCompletionTokens,
        LimitName::Old => OutputLimit::MaxTokens,
    };
    let body = ChatBody {
        model: &endpoint.settings.model,
        messages: request.messages,
        provider: &endpoint.provider,
        tools,
        response_format,
        parameters: fields(request, endpoint).0,
        output_limit: request.parameters.max_output_tokens.map(limit),
        extra: request.extra,
    };
    body.encode().into()
}
