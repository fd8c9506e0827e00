/** Request and response types of the HTTP API: the generated types, under the names this app uses. */
import type { ScheduleContent as ScheduleInput, ChatRow, MemoryContent as MemoryInput } from "./schema.ts";

export type { Part, RunSummary, ToolFile } from "./events.ts";
export type {
  Account,
  AllowedCall,
  ApiKey,
  BrowserSession,
  Chat,
  ChatFile,
  ChatFolder,
  ChatMessage,
  ChatOwner,
  ChatRow,
  ChatTag,
  ChatsFound,
  DiffLine,
  Fact,
  FileChange,
  FileDiff,
  FileVersion,
  FoundMessage as FoundHit,
  FoundPart,
  FoundTitle,
  InboxItem,
  Invitation,
  InvitationList,
  InvitationWithLink,
  KeyScope,
  MailOutcome,
  McpServer,
  McpServerChange,
  McpServerTest,
  McpSignIn,
  McpSignInKind,
  McpTool,
  WebSearchTest,
  WebSearch,
  SearchProviderChange,
  SearchProvider,
  SearchKind,
  NewMcpServer,
  Memory,
  MemoryUse,
  NewApiKey as NewKey,
  CreatedPushSubscription,
  NewChat,
  NewInvitation,
  NewPushSubscription,
  NewRunInput,
  Programs,
  PushSubscriptions,
  QueuedInputs,
  RunInput,
  Schedule,
  ScheduleTurn,
  SignUpMode,
  UsageReport as Usage,
  UsageRow,
  UsageSum,
  User,
  Webhook,
  Workspace as WorkspaceChoice,
} from "./schema.ts";
export * from "./model-types.ts";

export type ChatActivity = ChatRow["state"];
/** The app always sends every field. */
export type MemoryContent = Required<MemoryInput>;
/** The app always sends every field. */
export type ScheduleContent = Required<ScheduleInput>;
export type UsageBy = "day" | "user" | "model" | "key" | "person";
