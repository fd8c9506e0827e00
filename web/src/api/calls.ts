/** Typed functions for every call of the HTTP API; see docs/reference/api.md. */
import type { EventBody, MessageCode } from "./events.ts";
import type { AuditEntry } from "./audit.ts";
import type { Configuration } from "./configuration.ts";
import { call, send } from "./http.ts";
import type { Group, GroupChange, GroupMember, Permission, Permissions } from "./groups.ts";
import type { ImportReport } from "./imports.ts";
import type { AllLimits, Limits, LimitsOf, OwnLimit } from "./limits.ts";
import type { Me } from "./me.ts";
import { pageMetadata } from "./metadata.ts";
import type { ChatReader, Sharing } from "./sharing.ts";
import type { NewSecondFactor, SecondFactor } from "./second-factor.ts";
import type {
  Account,
  AgentDefinition,
  AgentList,
  AllowedCall,
  ApiKey,
  BrowserSession,
  Chat,
  ChatFile,
  ChatFolder,
  ChatMessage,
  ChatRow,
  ChatTag,
  ChatsFound,
  Connection,
  ConnectionChange,
  ConnectionTried,
  CreatedPushSubscription,
  DefinedAgent,
  Fact,
  FileChange,
  FileDiff,
  FileVersion,
  FoundServer,
  InboxItem,
  InvitationList,
  InvitationWithLink,
  McpServer,
  McpServerChange,
  McpServerTest,
  McpSignIn,
  Memory,
  MemoryContent,
  MemoryUse,
  Model,
  ModelList,
  ModelParameters,
  ModelSettings,
  NewChat,
  NewInvitation,
  NewKey,
  NewMcpServer,
  NewPushSubscription,
  NewRunInput,
  Part,
  Programs,
  ProviderKind,
  ProviderSettings,
  PushSubscriptions,
  RunInput,
  Schedule,
  ScheduleContent,
  SearchProviderChange,
  SignUpMode,
  Usage,
  User,
  WebSearch,
  WebSearchTest,
  Webhook,
  WorkspaceChoice,
} from "./types.ts";

const v1 = "/api/v1";
const id = encodeURIComponent;

export type ToolFinished = Extract<EventBody, { type: "tool_finished" }>;

export const getMe = () => call<Me>("GET", `${v1}/me`);
export const setUp = (body: { email: string; name: string; password: string; token?: string }) =>
  call<{ user: User }>("POST", `${v1}/setup`, body);
export const logIn = (email: string, password: string) =>
  call<{ user: User } | { code_needed: true }>("POST", `${v1}/login`, { email, password });
export const requestPasswordReset = (email: string, language: string) =>
  call<undefined>("POST", `${v1}/password-reset/request`, { email, language });
export const sendCode = (code: string) => call<{ user: User }>("POST", `${v1}/login/code`, { code });
export const logOut = () => call<undefined>("POST", `${v1}/logout`);

export const listUsers = () => call<{ users: Account[] }>("GET", `${v1}/users`);
export const changeName = (name: string) => call<User>("PATCH", `${v1}/me`, { name });
export const changePassword = (current: string, fresh: string) =>
  call<undefined>("PUT", `${v1}/me/password`, { current, new: fresh });
export const getSecondFactor = () => call<SecondFactor>("GET", `${v1}/me/second-factor`);
export const beginSecondFactor = (current: string) =>
  call<NewSecondFactor>("POST", `${v1}/me/second-factor`, { current });
export const confirmSecondFactor = (code: string) =>
  call<{ recovery_codes: string[] }>("POST", `${v1}/me/second-factor/confirm`, { code });
export const renewRecoveryCodes = (current: string) =>
  call<{ recovery_codes: string[] }>("POST", `${v1}/me/second-factor/recovery-codes`, { current });
export const endSecondFactor = (current: string) =>
  call<undefined>("DELETE", `${v1}/me/second-factor`, { current });
export const resetSecondFactor = (user: string) =>
  call<undefined>("DELETE", `${v1}/users/${id(user)}/second-factor`);
export const closeAccount = (password: string) => call<undefined>("DELETE", `${v1}/me`, { password });
export const exportPath = `${v1}/me/export`;
/** Imports an export file; may take minutes. */
export const importFile = async (file: Blob) =>
  (await (await send(`${v1}/me/import`, { method: "POST", body: file })).json()) as ImportReport;
export const makeReset = (user: string) =>
  call<{ path: string; expires_at: number }>("POST", `${v1}/users/${id(user)}/password-reset`);
export const checkReset = (token: string) =>
  call<{ email: string }>("POST", `${v1}/password-reset/check`, { token });
export const resetPassword = (token: string, password: string) =>
  call<undefined>("POST", `${v1}/password-reset`, { token, password });
export const signUp = (person: { email: string; name: string; password: string; token?: string }) =>
  call<undefined>("POST", `${v1}/sign-up`, person);
export const checkInvitation = (token: string) =>
  call<{ email: string | null }>("POST", `${v1}/sign-up/check`, { token });
export const getSignUp = () => call<{ mode: SignUpMode }>("GET", `${v1}/settings/sign-up`);
export const putSignUp = (mode: SignUpMode) => call<undefined>("PUT", `${v1}/settings/sign-up`, { mode });
export const listInvitations = () => call<InvitationList>("GET", `${v1}/invitations`);
export const createInvitation = (body: NewInvitation) =>
  call<InvitationWithLink>("POST", `${v1}/invitations`, body);
export const renewInvitation = (invitation: string) =>
  call<InvitationWithLink>("POST", `${v1}/invitations/${id(invitation)}/link`);
export const deleteInvitation = (invitation: string) =>
  call<undefined>("DELETE", `${v1}/invitations/${id(invitation)}`);
export const listSessions = () => call<{ sessions: BrowserSession[] }>("GET", `${v1}/me/sessions`);
export const endSession = (session: string) => call<undefined>("DELETE", `${v1}/me/sessions/${id(session)}`);
/** Ends all sessions, or all except the current one. */
export const endSessions = ({ all }: { all: boolean }) =>
  call<undefined>("DELETE", `${v1}/me/sessions${all ? "?all=true" : ""}`);
export const createUser = (person: Omit<User, "id"> & { password: string }) =>
  call<Account>("POST", `${v1}/users`, person);
export const changeUser = (user: string, change: { role?: User["role"]; suspended?: boolean }) =>
  call<Account>("PATCH", `${v1}/users/${id(user)}`, change);
export const deleteUser = (user: string) => call<undefined>("DELETE", `${v1}/users/${id(user)}`);

export const listKeys = () => call<{ keys: ApiKey[] }>("GET", `${v1}/keys`);
export const createKey = (key: NewKey) => call<{ key: ApiKey; secret: string }>("POST", `${v1}/keys`, key);
export const rotateKey = (key: string, grace_s: number) =>
  call<{ key: ApiKey; secret: string }>("POST", `${v1}/keys/${id(key)}/rotate`, { grace_s });
export const deleteKey = (key: string) => call<undefined>("DELETE", `${v1}/keys/${id(key)}`);

export const usagePath = (query: Record<string, string>) =>
  `${v1}/usage?${new URLSearchParams(query).toString()}`;
export const getUsage = (query: Record<string, string>) => call<Usage>("GET", usagePath(query));
export const getConfiguration = () => call<Configuration>("GET", `${v1}/settings`);
export const auditPath = (query: Record<string, string>) =>
  `${v1}/audit?${new URLSearchParams(query).toString()}`;
export const readAudit = (query: Record<string, string>) =>
  call<{ entries: AuditEntry[]; more: boolean }>("GET", auditPath(query));
export const listGroups = () => call<{ groups: Group[] }>("GET", `${v1}/groups`);
export const createGroup = (group: GroupChange) => call<Group>("POST", `${v1}/groups`, group);
export const changeGroup = (group: string, change: GroupChange) =>
  call<Group>("PATCH", `${v1}/groups/${id(group)}`, change);
export const deleteGroup = (group: string) => call<undefined>("DELETE", `${v1}/groups/${id(group)}`);
export const listGroupMembers = (group: string) =>
  call<{ members: GroupMember[] }>("GET", `${v1}/groups/${id(group)}/members`);
export const addGroupMembers = (group: string, users: string[]) =>
  call<undefined>("POST", `${v1}/groups/${id(group)}/members`, { users });
export const removeGroupMember = (group: string, user: string) =>
  call<undefined>("DELETE", `${v1}/groups/${id(group)}/members/${id(user)}`);
export const getPermissions = () => call<Permissions>("GET", `${v1}/permissions`);
export const putPermission = (permission: Permission) =>
  call<undefined>("PUT", `${v1}/permissions`, permission);
export const listLimits = () => call<AllLimits>("GET", `${v1}/limits`);
export const putLimits = (of: LimitsOf, limits: Limits) =>
  call<undefined>("PUT", `${v1}/limits`, { of, limits });
export const getOwnLimits = () => call<{ limits: OwnLimit[] }>("GET", `${v1}/limits/own`);

export const listModels = () => call<ModelList>("GET", `${v1}/models`);
export const changeModel = (model: string, change: Partial<ModelSettings>) =>
  call<Model>("PUT", `${v1}/models/${id(model)}`, change);
export const setDefaultModel = (model: string) =>
  call<undefined>("PUT", `${v1}/settings/default-model`, { model });

export interface ConnectionRequest {
  kind?: ProviderKind;
  base_url?: string;
  settings?: ProviderSettings;
  api_key?: string;
}
export interface NewConnection extends ConnectionRequest {
  name: string;
}
export const getPrograms = () => call<Programs>("GET", `${v1}/programs`);
export const listAgents = () => call<AgentList>("GET", `${v1}/agents`);
export const createAgent = (agent: AgentDefinition) => call<DefinedAgent>("POST", `${v1}/agents`, agent);
export const replaceAgent = (agent: AgentDefinition) =>
  call<DefinedAgent>("PUT", `${v1}/agents/${id(agent.name)}`, agent);
export const deleteAgent = (name: string) => call<undefined>("DELETE", `${v1}/agents/${id(name)}`);
export const listMcpServers = () => call<{ servers: McpServer[] }>("GET", `${v1}/mcp-servers`);
export const addMcpServer = (server: NewMcpServer) => call<McpServer>("POST", `${v1}/mcp-servers`, server);
export const changeMcpServer = (name: string, change: McpServerChange) =>
  call<McpServer>("PATCH", `${v1}/mcp-servers/${id(name)}`, change);
export const deleteMcpServer = (name: string) => call<undefined>("DELETE", `${v1}/mcp-servers/${id(name)}`);
/** Tests a new server, or the one of this name with the change. */
export const testMcpServer = (name: string | null, change: McpServerChange) =>
  call<McpServerTest>("POST", `${v1}/mcp-servers/${name === null ? "" : `${id(name)}/`}test`, change);
export const getWebSearch = () => call<WebSearch>("GET", `${v1}/web-search`);
export const putWebSearch = (providers: SearchProviderChange[]) =>
  call<WebSearch>("PUT", `${v1}/web-search`, { providers });
export const testWebSearch = (provider: SearchProviderChange) =>
  call<WebSearchTest>("POST", `${v1}/web-search/test`, provider);
export const listMcpSignIns = () => call<{ servers: McpSignIn[] }>("GET", `${v1}/mcp-sign-ins`);
export const beginMcpSignIn = (name: string) =>
  call<{ url: string }>("POST", `${v1}/mcp-sign-ins/${id(name)}`, {});
export const putMcpToken = (name: string, token: string) =>
  call<undefined>("PUT", `${v1}/mcp-sign-ins/${id(name)}`, { token });
export const signOutOfMcp = (name: string) => call<undefined>("DELETE", `${v1}/mcp-sign-ins/${id(name)}`);
export const listConnections = () => call<{ connections: Connection[] }>("GET", `${v1}/connections`);
export const addConnection = (connection: NewConnection) =>
  call<Connection>("POST", `${v1}/connections`, connection);
export const testConnection = (body: ConnectionRequest) =>
  call<{ models: string[] }>("POST", `${v1}/connections/test`, body);
export const discoverServers = () => call<{ found: FoundServer[] }>("GET", `${v1}/connections/discover`);
export const changeConnection = (connection: string, change: ConnectionChange) =>
  call<Connection>("PATCH", `${v1}/connections/${id(connection)}`, change);
export const tryConnection = (connection: string, model?: string) =>
  call<ConnectionTried>("POST", `${v1}/connections/${id(connection)}/test`, { model });
export const addConnectionKey = (connection: string, api_key: string) =>
  call<Connection>("POST", `${v1}/connections/${id(connection)}/keys`, { api_key });
export const weighConnectionKey = (connection: string, key: string, weight: number) =>
  call<Connection>("PATCH", `${v1}/connections/${id(connection)}/keys/${id(key)}`, { weight });
export const removeConnectionKey = (connection: string, key: string) =>
  call<Connection>("DELETE", `${v1}/connections/${id(connection)}/keys/${id(key)}`);
export const refreshConnection = (connection: string) =>
  call<Connection>("POST", `${v1}/connections/${id(connection)}/refresh`);
export const deleteConnection = (connection: string) =>
  call<undefined>("DELETE", `${v1}/connections/${id(connection)}`);

export function listChats(
  options: {
    before?: number;
    limit?: number;
    archived?: boolean;
    pinned?: boolean;
    folder?: string;
    tag?: string;
  } = {},
  signal?: AbortSignal,
) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(options)) query.set(name, String(value));
  return call<{ chats: ChatRow[]; more: boolean }>("GET", `${v1}/chats?${query}`, undefined, signal);
}
/** Change to the organization of chats; omitted fields stay unchanged. */
export interface OrderChange {
  pinned?: boolean;
  archived?: boolean;
  folder?: string | null;
}
export const orderChats = (chats: string[], change: OrderChange) =>
  call<{ changed: number }>("POST", `${v1}/chats/order`, { chats, ...change });
export const deleteChats = (chats: string[]) =>
  call<{ deleted: number }>("POST", `${v1}/chats/delete`, { chats });
export const listFolders = () => call<{ folders: ChatFolder[] }>("GET", `${v1}/folders`);
export const createFolder = (name: string) => call<ChatFolder>("POST", `${v1}/folders`, { name });
export const renameFolder = (folder: string, name: string) =>
  call<undefined>("PATCH", `${v1}/folders/${id(folder)}`, { name });
export const deleteFolder = (folder: string) => call<undefined>("DELETE", `${v1}/folders/${id(folder)}`);
export const listTags = () => call<{ tags: ChatTag[] }>("GET", `${v1}/tags`);
export const setTags = (chat: string, tags: string[]) =>
  call<ChatRow>("PUT", `${v1}/chats/${id(chat)}/tags`, { tags });
export function searchChats(
  options: { query: string; before?: string; archived?: boolean },
  signal?: AbortSignal,
) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(options)) query.set(name, String(value));
  return call<ChatsFound>("GET", `${v1}/chats/search?${query}`, undefined, signal);
}
/** URL of one chat's export, in the format the import accepts. */
export const chatExportPath = (chat: string) => `${v1}/chats/${id(chat)}/export`;
export const listWorkspaces = () => call<{ workspaces: WorkspaceChoice[] }>("GET", `${v1}/workspaces`);
export const createChat = (start: NewChat) => call<Chat>("POST", `${v1}/chats`, start);
export const getChat = (chat: string, signal?: AbortSignal) =>
  call<Chat>("GET", `${v1}/chats/${id(chat)}`, undefined, signal);
export const changeChat = (
  chat: string,
  change: { title?: string; current?: string; parameters?: Partial<ModelParameters> },
) => call<ChatRow>("PATCH", `${v1}/chats/${id(chat)}`, change);
/** The key with which this browser subscribes to push notifications. */
export const pushKey = () => call<PushSubscriptions>("GET", `${v1}/push-subscriptions`);
export const addPushSubscription = (subscription: NewPushSubscription) =>
  call<CreatedPushSubscription>("POST", `${v1}/push-subscriptions`, subscription);
export const removePushSubscription = (subscription: string) =>
  call<undefined>("DELETE", `${v1}/push-subscriptions/${id(subscription)}`);
/** Sets when a temporary chat is deleted, in seconds; `null` keeps it. The request outlives the page. */
export async function setChatExpiry(chat: string, seconds: number | null): Promise<ChatRow> {
  const response = await send(`${v1}/chats/${id(chat)}`, {
    method: "PATCH",
    keepalive: true,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ expires_in_seconds: seconds }),
  });
  return (await response.json()) as ChatRow;
}
export const getSharing = (chat: string) => call<Sharing>("GET", `${v1}/chats/${id(chat)}/sharing`);
/** Sets whether every signed-in user who has the address can read the chat. */
export const openToAll = (chat: string, open: boolean) =>
  call<undefined>("PUT", `${v1}/chats/${id(chat)}/sharing`, { open });
/** Shares a chat with an account, or changes what that may do. */
export const addReader = (chat: string, email: string, mayReply: boolean) =>
  call<ChatReader>("POST", `${v1}/chats/${id(chat)}/readers`, { email, may_reply: mayReply });
export const removeReader = (chat: string, reader: string) =>
  call<undefined>("DELETE", `${v1}/chats/${id(chat)}/readers/${id(reader)}`);
export const listShared = () => call<{ chats: ChatRow[] }>("GET", `${v1}/shared-chats`);
/** Lists another user's chats for an administrator; the access is audited. */
export const listChatsOf = (user: string, before?: number) =>
  call<{ chats: ChatRow[]; more: boolean }>(
    "GET",
    `${v1}/users/${id(user)}/chats${before === undefined ? "" : `?before=${before}`}`,
  );
export const readChat = (chat: string) => call<undefined>("POST", `${v1}/chats/${id(chat)}/read`);
export const sendMessage = (
  chat: string,
  body: {
    parent: string | null;
    content: string | Part[];
    model?: string;
    mode?: "web_search" | "research" | "deep";
    review_plan?: boolean;
  },
) =>
  call<{ user: ChatMessage; assistant: ChatMessage; run: string }>(
    "POST",
    `${v1}/chats/${id(chat)}/messages`,
    { ...body, metadata: pageMetadata() },
  );
export const regenerate = (chat: string, message: string, model?: string) =>
  call<{ assistant: ChatMessage; run: string }>(
    "POST",
    `${v1}/chats/${id(chat)}/messages/${id(message)}/regenerate`,
    { ...(model ? { model } : {}), metadata: pageMetadata() },
  );
/** Requests alternatives to an answer: `samples` from each model. */
export const askOthers = (chat: string, message: string, models: string[], samples: number) =>
  call<{ answers: { assistant: ChatMessage; run: string }[] }>(
    "POST",
    `${v1}/chats/${id(chat)}/messages/${id(message)}/others`,
    { models, samples, metadata: pageMetadata() },
  );
/** Merges the alternatives into one more answer. */
export const mergeAnswers = (chat: string, message: string) =>
  call<{ assistant: ChatMessage; run: string }>(
    "POST",
    `${v1}/chats/${id(chat)}/messages/${id(message)}/merge`,
    {},
  );
export const listFiles = (chat: string) =>
  call<{ files: ChatFile[]; more: boolean; deleted: ChatFile[] }>("GET", `${v1}/chats/${id(chat)}/files`);
export const filePath = (chat: string, path: string, version?: number) =>
  `${v1}/chats/${id(chat)}/files/content?path=${id(path)}${version ? `&version=${version}` : ""}`;
/** URL of a workspace image, for `<img>`. Other files are sent as a download, so `<img>` shows nothing. */
export const picturePath = (chat: string, path: string, version?: number) =>
  `${filePath(chat, path, version)}&inline=1`;
/** Fetches an external image through the server. */
export const fetchImage = async (url: string) => {
  const headers = { "content-type": "application/json" };
  const response = await send(`${v1}/images`, { method: "POST", headers, body: JSON.stringify({ url }) });
  return response.blob();
};
export const zipPath = (chat: string) => `${v1}/chats/${id(chat)}/files/zip`;
export const readFile = async (chat: string, path: string, version?: number) =>
  (await send(filePath(chat, path, version))).arrayBuffer();
/** Precondition for the version that was loaded; 0 requires that the file does not exist. */
const ifMatch = (version: number) => ({ "if-match": `"${version}"` });
const ifSeen = (version: number) => (version > 0 ? ifMatch(version) : { "if-none-match": "*" });
/** Uploads a file if its version is still `seen` (0: it must not exist yet); otherwise the server rejects it. */
export const uploadFile = async (chat: string, path: string, content: Blob, seen: number | null) => {
  const headers = seen === null ? {} : ifSeen(seen);
  return (await (
    await send(filePath(chat, path), { method: "PUT", headers, body: content })
  ).json()) as FileChange;
};
/** Deletes the file if its version is still `seen`. */
export const deleteFile = (chat: string, path: string, seen: number) =>
  send(filePath(chat, path), { method: "DELETE", headers: ifMatch(seen) });
export const listVersions = (chat: string, path: string) =>
  call<{ versions: FileVersion[] }>("GET", `${v1}/chats/${id(chat)}/files/versions?path=${id(path)}`);
export const diffVersions = (chat: string, path: string, from: number, to: number) =>
  call<FileDiff>("GET", `${v1}/chats/${id(chat)}/files/diff?path=${id(path)}&from=${from}&to=${to}`);
export const restoreFile = (
  chat: string,
  body: { path: string; version: number; expected_version?: number },
) => call<FileChange>("POST", `${v1}/chats/${id(chat)}/files/restore`, body);

export const listInbox = () => call<{ items: InboxItem[] }>("GET", `${v1}/inbox`);
export const listAllowed = () => call<{ allowed: AllowedCall[] }>("GET", `${v1}/allowed-calls`);
export const askAgain = (allowed: string) => call<undefined>("DELETE", `${v1}/allowed-calls/${id(allowed)}`);

export const listSchedules = () => call<{ schedules: Schedule[] }>("GET", `${v1}/schedules`);
export const createSchedule = (content: ScheduleContent) =>
  call<Schedule>("POST", `${v1}/schedules`, content);
export const replaceSchedule = (schedule: string, content: ScheduleContent) =>
  call<Schedule>("PUT", `${v1}/schedules/${id(schedule)}`, content);
export const deleteSchedule = (schedule: string) =>
  call<undefined>("DELETE", `${v1}/schedules/${id(schedule)}`);
export const runSchedule = (schedule: string) =>
  call<{ chat: string; run: string }>("POST", `${v1}/schedules/${id(schedule)}/run`);

export const listWebhooks = () => call<{ webhooks: Webhook[] }>("GET", `${v1}/webhooks`);
export const createWebhook = (url: string) =>
  call<Webhook & { secret: string }>("POST", `${v1}/webhooks`, { url });
export const deleteWebhook = (webhook: string) => call<undefined>("DELETE", `${v1}/webhooks/${id(webhook)}`);
export const testWebhook = (webhook: string) =>
  call<{ problem: string | null; sentence?: MessageCode }>("POST", `${v1}/webhooks/${id(webhook)}/test`);

export const getMemoryUse = () => call<MemoryUse>("GET", `${v1}/memory-use`);
export const putMemoryUse = (use: MemoryUse) => call<MemoryUse>("PUT", `${v1}/memory-use`, use);
export const listMemories = () => call<{ memories: Memory[] }>("GET", `${v1}/memories`);
export const createMemory = (content: MemoryContent) => call<Memory>("POST", `${v1}/memories`, content);
/** Replaces the memory if its version is still the one in `seen`. */
export const changeMemory = async (seen: Memory, content: MemoryContent) =>
  (
    await send(`${v1}/memories/${id(seen.id)}`, {
      method: "PUT",
      headers: { "content-type": "application/json", ...ifMatch(seen.version) },
      body: JSON.stringify(content),
    })
  ).json() as Promise<Memory>;
/** Deletes the memory if its version is still the one in `seen`. */
export const deleteMemory = (seen: Memory) =>
  send(`${v1}/memories/${id(seen.id)}`, { method: "DELETE", headers: ifMatch(seen.version) });
export const listFacts = () => call<{ facts: Fact[] }>("GET", `${v1}/facts`);
export const correctFact = (fact: string, text: string) =>
  call<Fact>("PUT", `${v1}/facts/${id(fact)}`, { text });
export const forgetFact = (fact: string) => call<undefined>("DELETE", `${v1}/facts/${id(fact)}`);
export const forgetAllFacts = () => call<undefined>("DELETE", `${v1}/facts`);

export const activityPath = `${v1}/activity`;
/** The page renders streamed text about 16 times a second; more packets would only wake it up. */
const batchMs = 60;
export const runEventsPath = (run: string, after: number, previewBytes: number) =>
  `/runs/${id(run)}/events?preview=${previewBytes}&batch_ms=${batchMs}&after=${after}`;
/** All events of a finished run; long results are truncated to a preview, as everywhere. */
export const runLogPath = (run: string) => `/runs/${id(run)}/events?preview=2000`;
/** URL of a run's events in the format of another protocol; `after` is the number in the last frame's id. */
export const runFramesPath = (run: string, format: string, after: number) =>
  `/runs/${id(run)}/events?format=${id(format)}&batch_ms=${batchMs}&after=${after}`;
export const getCall = (run: string, toolCall: string) =>
  call<ToolFinished>("GET", `/runs/${id(run)}/calls/${id(toolCall)}`);
/** Creates a new chat that continues from the run's event `after`. */
export const forkRun = (
  run: string,
  body: { after: number; guidance?: string; model?: string; title?: string },
) => call<{ chat: string; message: string; run: string }>("POST", `${v1}/runs/${id(run)}/fork`, body);
export const getRun = (run: string) => call<{ request_id: string | null }>("GET", `/runs/${id(run)}`);
export const cancelRun = (run: string) => call<undefined>("POST", `/runs/${id(run)}/cancel`);

/** Sends a message to a run that is going. The same `id` twice is one message. */
export const sendInput = (run: string, input: NewRunInput) =>
  call<RunInput>("POST", `/runs/${id(run)}/input`, input);
/** Withdraws a message that no agent has read. */
export const removeInput = (run: string, input: string) =>
  call<undefined>("DELETE", `/runs/${id(run)}/input/${id(input)}`);

/** Makes research write its report now from what it has found so far. */
export const finishRun = (run: string) => call<undefined>("POST", `/runs/${id(run)}/finish`);

/** Stops one sub-agent; the rest of the run continues. */
export const stopAgent = (run: string, agent: string) =>
  call<undefined>("POST", `/runs/${id(run)}/agents/${id(agent)}/stop`);
export const answerApproval = (
  run: string,
  approval: string,
  body: {
    decision: "allow" | "deny";
    arguments?: unknown;
    reason?: string;
    remember?: "chat" | "always";
    remember_arguments?: Record<string, string>;
  },
) => call<undefined>("POST", `/runs/${id(run)}/approvals/${id(approval)}`, body);
export const answerQuestion = (
  run: string,
  question: string,
  body: { answer: string } | { values: Record<string, unknown> } | { decline: true },
) => call<undefined>("POST", `/runs/${id(run)}/questions/${id(question)}`, body);
