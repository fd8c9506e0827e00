//! A callable chat model: takes a request and yields events on demand.

use std::sync::Arc;

use crate::{
    ChatRequest, HttpClient, ModelError, ModelEvent, OpenAiSettings, ScriptedModel, ToolLoss,
    ToolSpec,
    openai::{OpenAiCall, OpenAiModel},
    script::ScriptedCall,
};

/// A model that can be called, independent of its server's protocol. Cheap to clone.
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

    /// The provider that can take back data from [`ModelEvent::ProviderData`].
    #[must_use]
    pub fn provider(&self) -> &str {
        match &*self.0 {
            Kind::OpenAi(model) => model.provider(),
            Kind::Scripted(_) => "scripted",
        }
    }

    /// Whether all its servers are unavailable at the moment, so that another model should be tried first.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        match &*self.0 {
            Kind::OpenAi(model) => model.is_unavailable(),
            Kind::Scripted(_) => false,
        }
    }

    /// The same model, asked to continue the text of a request's last message instead of answering it. `None` if it has
    /// no server; a server that does not support this refuses each call.
    #[must_use]
    pub fn continuing(&self) -> Option<Self> {
        match &*self.0 {
            Kind::OpenAi(model) => Some(Self(Arc::new(Kind::OpenAi(model.continuing())))),
            Kind::Scripted(_) => None,
        }
    }

    /// How a natively offered tool is reduced for this model.
    #[must_use]
    pub fn loss(&self, tool: &ToolSpec) -> Option<ToolLoss> {
        match &*self.0 {
            Kind::OpenAi(model) => model.loss(tool),
            Kind::Scripted(_) => None,
        }
    }

    /// Maximum number of tools that one request may offer; `None` if there is no known limit.
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

/// A call in progress. It advances only while it is polled; dropping it closes the connection.
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
    /// Asks the server to report its activity. Some report it unasked.
    #[must_use]
    pub fn with_status(mut self) -> Self {
        match &mut self.source {
            Source::OpenAi(call) => call.request_status(),
            Source::Scripted(_) => {}
        }
        self
    }

    /// Waits for the next event. After [`ModelEvent::Finished`] or an error there are no more.
    /// Cancel-safe: an event is never lost.
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
