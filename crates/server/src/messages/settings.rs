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
    #[error("Model not found. Choose another one.")]
    ModelChosenGone,
    #[error("Model not found: “{name}”. GET /api/v1/models lists the models.")]
    NoModelOfName { name: String },
    #[error("There can be at most {count} model aliases.")]
    TooManyModelAliases { count: u64 },
    #[error(
        "“{name}” is not a valid model alias: 1 to 500 bytes without spaces, and “*” only at the end."
    )]
    BadAlias { name: String },
    #[error("This key may not use “{name}”. GET /v1/models lists what it may use.")]
    KeyNotForModel { name: String },
    #[error("The context must be 256 to 100000000 tokens.")]
    BadContext,
    #[error("A price must be 0 to 1000000 US dollars per million tokens.")]
    BadPrice,
    #[error("A model can have at most {count} fallbacks.")]
    TooManyFallbacks { count: u64 },
    #[error("Name each fallback once, and not the model itself.")]
    FallbackTwice,
    #[error("Fallback model not found: “{name}”.")]
    NoFallback { name: String },
    #[error("The model server has not listed its models yet. Try again in a moment.")]
    ModelsAwaited,
    #[error(
        "No model is connected that you may use. Name one, or ask an administrator to connect a model server."
    )]
    NoDefaultModel,
    #[error(
        "The default model “{name}” is not available. Name another one, or ask an administrator to choose another default."
    )]
    DefaultModelGone { name: String },

    // MCP servers.
    #[error(
        "The name must be 1 to {limit} letters, digits, “-” and single “_”, and must not begin or end with “_”."
    )]
    BadMcpName { limit: u64 },
    #[error("There is already an MCP server “{name}”.")]
    McpNameTaken { name: String },
    #[error(
        "The configuration file has an MCP server of this name, which is used instead. Rename or delete one of them."
    )]
    McpNameInFile,
    #[error("MCP server not found: “{name}”.")]
    NoMcpServerOfName { name: String },
    #[error("This MCP server is defined in the configuration file. Change it there.")]
    McpServerOfFile,
    #[error("There can be at most {count} MCP servers in the settings.")]
    TooManyMcpServers { count: u64 },
    #[error("Enter an address such as https://example.org/mcp, without a user name or password.")]
    BadMcpUrl,
    #[error("The timeout must be 1 to 86400 seconds.")]
    BadMcpTimeout,
    #[error("The header “{name}” cannot be sent.")]
    BadMcpHeader { name: String },
    #[error("The header “{name}” is needed for each person's own token.")]
    McpHeaderOfPeople { name: String },
    #[error("A token header is only used if each person enters a token.")]
    McpTokenHeaderAlone,
    #[error("A client secret needs a client ID.")]
    McpSecretWithoutClient,
    #[error("The scope “{scope}” is not valid.")]
    BadMcpScope { scope: String },
    #[error("List at most {count} tools, each by a name of 1 to 200 characters.")]
    BadMcpTools { count: u64 },
    #[error(
        "The headers and the client secret are not sent to another host. Enter them again, or remove them."
    )]
    McpSecretsOfOtherHost,
    #[error(
        "The headers or the client secret cannot be read with this server's key file. Enter them again."
    )]
    McpSecretsUnreadable,
    #[error("At most {limit} bytes each, and {count} headers.")]
    McpTextTooLong { limit: u64, count: u64 },

    // Agents.
    #[error("The configuration file also defines an agent “{name}”, which is used instead.")]
    AgentOverriddenByFile { name: String },
    #[error("The model “{model}” is not available. Until it is, the agent cannot be used.")]
    AgentModelMissing { model: String },
    #[error("Tools not available: {names}.")]
    AgentToolsMissing { names: String },
    #[error("Sub-agents not available: {names}.")]
    SubAgentsMissing { names: String },
    #[error("Skills not available: {names}.")]
    SkillsMissing { names: String },
    #[error("The agent has sub-agents, but not the tool `task` to delegate to them.")]
    AgentCannotDelegate,
    #[error("The agent's limit `{limit}` is above the server's limit, which applies.")]
    AgentLimitAboveServer { limit: String },

    // Settings of the server.
    #[error("Setting not found: “{name}”.")]
    NoSuchSetting { name: String },
    #[error(
        "“{name}” is set in the configuration file, an environment variable or a flag. Change it there."
    )]
    SettingFixed { name: String },
    #[error("“{name}” cannot be changed in the web app. Set it in the configuration file.")]
    SettingNotHere { name: String },
    #[error("“{name}” has a value of the wrong type.")]
    SettingOfOtherType { name: String },
    #[error("A value can have at most {limit} bytes.")]
    LongSetting { limit: u64 },
    #[error("This value is not accepted: {reason}")]
    SettingRefused { reason: String },
    #[error("Enter the address and the client ID of the sign-in provider.")]
    SignInProviderMissing,
    #[error("Enter the mail server and the sender.")]
    MailServerMissing,
    #[error("The mail was not sent: {reason}")]
    MailFailed { reason: String },

    // Web search.
    #[error(
        "The search providers are set in the configuration file or the environment. Change them there."
    )]
    SearchConfigured,
    #[error("Name each search provider once.")]
    SearchTwice,
    #[error("Enter the address of your SearXNG.")]
    SearchUrlMissing,
    #[error("Enter an address such as https://search.example.org.")]
    BadSearchUrl,
    #[error("This service needs an API key.")]
    SearchKeyMissing,
    #[error(
        "Choose a tool of an MCP server that everyone uses alike, by its full name such as finder__search."
    )]
    BadSearchTool,

    // Connections.
    #[error("Connection not found. It may have been deleted.")]
    NoSuchConnection,
    #[error("Key not found in this connection. It may have been removed.")]
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
        "The keys and headers of this connection belong to its current server. Remove them first, or add the other \
         server as a separate connection."
    )]
    KeysOfOtherServer,
    #[error("This connection already has this key.")]
    ConnectionKeyKnown,
    #[error("A connection can have at most {count} keys.")]
    TooManyConnectionKeys { count: u64 },
    #[error("An address can have at most {limit} bytes.")]
    LongAddress { limit: u64 },
    #[error("A connection needs a name of 1 to 100 characters.")]
    BadConnectionName,
    #[error("A key must be 1 to {limit} letters, digits and symbols, without spaces.")]
    BadConnectionKey { limit: u64 },
    #[error("A weight must be {least} to {most}.")]
    BadWeight { least: u64, most: u64 },
    #[error("A model's name must have 1 to 500 bytes.")]
    BadModelName,

    // Agents.
    #[error("An agent named “{name}” already exists. Choose another name.")]
    AgentNameTaken { name: String },
    #[error("There are already {count} agents, the maximum. Delete one first.")]
    TooManyAgents { count: u64 },
    #[error(
        "The agent “{name}” is defined in the configuration file. Change it there and restart the server."
    )]
    AgentOfFile { name: String },
    #[error("Agent not found: “{name}”. It may have been deleted.")]
    NoSuchAgent { name: String },
    #[error("Agent not found: “{name}”. Choose another one: GET /api/v1/models lists them.")]
    AgentChosenGone { name: String },
    #[error(
        "The agent “{agent}” uses the model “{model}”, which is not available. An administrator can choose another one \
         in the settings."
    )]
    ModelOfAgentGone { agent: String, model: String },
    #[error("`name` must be the name in the address. To use another name, create a new agent.")]
    AgentRenamed,
    #[error(
        "Workspace not found, or you may not use it: “{name}”. An administrator sets the directories that chats may \
         work in."
    )]
    NoSuchWorkspace { name: String },

    // Pipelines and tasks.
    #[error("Model task not found.")]
    NoSuchPipeline,
    #[error("This model task has no template.")]
    NoTemplate,
    #[error("Connect a model first: the tour cannot do this.")]
    ConnectModelFirst,
    #[error("The tour cannot do this. Choose another model.")]
    TourCannot,
    #[error("The tokens must be 1 to {most}.")]
    BadPipelineTokens { most: u64 },
    #[error("The seconds must be 1 to {most}.")]
    BadPipelineSeconds { most: u64 },
    #[error("Generating queries is turned off here.")]
    QueriesAreOff,
    #[error("Autocompletion is turned off here.")]
    AutocompletionIsOff,
    #[error("Only texts of up to {limit} characters can be completed.")]
    TooLongToComplete { limit: u64 },

    // Schedules.
    #[error("You already have {count} schedules, the maximum. Delete one first.")]
    TooManySchedules { count: u64 },
    #[error("The prompt must have 1 to {limit} characters.")]
    BadPrompt { limit: u64 },
    #[error("Its last run has not ended. Wait until it ends, or stop it.")]
    ScheduleStillGoing,
    #[error("The run's chat no longer exists.")]
    ChatOfRunGone,
    #[error("Unknown time zone: “{name}”.")]
    NoTimeZone { name: String },
    #[error("A schedule needs either `cron` or `once_at`.")]
    CronOrOnce,
    #[error("None of these times is in the future.")]
    NoTimeToCome,
    #[error("A schedule can run at most every {count} minutes.")]
    TooOften { count: u64 },
    #[error("A cron expression can have at most {limit} characters.")]
    LongCron { limit: u64 },
    #[error("“{cron}” is not a cron expression of five fields: {why}")]
    BadCron { cron: String, why: String },

    // Webhooks.
    #[error("You already have {count} addresses, the maximum. Delete one first.")]
    TooManyWebhooks { count: u64 },
    #[error("This address cannot be used. {why}")]
    CannotSendThere { why: LocalizedText },
    #[error("This address cannot be used. It must begin with https://.")]
    HttpsNeeded,
    #[error("These are not the keys of a browser's push subscription.")]
    BadPushKeys,
    #[error(
        "Only a browser that someone is signed in with can get push notifications, not an API key."
    )]
    PushNeedsBrowser,
    #[error("At most {count} browsers of a user get push notifications.")]
    TooManyPushSubscriptions { count: u64 },
    #[error("It answered with HTTP {status}.")]
    WebhookAnswers { status: u16 },
    #[error("Its secret cannot be decrypted: {why}.")]
    WebhookSecretLost { why: String },

    // MCP servers.
    #[error("This server needs a token instead. Enter one.")]
    TokenInstead,
    #[error("This server does not accept a token. Sign in there instead.")]
    NoTokenTaken,
    #[error("A token must have 1 to {limit} letters, digits and symbols.")]
    BadToken { limit: u64 },
    #[error("MCP server not found, or it has no sign-in.")]
    NoMcpSignIn,
    #[error("Signing in to “{name}” is not possible now. {why}")]
    CannotSignInThere { name: String, why: LocalizedText },
}

impl CodedMessage for Settings {}
