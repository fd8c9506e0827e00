//! The serialized names of events.

use super::EventBody;

impl EventBody {
    /// The event's name in JSON.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::RunStarted { .. } => "run_started",
            Self::StepStarted { .. } => "step_started",
            Self::Status { .. } => "status",
            Self::TextStarted { .. } => "text_started",
            Self::TextDelta { .. } => "text_delta",
            Self::TextFinished { .. } => "text_finished",
            Self::ReasoningStarted { .. } => "reasoning_started",
            Self::ReasoningDelta { .. } => "reasoning_delta",
            Self::ReasoningFinished { .. } => "reasoning_finished",
            Self::ProviderData(_) => "provider_data",
            Self::ToolRequested { .. } => "tool_requested",
            Self::ToolArgumentsDelta { .. } => "tool_arguments_delta",
            Self::ToolStarted { .. } => "tool_started",
            Self::ToolProgress { .. } => "tool_progress",
            Self::ToolOutput { .. } => "tool_output",
            Self::ToolFinished { .. } => "tool_finished",
            Self::ToolHandedOver { .. } => "tool_handed_over",
            Self::ApprovalAsked { .. } => "approval_asked",
            Self::ApprovalAnswered { .. } => "approval_answered",
            Self::QuestionAsked { .. } => "question_asked",
            Self::QuestionAnswered { .. } => "question_answered",
            Self::PlanChanged { .. } => "plan_changed",
            Self::FileChanged { .. } => "file_changed",
            Self::MemoryUpdateStarted { .. } => "memory_update_started",
            Self::MemoryUpdateCompleted { .. } => "memory_update_completed",
            Self::HookStarted(_) => "hook_started",
            Self::HookFinished(_) => "hook_finished",
            Self::SourcesFound { .. } => "sources_found",
            Self::AgentStarted { .. } => "agent_started",
            Self::AgentFinished { .. } => "agent_finished",
            Self::ModelRequested { .. } => "model_requested",
            Self::ModelCalled { .. } => "model_called",
            Self::Notice { .. } => "notice",
            Self::ContextCompacted { .. } => "context_compacted",
            Self::InputReceived(_) => "input_received",
            Self::InputApplied { .. } => "input_applied",
            Self::InputRemoved { .. } => "input_removed",
            Self::RunResumed { .. } => "run_resumed",
            Self::RunForked { .. } => "run_forked",
            Self::RunFinished { .. } => "run_finished",
        }
    }
}
