//! Messages: what a run does, what its models gave, and why it ends.

use domain::{CodedMessage, LeftOut, LocalizedText};
use schemars::JsonSchema;
use serde::Serialize;

/// What a run does, what its models gave, and why it ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Runs {
    // Current activity.
    #[error("Thinking…")]
    Thinking,
    #[error("Summarizing older steps…")]
    SummingUp,
    #[error("Asking the model again in {seconds} s (attempt {attempt} of {attempts})…")]
    AskingAgain {
        seconds: u64,
        attempt: u32,
        attempts: u32,
    },
    #[error("Running {count} tools…")]
    RunningTools { count: u64 },
    #[error("Planning…")]
    Planning,
    #[error("Turn {turn} - Searching…")]
    SearchingInTurn { turn: u32 },
    #[error("Turn {turn} - Reading {count} {}…", noun(*count, "source", "sources"))]
    ReadingInTurn { turn: u32, count: u64 },
    #[error("Writing the report…")]
    WritingReport,
    #[error("Deciding what to search for…")]
    LookingFor,
    #[error("Searching {count} {}…", noun(*count, "query", "queries"))]
    SearchingQueries { count: u64 },
    #[error("Reading {count} {}…", noun(*count, "page", "pages"))]
    ReadingPages { count: u64 },
    #[error("Answering again with all answers in view, {layer} of {layers}…")]
    Layer { layer: u32, layers: u32 },

    // Limits of a run.
    #[error("The run")]
    TheRun,
    #[error("The agent")]
    TheAgent,
    #[error("The agent took {count} steps, which is its limit. It ends with what it has.")]
    LimitSteps { count: u32 },
    #[error("The agent took {count} steps of {limit}. It ends with what it has.")]
    LimitStepsNear { count: u32, limit: u32 },
    #[error(
        "{who} took {count} steps with all its agents and its limit is {limit}. It ends with what it has."
    )]
    LimitAllSteps {
        who: LocalizedText,
        count: u64,
        limit: u64,
    },
    #[error("{who} used {count} tokens and its limit is {limit}. It ends with what it has.")]
    LimitTokens {
        who: LocalizedText,
        count: u64,
        limit: u64,
    },
    #[error("{who} cost {cost} and its limit is {limit}. It ends with what it has.")]
    LimitCost {
        who: LocalizedText,
        cost: String,
        limit: String,
    },
    #[error("{who} worked for {seconds} seconds, which is its limit. It ends with what it has.")]
    LimitTime { who: LocalizedText, seconds: u64 },
    #[error("{who} worked for {seconds} of the {limit} seconds it has. It ends with what it has.")]
    LimitTimeNear {
        who: LocalizedText,
        seconds: u64,
        limit: u64,
    },
    #[error("The answer reached the requested limit of {count} tokens and was cut off.")]
    LimitAnswer { count: u64 },

    // Hooks of the administrator.
    #[error("The hook “{hook}” stopped the run: {reason}")]
    HookStopped { hook: String, reason: String },
    #[error("The hook “{hook}” withheld the answer: {reason}")]
    HookWithheld { hook: String, reason: String },

    // Answers of models.
    #[error("The model was asked without “{name}”, which it does not accept here.")]
    ParameterLeftOut { name: String },
    #[error(
        "This model's server does not accept all of the schemas of these tools, so the model is given simpler ones: \
         {tools}. Their arguments are checked as before."
    )]
    ToolsSimplified { tools: String },
    #[error("This model's server rejects these tools, so they are left out: {tools}.")]
    ToolsLeftOut { tools: String },
    #[error(
        "There are more tools than this model's server accepts: {listed} of {all} are listed, the others are found by \
         search."
    )]
    ToolsBySearch { listed: u64, all: u64 },
    #[error("The model was asked without some of the stop sequences, which it does not accept.")]
    StopSequencesLeftOut,
    #[error("The model wrote invalid arguments for {tool}, which were repaired.")]
    ArgumentsRepaired { tool: String },
    #[error("The model called \"{written}\"; the tool {tool} was meant.")]
    ToolNameRepaired { written: String, tool: String },
    #[error("The model gave an empty answer.")]
    EmptyAnswer,
    #[error("A picture from the model is too large to be kept: {size} bytes of at most {limit}.")]
    MadePictureTooLarge { size: u64, limit: u64 },
    #[error("A picture from the model cannot be read and is not shown.")]
    MadePictureUnreadable,
    #[error("The model reached its output token limit; the answer may be cut off.")]
    AnswerCut,
    #[error("The model server's content filter cut off the answer.")]
    AnswerFiltered,
    #[error("The model server ended its answer without saying that it was done.")]
    AnswerWithoutEnd,
    #[error("The answer is not in the requested format, so it is written again: {fault}.")]
    AnswerNotInForm { fault: String },
    #[error("The model did not answer in the requested format: {fault}.")]
    AnswerNeverInForm { fault: String },
    #[error("{before} could not be used, so {after} is used instead. {why}")]
    OtherModel {
        before: String,
        after: String,
        why: LocalizedText,
    },
    #[error("The older steps could not be summarized, so they are left out: {why}")]
    NoSummary { why: LocalizedText },
    #[error("Even parts of them are too long for the model server.")]
    PartsTooLong,
    #[error("{name} did not answer. {why}")]
    NoAnswerOf { name: String, why: LocalizedText },
    #[error("No model answered in this layer, so the answers of the previous layer are used.")]
    NobodyAnswered,

    // Unusable output of a pipeline's model, which reads these, too.
    #[error("there is no title")]
    TitleMissing,
    #[error("the title has several lines")]
    TitleOfLines,
    #[error("the title has no words, or far too many")]
    TitleWithoutWords,
    #[error("the title is not in the language of the chat")]
    TitleInOtherLanguage,
    #[error("there are no tags")]
    TagsMissing,
    #[error("there are no follow_ups")]
    FollowUpsMissing,
    #[error("there is no JSON object with {field}")]
    JsonMissing { field: String },
    #[error("{fault}; {more}")]
    FaultAndMore {
        fault: LocalizedText,
        more: LocalizedText,
    },

    // Research, and retrieval before an answer.
    #[error("The model wrote no report. These are the notes.")]
    NoReport,
    #[error("It ended before the report. These are the notes so far.")]
    NotesSoFar,
    #[error("The report cites no sources, so nothing shows where it comes from.")]
    CitesNothing,
    #[error(
        "{verified} of {count} cited notes have a quote that was found word for word in the source."
    )]
    QuotesFound { verified: u64, count: u64 },
    #[error(
        "The report has figures or quotations without a citation that no quote contains: {list}."
    )]
    FiguresUnsupported { list: String },
    #[error(
        "There is nothing to research in: no document collection that you may search, and no web search. Create a \
         collection first, or ask an administrator."
    )]
    NothingToResearchIn,

    // Unintended ends of runs.
    #[error(
        "The server was restarted during this run. What it wrote is kept; ask again to continue."
    )]
    Interrupted,
    #[error("The run ended because of an error in the server. What it wrote is kept.")]
    FaultOfServer,

    // Model servers.
    #[error("The conversation of this run is longer than {limit} MB.")]
    ConversationTooLong { limit: u64 },
}

impl CodedMessage for Runs {}

fn noun(count: u64, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

impl From<LeftOut> for Runs {
    fn from(left_out: LeftOut) -> Self {
        match left_out {
            LeftOut::Parameter(parameter) => Self::ParameterLeftOut {
                name: parameter.name().to_owned(),
            },
            LeftOut::SomeStop => Self::StopSequencesLeftOut,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singular_and_plural() {
        assert_eq!(
            Runs::ReadingPages { count: 1 }.to_string(),
            "Reading 1 page…"
        );
        assert_eq!(
            Runs::SearchingQueries { count: 2 }.to_string(),
            "Searching 2 queries…"
        );
    }
}
