//! Whom each event is for.

use super::EventBody;

/// Whom an event is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Worth showing to the person who asked.
    User,
    /// Bookkeeping; shown in the debug view.
    Debug,
}

impl EventBody {
    /// Whom it is for.
    #[must_use]
    pub fn audience(&self) -> Audience {
        match self {
            Self::StepStarted { .. }
            | Self::ProviderData(_)
            | Self::ModelRequested { .. }
            | Self::ModelCalled { .. } => Audience::Debug,
            Self::RunStarted { .. }
            | Self::Status { .. }
            | Self::TextStarted { .. }
            | Self::TextDelta { .. }
            | Self::TextFinished { .. }
            | Self::ReasoningStarted { .. }
            | Self::ReasoningDelta { .. }
            | Self::ReasoningFinished { .. }
            | Self::ToolRequested { .. }
            | Self::ToolArgumentsDelta { .. }
            | Self::ToolStarted { .. }
            | Self::ToolProgress { .. }
            | Self::ToolOutput { .. }
            | Self::ToolFinished { .. }
            | Self::ToolHandedOver { .. }
            | Self::ApprovalAsked { .. }
            | Self::ApprovalAnswered { .. }
            | Self::QuestionAsked { .. }
            | Self::QuestionAnswered { .. }
            | Self::PlanChanged { .. }
            | Self::FileChanged { .. }
            | Self::MemoryUpdateStarted { .. }
            | Self::MemoryUpdateCompleted { .. }
            | Self::HookStarted(_)
            | Self::HookFinished(_)
            | Self::SourcesFound { .. }
            | Self::AgentStarted { .. }
            | Self::AgentFinished { .. }
            | Self::ContextCompacted { .. }
            | Self::Notice { .. }
            | Self::RunResumed {}
            | Self::RunForked { .. }
            | Self::RunFinished { .. } => Audience::User,
        }
    }
}
