//! Messages: models, connections, pipelines, schedules and webhooks.

use domain::{CodedMessage, LocalizedText};
use schemars::JsonSchema;
use serde::Serialize;

/// Models, connections, pipelines, schedules and webhooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Settings {
    // Model servers.
    #[error("“{model}” has no model server.")]
    NoModelServer { model: String },
    #[error("{words} Did you mean {names}?")]
    DidYouMean { words: LocalizedText, names: String },
    #[error("The model did not finish its answer within {seconds} s.")]
    NotFinishedWithin { seconds: u64 },

    // Connections.
    #[error("This key cannot be read with this server's key file. Enter it again.")]
    KeyUnreadable,

    // Models.
    #[error("There is no such model (any more). Choose another one.")]
    ModelChosenGone,
    #[error("There is no model “{name}”. GET /api/v1/models lists them.")]
    NoModelOfName { name: String },
    #[error("There can be at most {count} model aliases.")]
    TooManyModelAliases { count: u64 },
    #[error(
        "“{name}” is not a valid model alias: 1 to 500 bytes without spaces, and “*” only at the end."
    )]
    BadAlias { name: String },
    #[error("This key is not for “{name}”. GET /v1/models lists what it is for.")]
    KeyNotForModel { name: String },
    #[error("The context must be 256 to 100000000 tokens.")]
    BadContext,
    #[error("A price must be 0 to 1000000 US dollars for a million tokens.")]
    BadPrice,
    #[error("At most {count} models may be asked in the place of one.")]
    TooManyFallbacks { count: u64 },
    #[error("Name each fallback once, and not the model itself.")]
    FallbackTwice,
    #[error("There is no model “{name}” to ask instead.")]
    NoFallback { name: String },
    #[error("The model server has not said yet which models it has. Try again in a moment.")]
    ModelsAwaited,
    #[error(
        "No model is connected that you may use. Name one, or ask an administrator to connect a model server."
    )]
    NoDefaultModel,
    #[error(
        "The default model “{name}” is not available. Name another one, or ask an administrator to choose another default."
    )]
    DefaultModelGone { name: String },

    // Connections.
    #[error("There is no such connection. It may have been deleted.")]
    NoSuchConnection,
    #[error("This connection has no such key. It may have been removed.")]
    NoSuchConnectionKey,
    #[error("This connection comes from the server's environment variables and is changed there.")]
    ConnectionOfEnvironment,
    #[error("This connection is set in the configuration file and is changed there.")]
    ConnectionOfFile,
    #[error("`kind` is “{kind}”, but must be one of {kinds}.")]
    UnknownProviderKind { kind: String, kinds: String },
    #[error("A connection of the kind “{kind}” needs `settings.{option}`.")]
    ProviderOptionMissing { kind: String, option: String },
    #[error("A connection of the kind “{kind}” has no `settings.{option}`.")]
    ProviderOptionUnknown { kind: String, option: String },
    #[error(
        "`settings.{option}` can hold only letters, digits, “-”, “.”, “_” and “:”, at most 100."
    )]
    ProviderOptionBad { option: String },
    #[error("A connection of the kind “{kind}” needs `base_url`, the address of the resource.")]
    BaseUrlMissing { kind: String },
    #[error(
        "The keys and headers of this connection belong to the server that it has now. Remove them first, or add the other \
         server as a connection of its own."
    )]
    KeysOfOtherServer,
    #[error("This connection has that key already.")]
    ConnectionKeyKnown,
    #[error("A connection has at most {count} keys.")]
    TooManyConnectionKeys { count: u64 },
    #[error("An address has at most {limit} bytes.")]
    LongAddress { limit: u64 },
    #[error("A connection needs a name of 1 to 100 characters.")]
    BadConnectionName,
    #[error("A key is 1 to {limit} letters, digits and signs, without spaces.")]
    BadConnectionKey { limit: u64 },
    #[error("A weight is {least} to {most}.")]
    BadWeight { least: u64, most: u64 },
    #[error("A model's name has 1 to 500 bytes.")]
    BadModelName,

    // Agents.
    #[error("There is an agent “{name}” already. Choose another name.")]
    AgentNameTaken { name: String },
    #[error("There are {count} agents, which is the most. Delete one first.")]
    TooManyAgents { count: u64 },
    #[error(
        "The agent “{name}” stands in the configuration's file. Change it there and start the server again."
    )]
    AgentOfFile { name: String },
    #[error("There is no agent “{name}”. It may have been deleted.")]
    NoSuchAgent { name: String },
    #[error(
        "There is no agent “{name}” (any more). Choose another one: GET /api/v1/models lists them."
    )]
    AgentChosenGone { name: String },
    #[error(
        "The agent “{agent}” uses the model “{model}”, which is not there (any more). An administrator can give it another \
         one in the settings."
    )]
    ModelOfAgentGone { agent: String, model: String },
    #[error("`name` must be that of the address: make a new agent to call it otherwise.")]
    AgentRenamed,
    #[error(
        "There is no workspace “{name}” that you may use. An administrator names the directories that chats may work in."
    )]
    NoSuchWorkspace { name: String },

    // Pipelines and tasks.
    #[error("There is no such pipeline.")]
    NoSuchPipeline,
    #[error("This pipeline has no template.")]
    NoTemplate,
    #[error("Connect a model first: the tour cannot do this.")]
    ConnectModelFirst,
    #[error("The tour cannot do this. Choose another model.")]
    TourCannot,
    #[error("The tokens are to be 1 to {most}.")]
    BadPipelineTokens { most: u64 },
    #[error("The seconds are to be 1 to {most}.")]
    BadPipelineSeconds { most: u64 },
    #[error("Queries are turned off here.")]
    QueriesAreOff,
    #[error("Autocompletion is turned off here.")]
    AutocompletionIsOff,
    #[error("A text is completed up to {limit} characters.")]
    TooLongToComplete { limit: u64 },

    // Schedules.
    #[error("You have {count} schedules. Delete one first.")]
    TooManySchedules { count: u64 },
    #[error("What to do has 1 to {limit} characters.")]
    BadPrompt { limit: u64 },
    #[error("Its last run is still going. Wait for its end, or stop it.")]
    ScheduleStillGoing,
    #[error("The run's chat is gone.")]
    ChatOfRunGone,
    #[error("There is no time zone “{name}”.")]
    NoTimeZone { name: String },
    #[error("A schedule needs either `cron` or `once_at`.")]
    CronOrOnce,
    #[error("None of these times is still to come.")]
    NoTimeToCome,
    #[error("A schedule runs at most every {count} minutes.")]
    TooOften { count: u64 },
    #[error("A cron expression has at most {limit} characters.")]
    LongCron { limit: u64 },
    #[error("“{cron}” is not a cron expression of five fields: {why}")]
    BadCron { cron: String, why: String },

    // Webhooks.
    #[error("You have {count} addresses. Delete one first.")]
    TooManyWebhooks { count: u64 },
    #[error("Nothing can be sent there. {why}")]
    CannotSendThere { why: LocalizedText },
    #[error("Nothing can be sent there. The address must begin with https://.")]
    HttpsNeeded,
    #[error("It answers with HTTP {status}.")]
    WebhookAnswers { status: u16 },
    #[error("Its secret cannot be opened: {why}.")]
    WebhookSecretLost { why: String },

    // MCP servers.
    #[error("This server takes a token instead: enter one.")]
    TokenInstead,
    #[error("This server takes no token: sign in there.")]
    NoTokenTaken,
    #[error("A token has 1 to {limit} letters, digits and signs.")]
    BadToken { limit: u64 },
    #[error("There is no MCP server of this name to sign in to.")]
    NoMcpSignIn,
    #[error("Nobody can sign in to “{name}” now. {why}")]
    CannotSignInThere { name: String, why: LocalizedText },
}

impl CodedMessage for Settings {}
