//! The definition of a tool: a name, a validated JSON Schema, and a function.

use std::{
    fmt,
    sync::{Arc, Mutex, OnceLock, atomic::AtomicUsize},
};

use domain::{EventBody, event::ToolFile};
use futures_util::future::BoxFuture;
use llm::{ToolSpec, normal_schema};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    ToolChoice, Workspace,
    schemas::{faults, tool_validator},
    turns::AgentContext,
    workspace::FileProblem,
};

/// Extracts the addresses of the results from the text of a search's answer.
pub(crate) type Found = fn(&str) -> Vec<String>;

/// The part of a tool's result whose addresses may be opened without approval.
#[derive(Clone, Copy)]
pub(crate) enum Names {
    /// The results of a search.
    Found(Found),
    /// A person's reply.
    Said,
}

/// A tool that an agent can call.
pub struct Tool {
    spec: ToolSpec,
    schema: Arc<jsonschema::Validator>,
    kind: ToolKind,
    names: Option<Names>,
    opens: Option<&'static str>,
    function: Arc<Function>,
}

type Function =
    dyn Fn(Value, ToolContext) -> BoxFuture<'static, Result<String, ToolFailure>> + Send + Sync;

/// Properties of a tool that the loop needs besides its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolKind {
    /// Repeating it after a crash is harmless.
    pub repeatable: bool,
    /// It may wait for people or other agents, or has its own time limit, so the time limit of tools does not apply.
    pub waits: bool,
    /// After a crash it is called again and continues from the log of its call.
    pub goes_on: bool,
}

impl ToolKind {
    /// Read-only, so it may be repeated.
    pub const REPEATABLE: Self = Self {
        repeatable: true,
        waits: false,
        goes_on: false,
    };
    /// Changes something, so it must not be repeated blindly.
    pub const ONCE: Self = Self {
        repeatable: false,
        waits: false,
        goes_on: false,
    };
    /// Waits for a person or another agent. After a crash it is called again and continues from the log of its call.
    pub const WAITING: Self = Self {
        repeatable: false,
        waits: true,
        goes_on: true,
    };
    /// Changes something and atomically stores the call's id with it, so that after a crash it can tell whether the
    /// change was made. The call is stored first, so that its id is never reused.
    pub const MARKED: Self = Self {
        repeatable: false,
        waits: false,
        goes_on: true,
    };
    /// Runs a program with its own limits; must not be repeated blindly.
    pub const PROGRAM: Self = Self {
        repeatable: false,
        waits: true,
        goes_on: false,
    };
    /// Runs a program elsewhere, which goes on while the server is down. Its call is stored by its ID, so that it is never run
    /// again.
    pub const REMOTE_PROGRAM: Self = Self::WAITING;
}

/// Why a tool failed, as a sentence for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolFailure(pub String);

impl From<FileProblem> for ToolFailure {
    fn from(problem: FileProblem) -> Self {
        Self(problem.to_string())
    }
}

/// The context of a running tool.
#[derive(Clone)]
pub struct ToolContext {
    pub(crate) agent: Arc<AgentContext>,
    pub(crate) call: String,
    /// Number of questions asked in this call.
    pub(crate) asked: Arc<AtomicUsize>,
    /// A note appended to the result, for the model only.
    pub(crate) note: Arc<OnceLock<String>>,
    /// The call was running when the server stopped, and is continued.
    pub(crate) is_continued: bool,
    /// Whether its time counts as the run's, except while it waits for a person.
    pub(crate) is_busy: bool,
    /// The files reported when the call ends.
    pub(crate) files: Arc<Mutex<Vec<ToolFile>>>,
}

impl ToolContext {
    /// The files of its workspace.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.agent.run.deps.workspace
    }

    /// A number that is unique among the runs of this process while the run lasts.
    #[must_use]
    pub fn run_number(&self) -> usize {
        Arc::as_ptr(&self.agent.run).addr()
    }

    /// Adds a note for the model after the result, which people need not read. Only the first note counts.
    pub(crate) fn note_for_model(&self, note: impl Into<String>) {
        // A call has at most one note.
        let _ = self.note.set(note.into());
    }

    /// Records a picture that a program has written, to be shown in the answer.
    pub(crate) fn note_picture(&self, path: &str) {
        self.agent.code.note_picture(path);
    }

    /// Records that a file was deleted.
    pub(crate) fn forget_picture(&self, path: &str) {
        self.agent.code.forget_picture(path);
    }

    /// Emits an event.
    pub async fn emit(&self, body: EventBody) {
        self.agent.emitter.emit(body).await;
    }

    /// Reports the progress of the tool.
    pub async fn progress(&self, message: impl Into<String>) {
        self.emit(EventBody::ToolProgress {
            call: self.call.clone(),
            message: message.into(),
        })
        .await;
    }
}

/// The description of a tool whose schema comes from outside, validated and ready to check arguments.
#[derive(Debug, Clone)]
pub struct CheckedSpec {
    spec: ToolSpec,
    schema: Arc<jsonschema::Validator>,
}

impl CheckedSpec {
    /// The schema may be hostile: external references are not fetched, and a schema that takes long to check is
    /// refused. The caller has to limit the size of its text.
    ///
    /// # Errors
    /// If the schema does not describe an object, or cannot be used.
    pub fn new(spec: ToolSpec) -> Result<Self, ToolFailure> {
        let Value::Object(mut parameters) = normal_schema(&spec.parameters) else {
            return Err(ToolFailure("The schema is not an object.".to_owned()));
        };
        match parameters.entry("type").or_insert_with(|| "object".into()) {
            kind if kind == "object" => {}
            Value::Array(kinds) if kinds.iter().any(|kind| kind == "object") => {
                parameters.insert("type".to_owned(), "object".into());
            }
            _ => {
                return Err(ToolFailure(
                    "The schema is not one for an object.".to_owned(),
                ));
            }
        }
        parameters
            .entry("properties")
            .or_insert_with(|| Value::Object(serde_json::Map::new()));
        let parameters = Value::Object(parameters);
        let schema = tool_validator(&parameters)
            .map_err(|error| ToolFailure(format!("The schema cannot be used: {error}")))?;
        Ok(Self {
            spec: ToolSpec {
                parameters: parameters.into(),
                ..spec
            },
            schema: Arc::new(schema),
        })
    }
}

impl Tool {
    /// A tool whose arguments are an `Arguments`; its schema is derived from that type.
    pub fn new<Arguments, Call, Answer>(
        name: &str,
        description: &str,
        kind: ToolKind,
        call: Call,
    ) -> Result<Self, ToolFailure>
    where
        Arguments: DeserializeOwned + JsonSchema,
        Call: Fn(Arguments, ToolContext) -> Answer + Send + Sync + 'static,
        Answer: Future<Output = Result<String, ToolFailure>> + Send + 'static,
    {
        let mut parameters = schemars::schema_for!(Arguments).to_value();
        if let Some(object) = parameters.as_object_mut() {
            // Models and strict servers expect the bare object.
            object.remove("$schema");
            object.remove("title");
            object
                .entry("properties")
                .or_insert_with(|| Value::Object(serde_json::Map::new()));
        }
        let schema = jsonschema::validator_for(&parameters)
            .map_err(|error| ToolFailure(format!("the schema of {name} is not valid: {error}")))?;
        let function = move |arguments: Value, context: ToolContext| -> BoxFuture<'static, _> {
            match serde_json::from_value(arguments) {
                Ok(arguments) => Box::pin(call(arguments, context)),
                Err(error) => {
                    let failure = ToolFailure(format!("The arguments do not fit: {error}"));
                    Box::pin(std::future::ready(Err(failure)))
                }
            }
        };
        let spec = ToolSpec {
            name: name.to_owned(),
            description: description.to_owned(),
            parameters: parameters.into(),
        };
        Ok(Self::made(spec, Arc::new(schema), kind, Arc::new(function)))
    }

    /// A tool whose schema comes from outside: [`CheckedSpec::new`] and [`Tool::of_spec`] in one.
    ///
    /// # Errors
    /// If the schema does not describe an object, or cannot be used.
    pub fn from_outside<Call, Answer>(
        spec: ToolSpec,
        kind: ToolKind,
        call: Call,
    ) -> Result<Self, ToolFailure>
    where
        Call: Fn(Value, ToolContext) -> Answer + Send + Sync + 'static,
        Answer: Future<Output = Result<String, ToolFailure>> + Send + 'static,
    {
        Ok(Self::of_spec(&CheckedSpec::new(spec)?, kind, call))
    }

    /// A tool with this description. The description can be shared by many tools, such as those created for each run.
    pub fn of_spec<Call, Answer>(checked: &CheckedSpec, kind: ToolKind, call: Call) -> Self
    where
        Call: Fn(Value, ToolContext) -> Answer + Send + Sync + 'static,
        Answer: Future<Output = Result<String, ToolFailure>> + Send + 'static,
    {
        let function = move |arguments, context| -> BoxFuture<'static, _> {
            Box::pin(call(arguments, context))
        };
        let CheckedSpec { spec, schema } = checked.clone();
        Self::made(spec, schema, kind, Arc::new(function))
    }

    /// A copy with this `description`, and with its argument `field` restricted to `values` for the model. The tool
    /// itself has to check the values.
    pub(crate) fn described(&self, description: String, field: &str, values: &[&str]) -> Self {
        let mut parameters = self.spec.parameters.to_value();
        if let Some(field) = parameters.pointer_mut(&format!("/properties/{field}")) {
            field["enum"] = values.into();
        }
        let spec = ToolSpec {
            name: self.spec.name.clone(),
            description,
            parameters: parameters.into(),
        };
        let schema = Arc::clone(&self.schema);
        let function = Arc::clone(&self.function);
        Self {
            spec,
            schema,
            kind: self.kind,
            names: self.names,
            opens: self.opens,
            function,
        }
    }

    fn made(
        spec: ToolSpec,
        schema: Arc<jsonschema::Validator>,
        kind: ToolKind,
        function: Arc<Function>,
    ) -> Self {
        Self {
            spec,
            schema,
            kind,
            names: None,
            opens: None,
            function,
        }
    }

    /// Marks it as a search: `found` extracts the addresses of the results from its answer, and the agent that called
    /// it may open those without approval. `found` must not take an address from a title or a snippet.
    #[must_use]
    pub fn finding_addresses(mut self, found: Found) -> Self {
        self.names = Some(Names::Found(found));
        self
    }

    /// Marks it as answered by a person: addresses in the answer may be opened without approval, in the whole run.
    #[must_use]
    pub(crate) fn answered_by_person(mut self) -> Self {
        self.names = Some(Names::Said);
        self
    }

    /// Marks it as opening the address in this argument. An address that no person and no search has named requires a
    /// person's approval, since an address can leak what the model knows.
    #[must_use]
    pub fn opening(mut self, argument: &'static str) -> Self {
        self.opens = Some(argument);
        self
    }

    pub(crate) fn names_addresses(&self) -> Option<Names> {
        self.names
    }

    /// The address that a call with these arguments opens.
    pub(crate) fn opens<'a>(&self, arguments: &'a Value) -> Option<&'a str> {
        arguments.get(self.opens?)?.as_str()
    }

    /// The specification sent to the model.
    pub(crate) fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// The tool's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// The description for the model.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.spec.description
    }

    /// The schema of its arguments.
    pub(crate) fn parameters(&self) -> &Value {
        &self.spec.parameters
    }

    /// The properties that the loop needs.
    #[must_use]
    pub fn kind(&self) -> ToolKind {
        self.kind
    }

    /// Checks whether the arguments match the schema.
    ///
    /// # Errors
    /// The first three errors, each with its location, as a sentence for the model or the person.
    pub fn check(&self, arguments: &Value) -> Result<(), String> {
        faults(&self.schema, arguments)
    }

    /// Runs it; the arguments must have been checked.
    pub(crate) fn call(
        &self,
        arguments: Value,
        context: ToolContext,
    ) -> BoxFuture<'static, Result<String, ToolFailure>> {
        (self.function)(arguments, context)
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tool").field(&self.spec.name).finish()
    }
}

/// The tools of an agent, and which of them require a person's approval. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Toolbox {
    tools: Vec<Arc<Tool>>,
    specs: Arc<[ToolSpec]>,
    needs_approval: Vec<String>,
    /// Names of the tools that the caller runs.
    client: Vec<String>,
}

impl Toolbox {
    /// A toolbox with these tools, in the order in which the model sees them.
    #[must_use]
    pub fn new(tools: Vec<Arc<Tool>>) -> Self {
        let specs = tools.iter().map(|tool| tool.spec.clone()).collect();
        Self {
            tools,
            specs,
            needs_approval: Vec::new(),
            client: Vec::new(),
        }
    }

    /// Removes the tools with these names.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Self {
        let is_kept = |name: &str| !names.contains(&name);
        Self {
            tools: self
                .tools
                .iter()
                .filter(|tool| is_kept(tool.name()))
                .cloned()
                .collect(),
            specs: self
                .specs
                .iter()
                .filter(|spec| is_kept(&spec.name))
                .cloned()
                .collect(),
            needs_approval: self.needs_approval.clone(),
            client: self
                .client
                .iter()
                .filter(|name| is_kept(name))
                .cloned()
                .collect(),
        }
    }

    /// Restricts it to the tools of this choice.
    #[must_use]
    pub fn chosen(&self, choice: &ToolChoice) -> Self {
        let kept = self
            .tools
            .iter()
            .filter(|tool| choice.allows(tool.name()))
            .cloned()
            .collect();
        Self {
            needs_approval: self.needs_approval.clone(),
            ..Self::new(kept)
        }
    }

    /// Replaces the tool of the same name.
    #[must_use]
    pub(crate) fn with_replaced(&self, new: Tool) -> Self {
        let new = Arc::new(new);
        let replace = |tool: &Arc<Tool>| {
            Arc::clone(if tool.name() == new.name() {
                &new
            } else {
                tool
            })
        };
        let tools = self.tools.iter().map(replace).collect();
        Self {
            needs_approval: self.needs_approval.clone(),
            ..Self::new(tools)
        }
    }

    /// Adds these tools, except those whose names are taken.
    #[must_use]
    pub fn with_tools(&self, more: &[Arc<Tool>]) -> Self {
        let mut tools = self.tools.clone();
        for tool in more {
            if self.get(tool.name()).is_none() {
                tools.push(Arc::clone(tool));
            }
        }
        Self {
            needs_approval: self.needs_approval.clone(),
            ..Self::new(tools)
        }
    }

    /// Makes the named tool require a person's approval before it runs.
    #[must_use]
    pub fn with_approval(mut self, name: &str) -> Self {
        self.needs_approval.push(name.to_owned());
        self
    }

    /// Adds the tools that the caller of the run supplies and runs itself; they replace ours of the same name.
    #[must_use]
    pub fn with_client_tools(&self, specs: &[ToolSpec]) -> Self {
        let client: Vec<String> = specs.iter().map(|spec| spec.name.clone()).collect();
        let hidden: Vec<&str> = client.iter().map(String::as_str).collect();
        let mut tools = self.without(&hidden);
        tools.specs = tools.specs.iter().chain(specs).cloned().collect();
        Self { client, ..tools }
    }

    /// Adds `search`, and offers `specs` to the model.
    pub(crate) fn offering(&self, specs: Vec<ToolSpec>, search: Arc<Tool>) -> Self {
        let mut offering = self.clone();
        offering.specs = specs.into();
        offering.tools.push(search);
        offering
    }

    /// The specifications sent to the model, shared.
    pub(crate) fn shared_specs(&self) -> Arc<[ToolSpec]> {
        Arc::clone(&self.specs)
    }

    /// Whether the caller runs this tool.
    #[must_use]
    pub fn is_client(&self, name: &str) -> bool {
        self.client.iter().any(|client| client == name)
    }

    /// The tool of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    /// Whether a call of this tool requires a person's approval.
    #[must_use]
    pub fn needs_approval(&self, name: &str) -> bool {
        self.needs_approval.iter().any(|listed| listed == name)
    }

    /// The specification sent to the model.
    #[must_use]
    pub fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    /// All names, for the error to a model that made one up.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| tool.name()).collect()
    }
}
