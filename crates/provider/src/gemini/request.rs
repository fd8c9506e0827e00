//! The body of a request.

use std::borrow::Cow;

use domain::{LeftOut, Message, Parameter, Part, Role};
use serde::Serialize;
use serde_json::{Value, json, value::RawValue};

use super::{
    content::{Content, contents},
    generation::{Generation, ThinkingConfig},
    names::escaped,
};
use crate::{
    AnswerFormat, ModelRequest, Parameters, Reasoning, Sent, ToolChoice, never_taken,
    openai::Tool,
    tool_schema::{ToolFormat, subset},
};

/// Maximum number of stop sequences.
const MAX_STOP: usize = 5;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Content<'a>>,
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Declarations<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<Value>,
    #[serde(skip_serializing_if = "GenerationConfig::is_empty")]
    generation_config: GenerationConfig<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declarations<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: Cow<'a, str>,
    description: &'a str,
    parameters_json_schema: &'a RawValue,
}

#[derive(Serialize, PartialEq, Default)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop_sequences: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
}

impl GenerationConfig<'_> {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The JSON of a request; the path decides whether the answer is streamed.
#[must_use]
pub fn encode(request: &ModelRequest<'_>) -> Vec<u8> {
    let ModelRequest {
        messages,
        tools,
        parameters,
        ..
    } = *request;
    let generation = Generation::of(request.model);
    // Before the third generation, JSON answers are refused together with tools: they are requested in the prompt.
    let in_words = !tools.is_empty() && !generation.is_third();
    let format = parameters.answer_format.as_ref();
    let asked = format.filter(|_| in_words).map(asked_for);
    let (mut system_instruction, contents) = contents(messages, generation);
    if let Some(asked) = &asked {
        let (mut with, _) = self::contents(std::slice::from_ref(asked), generation);
        match (&mut system_instruction, with.as_mut()) {
            (Some(system), Some(more)) => system.append(more),
            (system, _) => *system = with,
        }
    }
    let body = Body {
        system_instruction,
        contents,
        tools: (!tools.is_empty()).then(|| {
            [Declarations {
                function_declarations: tools.iter().map(declaration).collect(),
            }]
        }),
        tool_config: (!tools.is_empty())
            .then(|| tool_config(&parameters.tool_choice))
            .flatten(),
        generation_config: config(parameters, format.filter(|_| !in_words), generation),
    };
    // Serializing plain structs to memory cannot fail.
    serde_json::to_vec(&body).unwrap_or_default()
}

/// The same, and the parameters that it leaves out.
#[must_use]
pub fn encode_with_left_out(request: &ModelRequest<'_>) -> (Vec<u8>, Vec<LeftOut>) {
    (
        encode(request),
        not_said(request.parameters, Generation::of(request.model)),
    )
}

/// The parameters that a model of this name never accepts.
#[must_use]
pub fn unsupported(model: &str) -> Vec<Parameter> {
    never_taken(|set| not_said(&Parameters::default().under(set), Generation::of(model)))
}

fn not_said(parameters: &Parameters, generation: Generation) -> Vec<LeftOut> {
    let config = config(parameters, None, generation);
    parameters.left_out(&Sent {
        temperature: config.temperature.is_some(),
        top_p: config.top_p.is_some(),
        max_output_tokens: config.max_output_tokens.is_some(),
        stop: config.stop_sequences.len(),
        seed: config.seed.is_some(),
        reasoning: parameters.reasoning == Some(Reasoning::Off) || config.thinking_config.is_some(),
    })
}

fn declaration<'a>(tool: &'a Tool<'_>) -> Declaration<'a> {
    Declaration {
        name: escaped(tool.name),
        description: tool.description,
        parameters_json_schema: tool.parameters.json_for(ToolFormat::GenerateContent),
    }
}

fn tool_config(choice: &ToolChoice) -> Option<Value> {
    let config = match choice {
        ToolChoice::Auto => return None,
        ToolChoice::None => json!({"mode": "NONE"}),
        ToolChoice::Required => json!({"mode": "ANY"}),
        ToolChoice::Tool(name) => json!({"mode": "ANY", "allowedFunctionNames": [escaped(name)]}),
    };
    Some(json!({ "functionCallingConfig": config }))
}

fn config<'a>(
    parameters: &'a Parameters,
    format: Option<&AnswerFormat>,
    generation: Generation,
) -> GenerationConfig<'a> {
    let stop = parameters.stop.as_slice();
    GenerationConfig {
        temperature: parameters.temperature,
        top_p: parameters.top_p,
        max_output_tokens: parameters.max_output_tokens,
        stop_sequences: &stop[..stop.len().min(MAX_STOP)],
        seed: parameters.seed.map(small_seed),
        response_mime_type: format.map(|_| "application/json"),
        response_json_schema: match format {
            Some(AnswerFormat::Schema { schema, .. }) => Some(subset::lower(schema)),
            _ => None,
        },
        thinking_config: generation.thinking(parameters.reasoning),
    }
}

/// Seeds are 32-bit numbers.
fn small_seed(seed: i64) -> i32 {
    let wrapped = seed.rem_euclid(i64::from(i32::MAX));
    i32::try_from(seed).unwrap_or(i32::try_from(wrapped).unwrap_or(0))
}

/// The instruction for an answer in JSON.
fn asked_for(format: &AnswerFormat) -> Message {
    let only = "Write nothing else: no text around it and no code fence.";
    let text = match format {
        AnswerFormat::Json => format!("Answer with a JSON object. {only}"),
        AnswerFormat::Schema { schema, .. } => {
            format!("Answer with JSON that is valid under this JSON Schema:\n\n{schema}\n\n{only}")
        }
    };
    Message::of(Role::System, vec![Part::Text { text }])
}
