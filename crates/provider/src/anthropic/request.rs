//! The bodies of `POST /v1/messages` and `POST /v1/messages/count_tokens`.

use domain::{LeftOut, Parameter};
use serde::Serialize;
use serde_json::{Value, value::RawValue};

use super::{
    PROVIDER, cache,
    content::{Block, CacheControl},
    messages::{Conversation, Turn},
    model::{Capabilities, abilities},
    schema,
    thinking::{Plan, ThinkingConfig},
};
use crate::{
    AnswerFormat, ModelRequest, Parameters, Reasoning, Sent, ToolChoice, never_taken, openai::Tool,
    tool_schema::ToolFormat,
};

/// The body of `POST /v1/messages`.
#[must_use]
pub fn encode(request: &ModelRequest<'_>) -> Vec<u8> {
    write(&Body::new(request))
}

/// The same, and the parameters that it leaves out.
#[must_use]
pub fn encode_with_left_out(request: &ModelRequest<'_>) -> (Vec<u8>, Vec<LeftOut>) {
    let body = Body::new(request);
    (write(&body), left_out(request.parameters, &body))
}

/// The body of `POST /v1/messages/count_tokens` for the same request.
#[must_use]
pub fn encode_count(request: &ModelRequest<'_>) -> Vec<u8> {
    let body = Body::new(request);
    write(&Body {
        max_tokens: None,
        temperature: None,
        top_p: None,
        stop_sequences: Vec::new(),
        stream: None,
        ..body
    })
}

fn left_out(parameters: &Parameters, body: &Body<'_>) -> Vec<LeftOut> {
    parameters.left_out(&Sent {
        temperature: body.temperature.is_some(),
        top_p: body.top_p.is_some(),
        max_output_tokens: true,
        stop: body.stop_sequences.len(),
        seed: false,
        reasoning: parameters.reasoning == Some(Reasoning::Off)
            || body.thinking.is_some()
            || body.output_config.effort.is_some(),
    })
}

/// The parameters that a model of this name never accepts.
#[must_use]
pub fn unsupported(model: &str) -> Vec<Parameter> {
    never_taken(|set| {
        let parameters = &Parameters::default().under(set);
        let request = ModelRequest {
            model,
            messages: &[],
            tools: &[],
            parameters,
            stream: false,
        };
        left_out(parameters, &Body::new(&request))
    })
}

/// The token count in the answer of `count_tokens`; `None` if it has none.
#[must_use]
pub fn counted_tokens(body: &str) -> Option<u64> {
    serde_json::from_str::<Value>(body)
        .ok()?
        .get("input_tokens")?
        .as_u64()
}

/// The betas that [`encode`]'s body needs, for the header `anthropic-beta`.
#[must_use]
pub fn betas(request: &ModelRequest<'_>) -> Vec<&'static str> {
    let model = abilities(request.model);
    let thinks = Plan::new(request.parameters, &model, true).thinks();
    let interleaves = model.interleaving_beta && thinks && !request.tools.is_empty();
    interleaves
        .then_some("interleaved-thinking-2025-05-14")
        .into_iter()
        .collect()
}

fn write(body: &Body<'_>) -> Vec<u8> {
    // Serializing plain structs to memory cannot fail.
    serde_json::to_vec(body).unwrap_or_default()
}

#[derive(Debug, Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    messages: Vec<Turn<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingConfig>,
    #[serde(skip_serializing_if = "OutputConfig::is_empty")]
    output_config: OutputConfig,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stop_sequences: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
}

#[derive(Debug, Serialize)]
struct WireTool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Debug, Serialize)]
struct Choice<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    disable_parallel_tool_use: bool,
}

#[derive(Debug, Default, Serialize)]
struct OutputConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<OutputFormat>,
}

#[derive(Debug, Serialize)]
struct OutputFormat {
    #[serde(rename = "type")]
    kind: &'static str,
    schema: Value,
}

impl OutputConfig {
    fn is_empty(&self) -> bool {
        self.effort.is_none() && self.format.is_none()
    }
}

impl<'a> Body<'a> {
    fn new(request: &ModelRequest<'a>) -> Self {
        let model = abilities(request.model);
        let parameters = request.parameters;
        let mut conversation = Conversation::new(request.messages, PROVIDER, model.inline_system);
        let plan = Plan::new(parameters, &model, !conversation.calls_without_thinking());
        let mut tools: Vec<WireTool<'a>> = request.tools.iter().map(tool).collect();
        if cache::is_worth_it(&conversation, !tools.is_empty()) {
            cache::mark(&mut conversation);
            if let Some(last) = tools.last_mut() {
                last.cache_control = Some(CacheControl::EPHEMERAL);
            }
        }
        let (temperature, top_p) = sampling(parameters, &model, plan.thinks());
        Self {
            model: request.model,
            max_tokens: Some(plan.max_tokens),
            system: conversation.system,
            messages: conversation.turns,
            tool_choice: (!tools.is_empty())
                .then(|| choice(parameters, &model))
                .flatten(),
            tools,
            thinking: plan.thinking,
            output_config: OutputConfig {
                effort: plan.effort,
                format: format(parameters, &model),
            },
            temperature,
            top_p,
            // The API refuses blank ones.
            stop_sequences: parameters
                .stop
                .iter()
                .map(String::as_str)
                .filter(|it| !it.trim().is_empty())
                .collect(),
            stream: Some(request.stream),
        }
    }
}

fn tool<'a>(tool: &Tool<'a>) -> WireTool<'a> {
    WireTool {
        name: tool.name,
        description: tool.description,
        input_schema: tool.parameters.json_for(ToolFormat::Messages),
        cache_control: None,
    }
}

/// `None` is the API's default: the model decides.
fn choice<'a>(parameters: &'a Parameters, model: &Capabilities) -> Option<Choice<'a>> {
    let disable_parallel_tool_use = parameters.parallel_tool_calls == Some(false);
    let (kind, name) = match &parameters.tool_choice {
        ToolChoice::None => {
            return Some(Choice {
                kind: "none",
                name: None,
                disable_parallel_tool_use: false,
            });
        }
        ToolChoice::Required if model.forced_choice => ("any", None),
        ToolChoice::Tool(name) if model.forced_choice => ("tool", Some(name.as_str())),
        ToolChoice::Auto | ToolChoice::Required | ToolChoice::Tool(_) => ("auto", None),
    };
    let is_default = kind == "auto" && !disable_parallel_tool_use;
    (!is_default).then_some(Choice {
        kind,
        name,
        disable_parallel_tool_use,
    })
}

fn format(parameters: &Parameters, model: &Capabilities) -> Option<OutputFormat> {
    match &parameters.answer_format {
        Some(AnswerFormat::Schema { schema, .. }) if model.json_schema => Some(OutputFormat {
            kind: "json_schema",
            schema: schema::for_answer(schema),
        }),
        _ => None,
    }
}

/// Temperature and `top_p`, of which many models accept one at most, and none while they think.
fn sampling(
    parameters: &Parameters,
    model: &Capabilities,
    thinks: bool,
) -> (Option<f64>, Option<f64>) {
    let temperature = parameters.temperature.map(|it| it.clamp(0.0, 1.0));
    match (model.sampling, thinks) {
        (false, _) => (None, None),
        (true, true) => (
            None,
            parameters
                .top_p
                .filter(|top_p| (0.95..=1.0).contains(top_p)),
        ),
        (true, false) if temperature.is_some() && !model.both_samplings => (temperature, None),
        (true, false) => (temperature, parameters.top_p),
    }
}

#[cfg(test)]
mod tests;
