//! The domain model: ids, messages, run events and the invariants of the log. No I/O, no async.

pub mod agent_path;
pub mod citation_marks;
pub mod clock;
pub mod event;
pub mod form;
pub mod id;
pub mod laws;
pub mod listed_model;
pub mod localized_text;
pub mod message;
pub mod open_items;
pub mod parameters;
pub mod person;
pub mod problem;
pub mod provenance;
pub mod reply;
pub mod summary;
pub mod trace;
pub mod usage;

pub use agent_path::AgentPath;
pub use clock::Clock;
pub use event::{EventBody, Outcome, RunEvent};
pub use form::{Form, FormFault};
pub use id::{
    AllowedCallId, ApiKeyId, AuditEntryId, ChatId, CollectionId, ConnectionId, ConnectionKeyId,
    CrawlId, DocumentId, EmbeddingSpaceId, EntityId, FactId, FolderId, GroupId, InvitationId,
    MemoryId, MessageId, PageId, PasskeyId, PipelineCallId, PushSubscriptionId, RequestId, RunId,
    ScheduleId, SessionId, SourceId, SyncId, UserId, WebhookId,
};
pub use listed_model::{Capabilities, ListedModel};
pub use localized_text::{CodedMessage, LocalizedText, MessageCode};
pub use message::{FileRef, Message, Part, Role, ToolCall};
pub use open_items::{MainStep, OpenItems};
pub use parameters::{LeftOut, ModelParameters, Parameter, ReasoningEffort};
pub use person::Person;
pub use problem::{Problem, ProblemCode};
pub use provenance::{Block, Provenance, StoredBlock};
pub use reply::Reply;
pub use summary::RunSummary;
pub use trace::{CallTrace, Origin, RunTrace, TraceParent};
pub use usage::{TokenCount, Usage};
