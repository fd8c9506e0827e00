/** Server settings as people read and type them: titles, controls, units, values and drafts. */
import type { ServerSetting, SettingValue } from "../../../api/configuration.ts";
import { ApiError } from "../../../api/http.ts";
import { isFixed } from "../../../api/server-settings.ts";
import { en } from "../../../i18n/en/dictionary.ts";
import { formatList } from "../../../i18n/format.ts";
import { locale, t, type Key } from "../../../i18n/index.svelte.ts";
import { keepText, readText } from "../../../state/drafts.ts";
import { sentenceOf } from "../../../state/toasts.svelte.ts";

const known = (key: string) => (Object.hasOwn(en, key) ? t(key as Key) : undefined);

/** Those whose form has a label for them. */
const labelOf = (name: string) => {
  const inSection = /^oidc\.(\w+)$/.exec(name)?.[1];
  const camelCase = inSection?.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return known(name === "approvals" ? "approvalRules.title" : `signInProvider.${camelCase ?? ""}`);
};

/** Its name if it has no title. */
export const titleOf = (name: string): string => known(`setting.${name}`) ?? labelOf(name) ?? name;

export const sectionTitleOf = (section: string): string => known(`settingSection.${section}`) ?? section;

export type Control = "number" | "switch" | "model" | "text" | "choice" | "secret";

/** Settings with one of a few values, and the names of these values, which are those of products. */
const choices: Record<string, Readonly<Record<string, string>>> = {
  "knowledge.reader_kind": { tika: "Apache Tika", docling: "Docling" },
};

/** Settings of the list whose values are never shown. */
const secrets = ["knowledge.reader_key"];

export const choicesOf = (name: string): [string, string][] => Object.entries(choices[name] ?? {});

/** The control that edits the setting; `null` if there is none here. */
export function controlOf(setting: ServerSetting): Control | null {
  if (setting.changed_in !== "web_app" || isFixed(setting)) return null;
  if (secrets.includes(setting.name)) return "secret";
  if (setting.value === null) return null;
  if (Object.hasOwn(choices, setting.name)) return "choice";
  switch (typeof setting.default) {
    case "number":
      return "number";
    case "boolean":
      return "switch";
    case "string":
      return setting.name.endsWith("_model") ? "model" : "text";
    default:
      return null;
  }
}

const units: [RegExp, Intl.NumberFormatOptions][] = [
  [/_hours$/, { style: "unit", unit: "hour", unitDisplay: "long" }],
  [/_days$/, { style: "unit", unit: "day", unitDisplay: "long" }],
  [/[._]minutes$/, { style: "unit", unit: "minute", unitDisplay: "long" }],
  [/[._]seconds$/, { style: "unit", unit: "second", unitDisplay: "long" }],
  [/_ms$/, { style: "unit", unit: "millisecond", unitDisplay: "long" }],
  [/_mb$/, { style: "unit", unit: "megabyte" }],
  [/\.usd$/, { style: "currency", currency: "USD", currencyDisplay: "code", minimumFractionDigits: 0 }],
];

const formatOf = (name: string) =>
  new Intl.NumberFormat(locale(), {
    ...units.find(([pattern]) => pattern.test(name))?.[1],
    maximumFractionDigits: 6,
  });

/** In the plural form that goes with the number; empty if the setting has none. */
export function unitOf(name: string, value: number): string {
  const parts = formatOf(name).formatToParts(value);
  return parts
    .filter(({ type }) => type === "unit" || type === "currency")
    .map((part) => part.value)
    .join("");
}

/** A value in words; `null` is secret. */
export function formatValue(name: string, value: SettingValue | null): string {
  if (value === null) return t("configuration.secret");
  if (typeof value === "number") return formatOf(name).format(value);
  if (typeof value === "boolean") return t(value ? "configuration.on" : "configuration.off");
  if (value === "" || (Array.isArray(value) && value.length === 0)) return t("audit.none.value");
  return typeof value === "string" ? (choices[name]?.[value] ?? value) : formatList(value.map(ofList));
}

/** An item of a list: a text, or a table such as an approval rule. */
function ofList(item: unknown): string {
  if (typeof item !== "object" || item === null) return String(item);
  return Object.values(item).map(ofList).join(" ");
}

/** Limits of runs for which 0 means no limit; the server says so for its others. */
const unlimited = ["steps", "all_steps", "tokens", "seconds", "waiting_hours", "usd"];
export const isUnlimitedAtZero = (name: string) =>
  name.startsWith("limits.") && unlimited.includes(name.slice("limits.".length));

const isDecimal = ({ name, default: usual }: ServerSetting) =>
  /\.(usd|context_share)$/.test(name) || !Number.isInteger(usual);

/** The value in its field. */
export const typedOf = (value: SettingValue | null): string => String(value ?? "");

/** The value of what was typed, or what is wrong with it. */
export function parse(setting: ServerSetting, text: string): { value: SettingValue } | { fault: Key } {
  if (typeof setting.default === "boolean") return { value: text === "true" };
  if (typeof setting.default !== "number") return { value: text.trim() };
  const plain = text.replace(/[\s_]/g, "");
  if (isDecimal(setting)) {
    // With a comma before three digits, it may be a decimal or a thousands separator.
    const isClear = /^\d+([.,]\d+)?$/.test(plain) && !/^[1-9]\d*,\d{3}$/.test(plain);
    return isClear ? { value: Number(plain.replace(",", ".")) } : { fault: "configuration.number" };
  }
  const isGrouped = /^\d{1,3}([.,'’]\d{3})+$/.test(plain);
  const value = Number(isGrouped ? plain.replace(/\D/g, "") : plain);
  const isWhole = (isGrouped || /^\d+$/.test(plain)) && Number.isSafeInteger(value);
  return isWhole ? { value } : { fault: "configuration.wholeNumber" };
}

const place = (name: string) => `setting.${name}`;

/** What was typed and not saved; `null` if nothing. */
export const readDraft = (name: string): string | null => readText(place(name))?.slice(1) ?? null;

/** With a mark in front, because an empty text is a draft, too. */
export const keepDraft = (name: string, text: string | null): void =>
  keepText(place(name), text === null ? null : `=${text}`);

/** Why the server refused the value; it has its reasons in English only, of which the most frequent is translated. */
export function refusalOf(name: string, error: unknown): string {
  const reason = error instanceof ApiError ? error.sentence?.params?.["reason"] : undefined;
  const [, refused, least = "", most = ""] =
    /^([\w.]+) must be ([\d.]+) to ([\d.]+)$/.exec(String(reason)) ?? [];
  return refused === name ? t("configuration.range", { least, most }) : sentenceOf(error);
}

/** The forms of settings that have one of their own, with the keys of their titles. */
const forms: Partial<Record<ServerSetting["changed_in"], { href: string; key: string }>> = {
  approval_rules: { href: "/settings/tools#approvalRules.title", key: "approvalRules.title" },
  sign_in: { href: "/settings/people#signInProvider.title", key: "signInProvider.title" },
  web_search: { href: "/settings/tools#webSearch.title", key: "webSearch.title" },
  embedding: { href: "/settings/knowledge#embedding.title", key: "embedding.title" },
  mail: { href: "/settings/mail", key: "settings.mail" },
  start_prompts: { href: "/settings/prompts", key: "settings.prompts" },
  background_tasks: { href: "/settings/pipelines", key: "settings.pipelines" },
};

export function formOf({ changed_in }: ServerSetting): { href: string; title: string } | undefined {
  const form = forms[changed_in];
  const title = form && known(form.key);
  return form && title !== undefined ? { href: form.href, title } : undefined;
}
