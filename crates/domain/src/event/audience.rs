//! The audience of each event.

use super::EventBody;

/// The audience of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Visible to the person.
    User,
    /// Diagnostic; shown in the debug view.
    Debug,
}

impl EventBody {
    /// The audience of this event.
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
