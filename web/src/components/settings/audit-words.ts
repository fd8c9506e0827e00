/** Names and values of the audit log's details, in words. */
import { en } from "../../i18n/en/dictionary.ts";
import { formatDuration, formatList } from "../../i18n/format.ts";
import { locale, t, type Key } from "../../i18n/index.svelte.ts";

/** Those that forms of the settings have a label for. */
const labels = new Map<string, Key>(
  Object.entries({
    role: "people.role",
    name: "account.name",
    email: "account.email",
    scopes: "keys.scopes",
    front_end: "keys.frontEnd",
    provider_name: "groups.providerName",
    kind: "connection.kind",
    base_url: "connection.url",
    trusted: "connection.trusted",
    weight: "connection.weight",
    enabled: "connection.enabled",
    together: "connection.together",
    minute: "limits.minute",
    day: "limits.day",
    month: "limits.month",
    requests: "usage.requests",
    tokens: "usage.tokens",
    usd: "limits.usd",
    tool_mode: "models.toolMode",
    context_tokens: "models.context",
    fallbacks: "models.fallbacks",
    input_usd_per_million: "models.inputPrice",
    output_usd_per_million: "models.outputPrice",
    cached_input_usd_per_million: "models.cachedPrice",
    cache_write_usd_per_million: "models.cacheWritePrice",
    audio_input_usd_per_million: "models.audioInputPrice",
    audio_output_usd_per_million: "models.audioOutputPrice",
  } as const),
);

const values = new Map<string, Key>(
  Object.entries({
    "role.admin": "people.admin",
    "role.user": "people.user",
    "mode.closed": "signUp.closedMode",
    "mode.invitation": "signUp.invitationMode",
    "mode.open": "signUp.openMode",
  } as const),
);
/** Names of details whose values have texts of their own, and where those are. */
const valueKeys = new Map([
  ["scopes", "keys.scope"],
  ["from", "source.kind"],
  ["tool_mode", "models.toolMode"],
  ["reasoning_effort", "parameters.effort"],
]);

const known = (key: string) => (Object.hasOwn(en, key) ? (key as Key) : undefined);

export function labelOf(name: string): string {
  const key = labels.get(name) ?? known(`audit.detail.${name}`) ?? known(`parameters.${name}`);
  if (key !== undefined) return t(key);
  // A newer server has others.
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function valueOf(name: string, value: unknown): string {
  if (value === null || value === undefined || value === "") {
    return t(name === "everybody" ? "audit.default" : "audit.none.value");
  }
  if (typeof value === "boolean") return t(value ? "audit.yes" : "audit.no");
  if (typeof value === "number") {
    if (name.endsWith("_s")) return formatDuration(value * 1000);
    return new Intl.NumberFormat(locale(), { maximumFractionDigits: 6 }).format(value);
  }
  if (Array.isArray(value)) {
    return value.length === 0 ? t("audit.none.value") : formatList(value.map((one) => valueOf(name, one)));
  }
  if (typeof value !== "string") return JSON.stringify(value);
  const key = values.get(`${name}.${value}`) ?? known(`${valueKeys.get(name) ?? "audit.value"}.${value}`);
  return key === undefined ? value : t(key);
}
