//! What is sent for one request: its body, and how the answer's text is to be read.

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
    Pool, Reach, Target,
    fault::{Fault, Retry},
    media::{Kinds, without},
    prompt,
    rescue::{Rescue, Told},
    schema,
    schema_reader::SchemaReader,
    template_calls::TemplateCalls,
    text_reader::TextReader,
};
use crate::{ChatRequest, ToolMode, ToolPrompt, ToolSpec};

/// What vLLM, SGLang and llama.cpp hand to the model's template, which knows how to leave thoughts out.
const NO_THOUGHTS: &str = "chat_template_kwargs";

/// One request, encoded.
#[derive(Debug)]
pub(crate) struct Ask {
    body: Bytes,
    /// Other ways to ask for the same, where the server refuses the first; the next one last.
    other_bodies: Vec<Bytes>,
    /// How the bodies name the limit on written tokens.
    limit: Option<LimitName>,
    /// The server knows that limit by the name that is not its kind's.
    has_other_limit: bool,
    reading: Reading,
    /// The same request with notes in the place of its media, where the server refuses those.
    without_media: Option<Box<Self>>,
    /// What was left out of it as the server had just refused that, and where that is remembered.
    left_out: Option<(Arc<Pool>, Kinds)>,
    /// What the server complained of about reasoning, and got otherwise.
    complaints: Vec<ReasoningComplaint>,
}

#[derive(Debug)]
enum Reading {
    Plain,
    /// A text is continued.
    Continuing,
    /// The model is not to think.
    Quick {
        /// How many more demanding bodies were refused.
        refused: usize,
        /// Where that is remembered.
        pool: Arc<Pool>,
    },
    /// Calls of these tools may stand in the text.
    Native {
        tools: Vec<String>,
        /// The text is to have a form, so no call stands in it.
        has_form: bool,
        /// How the other body is read, in which the tools are told in words.
        told: Option<Told>,
        /// Where it is remembered whether the servers take tools.
        pool: Arc<Pool>,
    },
    /// Calls are written into the text.
    Prompt {
        tools: Vec<String>,
        told: Told,
        /// Where it is remembered that the servers have refused tools, which they have just done.
        refused_by: Option<Arc<Pool>>,
    },
    Schema {
        tools: Vec<String>,
        /// Which form `body` has.
        is_object_form: bool,
        /// Which form this server takes, as far as we know.
        prefers_object_form: Arc<AtomicBool>,
    },
}

impl Ask {
    /// Encodes a request for `reach`. What its servers are known to refuse is left out; says what of the parameters is not
    /// sent.
    pub(crate) fn new(request: &ChatRequest<'_>, reach: &Reach) -> (Self, Vec<LeftOut>) {
        let (_, left_out) = fields(request, reach);
        (Self::with_media(request, reach), left_out)
    }

    fn with_media(request: &ChatRequest<'_>, reach: &Reach) -> Self {
        let media = Kinds::of(request.messages);
        if !media.any() {
            return Self::encode(request, reach);
        }
        let pool = &reach.settings.pool;
        let known = media.and(pool.refused_media.kinds());
        let taken = media.but(known);
        let messages = without(request.messages, known);
        let mut ask = Self::encode(
            &ChatRequest {
                messages: &messages,
                ..*request
            },
            reach,
        );
        if taken.any() {
            let messages = without(&messages, taken);
            let spare = Self::encode(
                &ChatRequest {
                    messages: &messages,
                    ..*request
                },
                reach,
            );
            ask.without_media = Some(Box::new(Self {
                left_out: Some((Arc::clone(pool), taken)),
                ..spare
            }));
        }
        ask
    }

    fn encode(request: &ChatRequest<'_>, reach: &Reach) -> Self {
        if reach.continues {
            let reading = Reading::Continuing;
            return Self::of(text_body(request, reach), Vec::new(), reading);
        }
        let mode = mode(request, &reach.settings.pool);
        let limit = LimitName::in_request(request, reach);
        let has_other_limit = reach.settings.pool.has_other_limit();
        let ask = match mode {
            ToolMode::Off if request.without_thinking => Self::quick(request, reach),
            ToolMode::Off => {
                let plain = || body(request, reach, &[], None);
                let (body, other_bodies) = match request.answer_format {
                    Some(format) => (body(request, reach, &[], Some(format)), vec![plain()]),
                    None => (plain(), Vec::new()),
                };
                Self::of(body, other_bodies, Reading::Plain)
            }
            ToolMode::Native => Self::native(request, reach),
            ToolMode::Prompt => Self::prompt(request, reach),
            ToolMode::Schema => Self::schema(request, reach),
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

    /// Offers the tools by the protocol, and tells them in words where they are refused.
    fn native(request: &ChatRequest<'_>, reach: &Reach) -> Self {
        let tools: Vec<Tool<'_>> = request.tools.iter().map(tool).collect();
        let pool = Arc::clone(&reach.settings.pool);
        let prompt = request.tool_prompt.filter(|_| pool.takes_tools().is_none());
        let (other_bodies, told) = match prompt {
            Some(prompt) => (vec![told_body(request, reach, prompt)], Some(prompt)),
            None => (Vec::new(), None),
        };
        let told = told.map(|prompt| prompt::told(request.messages, request.tools, prompt));
        let has_form = request.answer_format.is_some() || wishes_form(request);
        let reading = Reading::Native {
            tools: names(request.tools),
            has_form,
            told,
            pool,
        };
        Self::of(body(request, reach, &tools, None), other_bodies, reading)
    }

    fn prompt(request: &ChatRequest<'_>, reach: &Reach) -> Self {
        let prompt = request.tool_prompt.unwrap_or(&NO_PROMPT);
        let told = prompt::told(request.messages, request.tools, prompt);
        let reading = Reading::Prompt {
            tools: names(request.tools),
            told,
            refused_by: None,
        };
        let body = told_body(request, reach, prompt);
        Self::of(body, Vec::new(), reading)
    }

    /// Asks for an answer without thoughts, in its form: as much of that as the servers of the pool are known to take.
    fn quick(request: &ChatRequest<'_>, reach: &Reach) -> Self {
        let mut extra = request.extra.cloned().unwrap_or_default();
        extra.insert(NO_THOUGHTS.to_owned(), json!({"enable_thinking": false}));
        let silent = ChatRequest {
            extra: Some(&extra),
            ..*request
        };
        let mut bodies = vec![body(request, reach, &[], None)];
        let older_form = request.answer_format.and_then(schema::as_object_format);
        let forms = older_form.as_ref().into_iter().chain(request.answer_format);
        bodies.extend(forms.map(|form| body(request, reach, &[], Some(form))));
        bodies.push(body(&silent, reach, &[], request.answer_format));
        let pool = Arc::clone(&reach.settings.pool);
        let refused = pool.refused_forms();
        bodies.truncate(bodies.len().saturating_sub(refused).max(1));
        let first = bodies.pop().unwrap_or_default();
        Self::of(first, bodies, Reading::Quick { refused, pool })
    }

    fn schema(request: &ChatRequest<'_>, reach: &Reach) -> Self {
        let schema = schema::answer_schema(request.tools);
        let messages = schema::plain_messages(request.messages, request.tools);
        let extra = without_tool_wishes(request);
        let request = ChatRequest {
            messages: &messages,
            extra: Some(&extra),
            ..*request
        };
        let encode = |format: &Value| body(&request, reach, &[], Some(format));
        let schema_form = encode(&schema::json_schema_format(&schema));
        let object_form = encode(&schema::json_object_format(&schema));
        let prefers_object_form = Arc::clone(&reach.prefers_object_form);
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

    /// The JSON to send there.
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

    /// The JSON before it is known where it goes, to be changed.
    pub(super) fn body_mut(&mut self) -> &mut Bytes {
        &mut self.body
    }

    /// Turns to the other way of asking for the same, if there is one that was not tried and may help after this.
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
                tools, told, pool, ..
            } => {
                let (tools, told) = (std::mem::take(tools), told.take().unwrap_or_default());
                self.reading = Reading::Prompt {
                    tools,
                    told,
                    refused_by: Some(Arc::clone(pool)),
                };
            }
            Reading::Plain | Reading::Continuing | Reading::Prompt { .. } => {}
        }
        true
    }

    /// The same request with reasoning as the server wants it, where it complains of that. Each complaint is answered once.
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

    /// The same request with the other name for the limit on written tokens, where the server wants that.
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

    /// Leaves a field out of the request in all its forms.
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

    /// The server took the request: the next one is asked in the same form.
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

    /// A fresh reader for the text of the answer.
    pub(crate) fn text_reader(&self) -> TextReader {
        match &self.reading {
            Reading::Plain | Reading::Quick { .. } => TextReader::Plain,
            Reading::Continuing => TextReader::Continuing,
            Reading::Native { has_form: true, .. } => TextReader::Plain,
            Reading::Native { tools, .. } => TextReader::Native(TemplateCalls::new(tools.clone())),
            Reading::Prompt { tools, told, .. } => {
                let calls = TemplateCalls::without_json(tools.clone());
                TextReader::Told(calls, Rescue::new(tools.iter().cloned(), told.clone()))
            }
            Reading::Schema { tools, .. } => TextReader::Schema(SchemaReader::new(tools.clone())),
        }
    }
}

/// No templates: the mode is not used without.
static NO_PROMPT: ToolPrompt = ToolPrompt {
    tools: Vec::new(),
    code: None,
};

/// How tools are told in this request.
fn mode(request: &ChatRequest<'_>, pool: &Pool) -> ToolMode {
    let has_none = request.tools.is_empty();
    // Where it has learned to write code in tags, what it writes of it now is to be told apart from text.
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

/// Whether the caller wants JSON.
fn wishes_form(request: &ChatRequest<'_>) -> bool {
    let form = request.extra.and_then(|extra| extra.get("response_format"));
    form.is_some_and(|form| !form.is_null() && form["type"] != "text")
}

/// The request with the tools in the words of the template.
fn told_body(request: &ChatRequest<'_>, reach: &Reach, prompt: &ToolPrompt) -> Bytes {
    let messages = prompt::plain_messages(request.messages, request.tools, prompt);
    let extra = without_tool_wishes(request);
    body(
        &ChatRequest {
            messages: &messages,
            extra: Some(&extra),
            ..*request
        },
        reach,
        &[],
        None,
    )
}

/// The caller's fields without its wishes about tools and form: our words or schema stand in their place.
fn without_tool_wishes(request: &ChatRequest<'_>) -> Map<String, Value> {
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

    /// The one that the bodies of a request have.
    fn in_request(request: &ChatRequest<'_>, reach: &Reach) -> Option<Self> {
        if request.parameters.max_output_tokens.is_some() {
            return Some(Self::at(&reach.any()));
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

/// The same body for a server that calls a field otherwise.
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

/// The JSON that has a text continued: the last message's, up to the end of its line.
fn text_body(request: &ChatRequest<'_>, reach: &Reach) -> Bytes {
    let text = request
        .messages
        .last()
        .map(Message::plain_text)
        .unwrap_or_default();
    let mut fields = json!({
        "model": reach.settings.model, "prompt": text, "stop": ["\n"], "stream": true,
        "stream_options": {"include_usage": true},
    });
    if let Some(most) = request.parameters.max_output_tokens {
        fields["max_tokens"] = json!(most);
    }
    if let Some(temperature) = request.parameters.temperature {
        fields["temperature"] = json!(temperature);
    }
    fields.to_string().into()
}

/// The fields for what is set, and what of it is not sent.
fn fields<'a>(request: &ChatRequest<'a>, reach: &Reach) -> (ParameterFields<'a>, Vec<LeftOut>) {
    let dialect = Dialect::of_host(reach.any().url.host_str().unwrap_or_default());
    ParameterFields::new(request.parameters, &reach.settings.model, dialect)
}

fn body(
    request: &ChatRequest<'_>,
    reach: &Reach,
    tools: &[Tool<'_>],
    response_format: Option<&Value>,
) -> Bytes {
    let limit = match LimitName::at(&reach.any()) {
        LimitName::New => OutputLimit::MaxCompletionTokens,
        LimitName::Old => OutputLimit::MaxTokens,
    };
    let body = ChatBody {
        model: &reach.settings.model,
        messages: request.messages,
        provider: &reach.provider,
        tools,
        response_format,
        parameters: fields(request, reach).0,
        output_limit: request.parameters.max_output_tokens.map(limit),
        extra: request.extra,
    };
    body.encode().into()
}
