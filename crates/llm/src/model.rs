//! A chat model as the agent sees it: something that is asked and then pulled for events.

use std::sync::Arc;

use crate::{
    ChatRequest, HttpClient, ModelError, ModelEvent, OpenAiSettings, ScriptedModel, ToolLoss,
    ToolSpec,
    openai::{OpenAiCall, OpenAiModel},
    script::ScriptedCall,
};

/// A model that can be called, wherever it lives. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ChatModel(Arc<Kind>);

#[derive(Debug)]
enum Kind {
    OpenAi(OpenAiModel),
    Scripted(ScriptedModel),
}

impl ChatModel {
    /// A model behind an OpenAI-compatible server.
    #[must_use]
    pub fn openai(settings: OpenAiSettings, http: &HttpClient) -> Self {
        Self(Arc::new(Kind::OpenAi(OpenAiModel::new(settings, http))))
    }

    /// A model that plays a script.
    #[must_use]
    pub fn scripted(model: ScriptedModel) -> Self {
        Self(Arc::new(Kind::Scripted(model)))
    }

    /// The model's name, as the server knows it.
    #[must_use]
    pub fn name(&self) -> &str {
        match &*self.0 {
            Kind::OpenAi(model) => model.name(),
            Kind::Scripted(model) => model.name(),
        }
    }

    /// Who can take back what it gives as [`ModelEvent::ProviderData`].
    #[must_use]
    pub fn provider(&self) -> &str {
        match &*self.0 {
            Kind::OpenAi(model) => model.provider(),
            Kind::Scripted(_) => "scripted",
        }
    }

    /// Whether its servers are left alone at the moment, so that another model is better asked first.
    #[must_use]
    pub fn is_resting(&self) -> bool {
        match &*self.0 {
            Kind::OpenAi(model) => model.is_resting(),
            Kind::Scripted(_) => false,
        }
    }

    /// The same model, asked to continue a text as it stands and not to answer it: that of a request's last message. Nothing
    /// where it has no server; one that cannot do it refuses each call.
    #[must_use]
    pub fn continuing(&self) -> Option<Self> {
        match &*self.0 {
            Kind::OpenAi(model) => Some(Self(Arc::new(Kind::OpenAi(model.continuing())))),
            Kind::Scripted(_) => None,
        }
    }

    /// What the model is not told of a tool that is offered by the protocol.
    #[must_use]
    pub fn loss(&self, tool: &ToolSpec) -> Option<ToolLoss> {
        match &*self.0 {
            Kind::OpenAi(model) => model.loss(tool),
            Kind::Scripted(_) => None,
        }
    }

    /// Most tools that one request may offer; `None` if there is no known limit.
    #[must_use]
    pub fn max_tools(&self) -> Option<usize> {
        match &*self.0 {
            Kind::OpenAi(model) => model.max_tools(),
            Kind::Scripted(_) => None,
        }
    }

    /// Begins a call. Nothing is sent before the first [`ModelCall::next`].
    #[must_use]
    pub fn call(&self, request: &ChatRequest<'_>) -> ModelCall {
        let source = match &*self.0 {
            Kind::OpenAi(model) => Source::OpenAi(Box::new(model.call(request))),
            Kind::Scripted(model) => Source::Scripted(model.call(request)),
        };
        ModelCall {
            source,
            over: false,
        }
    }
}

/// One call that is under way. It moves only while it is pulled; dropping it closes the connection.
#[derive(Debug)]
pub struct ModelCall {
    source: Source,
    over: bool,
}

#[derive(Debug)]
enum Source {
    OpenAi(Box<OpenAiCall>),
    Scripted(ScriptedCall),
}

impl ModelCall {
    /// The same call, whose server is asked to say what it is doing. Some say so unasked.
    #[must_use]
    pub fn with_status(mut self) -> Self {
        match &mut self.source {
            Source::OpenAi(call) => call.ask_for_status(),
            Source::Scripted(_) => {}
        }
        self
    }

    /// Waits for the next event. After [`ModelEvent::Finished`] or an error there is nothing more.
    ///
    /// Safe to abandon and call again: an event is never lost.
    pub async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        if self.over {
            return None;
        }
        let next = match &mut self.source {
            Source::OpenAi(call) => call.next().await,
            Source::Scripted(call) => call.next().await,
        };
        self.over = matches!(next, Ok(ModelEvent::Finished { .. }) | Err(_));
        Some(next)
    }
}
