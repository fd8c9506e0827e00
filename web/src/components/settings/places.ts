/** Headings and labels of each settings page, for the search. */
import { settingTitles } from "../../i18n/en/setting-titles.ts";
import type { Key } from "../../i18n/index.svelte.ts";
import { session } from "../../state/session.svelte.ts";

/** A heading with the labels below it; without one they are at the top of the page. */
export interface Part {
  heading?: Key;
  labels?: Key[];
  /** Other texts that lead to the heading, such as its options. */
  also?: Key[];
  /** Abbreviations that are the same in every language. */
  words?: string;
  isFor?: () => boolean;
}

const prices = [
  "models.inputPrice",
  "models.outputPrice",
  "models.cachedPrice",
  "models.cacheWritePrice",
  "models.audioInputPrice",
  "models.audioOutputPrice",
] as const;

const documentModels: Key[] = [
  "setting.knowledge.vision_model",
  "setting.knowledge.transcription_model",
  "setting.knowledge.transcription_mb",
  "setting.knowledge.transcription_seconds",
  "setting.knowledge.graph_model",
  "setting.knowledge.rerank_model",
];
const readerSettings: Key[] = [
  "setting.knowledge.reader_url",
  "setting.knowledge.reader_kind",
  "setting.knowledge.reader_key",
  "setting.knowledge.reader_files",
  "setting.knowledge.reader_seconds",
];
const recognitionSettings: Key[] = ["setting.knowledge.ocr", "setting.knowledge.ocr_languages"];
const settings = Object.keys(settingTitles).filter((key): key is Key => key.startsWith("setting."));

/** By the name of the page. */
export const places: Record<string, Part[]> = {
  general: [
    { heading: "menu.theme", also: ["theme.light", "theme.dark", "theme.system"] },
    { heading: "menu.language" },
    { heading: "settings.reading", labels: ["settings.reasoningOpen"] },
    {
      heading: "settings.reading",
      labels: ["settings.completions"],
      isFor: () => session.me?.autocomplete === true,
    },
    { heading: "settings.notices", labels: ["settings.notifications"] },
    { heading: "settings.keyboard", labels: ["settings.singleKeys", "settings.keyboardShow"] },
  ],
  account: [
    { heading: "settings.profile", labels: ["account.name"], also: ["account.email", "profile.role"] },
    { heading: "settings.password", labels: ["password.current", "password.new"] },
    {
      heading: "settings.two-step",
      also: ["twoStep.code", "twoStep.renew", "twoStep.recoveryCode"],
      words: "2FA MFA TOTP OTP",
    },
    { heading: "settings.passkeys", labels: ["passkeys.make"], words: "WebAuthn FIDO" },
    {
      heading: "settings.sessions",
      labels: ["menu.logout", "sessions.endAll", "sessions.endOthers"],
    },
    { heading: "data.end" },
  ],
  personalization: [
    { heading: "memory.allowed", labels: ["memory.use", "memory.learn"] },
    { heading: "memory.texts", labels: ["memory.new"] },
    { heading: "memory.facts", labels: ["facts.forgetAll"] },
  ],
  permissions: [
    { heading: "settings.consent", also: ["consent.takeBackShort"] },
    { heading: "signIns.title", words: "MCP OAuth" },
    { heading: "tools.programs", words: "Python LaTeX", isFor: () => session.may("programs") },
  ],
  schedules: [
    { labels: ["schedules.new"], also: ["schedules.cron"] },
    { heading: "webhooks.title", labels: ["webhooks.url"] },
  ],
  keys: [
    { labels: ["keys.create", "keys.restrict", "keys.scopes", "keys.models", "keys.expires"] },
    { labels: ["keys.frontEnd"], isFor: () => session.isAdmin },
    { heading: "keys.addresses", also: ["keys.openapi", "keys.base.openai"], words: "curl SDK URL" },
  ],
  usage: [{ labels: ["usage.csv"], also: ["usage.left", "usage.cost", "usage.tokens", "usage.requests"] }],
  data: [
    { heading: "data.export", labels: ["data.exportDo"] },
    { heading: "data.import", labels: ["data.choose"], words: "Open WebUI" },
  ],
  models: [
    { heading: "models.default" },
    {
      heading: "models.connections",
      labels: ["connection.keys", "connection.trusted", "connection.together", "connection.weight"],
    },
    {
      heading: "models.addConnection",
      labels: ["connection.provider", "connection.key", "connection.url"],
      words: "OpenAI Anthropic Ollama",
    },
    {
      heading: "models.list",
      labels: [
        "models.toolMode",
        "parameters.title",
        "parameters.takes",
        "models.context",
        ...prices,
        "models.fallbacks",
      ],
    },
  ],
  agents: [
    {
      heading: "agents.own",
      labels: ["agents.new"],
      also: [
        "agents.instructions",
        "agents.tools",
        "agents.subAgents",
        "agents.collections",
        "agents.limits",
        "agents.saveAndTry",
      ],
    },
    { heading: "agents.skills", words: "SKILL.md" },
  ],
  tools: [
    { heading: "tools.programs", words: "Python LaTeX" },
    {
      heading: "tools.servers",
      labels: ["mcp.addNow"],
      also: ["mcp.auth", "mcp.headers", "mcp.approval"],
      words: "MCP OAuth",
    },
    {
      heading: "approvalRules.title",
      labels: ["approvalRules.add"],
      also: ["approvalRules.allow", "approvalRules.ask", "approvalRules.ask_each_time", "approvalRules.deny"],
    },
    { heading: "webSearch.title", labels: ["webSearch.add"], words: "SearXNG Brave Tavily" },
    { heading: "hooks.title" },
  ],
  prompts: [{ labels: ["startPrompts.add", "startPrompts.useBuiltIn"], also: ["startPrompts.text"] }],
  knowledge: [
    {
      heading: "embedding.title",
      labels: ["embedding.choose"],
      also: ["embedding.queryPrefix", "embedding.passagePrefix"],
      words: "embedding RAG",
    },
    { heading: "recognition.title", labels: recognitionSettings, words: "OCR Tesseract scan" },
    { heading: "reader.title", labels: readerSettings, words: "Tika Docling" },
    { heading: "documents.models", labels: documentModels, words: "reranking vision graph audio Whisper" },
  ],
  people: [
    { also: ["people.new", "people.suspend", "reset.make", "invitations.title"] },
    { heading: "signUp.who" },
    {
      heading: "signInProvider.title",
      also: ["signInProvider.issuer", "signInProvider.adminGroups", "signInProvider.allowedGroups"],
      words: "OpenID Connect OIDC SSO Entra Google Keycloak Okta Authentik",
      isFor: () => session.me?.auth === "password",
    },
  ],
  groups: [{ heading: "groups.list", labels: ["groups.new"] }, { heading: "groups.permissions" }],
  limits: [
    { heading: "limits.default", labels: ["limits.minute", "limits.day", "limits.month"] },
    { heading: "limits.users", labels: ["limits.addUser"] },
    { heading: "limits.keys" },
  ],
  mail: [{ labels: ["mail.server", "mail.security", "mail.from", "mail.test"], words: "SMTP STARTTLS TLS" }],
  pipelines: [
    {
      labels: [
        "pipelines.taskModel",
        "pipelines.taskModelExternal",
        "pipelines.title",
        "pipelines.tags",
        "pipelines.follow_ups",
        "pipelines.queries",
        "pipelines.rag",
        "pipelines.rag.passages",
        "pipelines.autocomplete",
        "pipelines.autocomplete.length",
        "pipelines.moa",
        "pipelines.moa.samples",
        "pipelines.moa.layers",
        "pipelines.tools",
        "pipelines.code_interpreter",
        "pipelines.code_interpreter.retries",
      ],
    },
  ],
  jobs: [{ also: ["jobs.lastRun", "jobs.nextRun", "jobs.failures"] }],
  configuration: [
    { labels: ["configuration.show", ...settings.filter((key) => !documentModels.includes(key))] },
  ],
  audit: [{ labels: ["audit.area", "audit.csv"] }],
};
