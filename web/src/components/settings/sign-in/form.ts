/** Form of the sign-in provider: the values as typed, and the settings that they change. */
import { baseUrl } from "../../../api/base.ts";
import type { ServerSetting, SettingValue } from "../../../api/configuration.ts";
import { isFixed, textOf, textsOf, type SettingValues } from "../../../api/server-settings.ts";
import { placeholderIn, presets, type Preset } from "./presets.ts";

export interface ProviderForm {
  issuer: string;
  clientId: string;
  /** Empty to keep the stored one. */
  secret: string;
  isSecretRemoved: boolean;
  name: string;
  /** Separated by spaces. */
  scopes: string;
  groupsClaim: string;
  groupsUrl: string;
  /** One group per line; their names may hold spaces and commas. */
  adminGroups: string;
  allowedGroups: string;
  createAccounts: boolean;
  linkByEmail: boolean;
}

type Field = Exclude<keyof ProviderForm, "secret" | "isSecretRemoved">;

const settingNames: Record<Field, string> = {
  issuer: "oidc.issuer",
  clientId: "oidc.client_id",
  name: "oidc.name",
  scopes: "oidc.scopes",
  groupsClaim: "oidc.groups_claim",
  groupsUrl: "oidc.groups_url",
  adminGroups: "oidc.admin_groups",
  allowedGroups: "oidc.allowed_groups",
  createAccounts: "oidc.create_accounts",
  linkByEmail: "oidc.link_by_email",
};
const secretName = "oidc.client_secret";
const fields = Object.keys(settingNames) as Field[];

/** The settings of the provider by their names. */
export type ProviderSettings = Readonly<Record<string, ServerSetting>>;

export const settingsOf = (settings: readonly ServerSetting[]): ProviderSettings =>
  Object.fromEntries(
    settings.filter(({ name }) => name.startsWith("oidc.")).map((setting) => [setting.name, setting]),
  );

export const settingOf = (settings: ProviderSettings, field: Field | "secret"): ServerSetting | undefined =>
  settings[field === "secret" ? secretName : settingNames[field]];

export function formOf(settings: ProviderSettings): ProviderForm {
  const value = (field: Field) => settingOf(settings, field)?.value;
  return {
    issuer: textOf(value("issuer")),
    clientId: textOf(value("clientId")),
    secret: "",
    isSecretRemoved: false,
    name: textOf(value("name")),
    scopes: textsOf(value("scopes")).join(" "),
    groupsClaim: textOf(value("groupsClaim")),
    groupsUrl: textOf(value("groupsUrl")),
    adminGroups: textsOf(value("adminGroups")).join("\n"),
    allowedGroups: textsOf(value("allowedGroups")).join("\n"),
    createAccounts: value("createAccounts") === true,
    linkByEmail: value("linkByEmail") === true,
  };
}

const partsOf = (text: string, separator: RegExp) =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== "");

function valueOf(form: ProviderForm, field: Field): SettingValue {
  const value = form[field];
  if (typeof value === "boolean") return value;
  if (field === "scopes") return partsOf(value, /[\s,،]+/);
  if (field === "adminGroups" || field === "allowedGroups") return partsOf(value, /\n/);
  return value.trim();
}

/** Fields without a useful empty value: emptied, they return to the default. */
const isEmptied = (field: Field, value: SettingValue) =>
  (field === "name" || field === "groupsClaim" || field === "scopes") && (value as string).length === 0;

const isEqual = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Whether a client secret is set; its value is not known here. */
export const hasSecret = (settings: ProviderSettings) => settingOf(settings, "secret")?.value === null;

/** Whether the stored secret belongs to another host than the issuer's, which must not get it. */
export function isSecretElsewhere(form: ProviderForm, settings: ProviderSettings): boolean {
  const secret = settingOf(settings, "secret");
  if (!secret || isFixed(secret) || !hasSecret(settings)) return false;
  const [before, now] = [formOf(settings).issuer, form.issuer.trim()];
  const originOf = (issuer: string) => URL.parse(issuer)?.origin ?? issuer;
  return now !== "" && originOf(before) !== originOf(now);
}

/** What to send: the values that differ, `null` for those that return to their default. */
export function changeOf(form: ProviderForm, settings: ProviderSettings): SettingValues {
  const before = formOf(settings);
  const change: SettingValues = {};
  for (const field of fields) {
    const setting = settingOf(settings, field);
    const value = valueOf(form, field);
    if (!setting || isFixed(setting) || isEqual(value, valueOf(before, field))) continue;
    change[setting.name] = isEmptied(field, value) || isEqual(value, setting.default) ? null : value;
  }
  const secret = settingOf(settings, "secret");
  if (!secret || isFixed(secret)) return change;
  if (form.secret !== "") change[secretName] = form.secret;
  else if (hasSecret(settings) && (form.isSecretRemoved || isSecretElsewhere(form, settings)))
    change[secretName] = null;
  return change;
}

/** Whether the web app can change none of it. */
export const isAllFixed = (settings: ProviderSettings) => Object.values(settings).every(isFixed);

/** Fills in what is known of a provider, without replacing what somebody has typed. */
export function withPreset(
  form: ProviderForm,
  chosen: Preset | "",
  settings: ProviderSettings,
): ProviderForm {
  const preset: { name?: string; issuer?: string; scopes?: string } = chosen === "" ? {} : presets[chosen];
  const defaultOf = (field: Field) => settingOf(settings, field)?.default;
  const scopes = textsOf(defaultOf("scopes")).join(" ");
  const isKnown = (key: "name" | "issuer" | "scopes", text: string) =>
    text.trim() === "" || Object.values(presets).some((one) => key in one && one[key as "name"] === text);
  const isFree = (field: "name" | "issuer" | "scopes") => {
    const setting = settingOf(settings, field);
    return setting !== undefined && !isFixed(setting);
  };
  return {
    ...form,
    ...(isFree("issuer") && isKnown("issuer", form.issuer) ? { issuer: preset.issuer ?? "" } : {}),
    ...(isFree("name") && (isKnown("name", form.name) || form.name === textOf(defaultOf("name")))
      ? { name: preset.name ?? textOf(defaultOf("name")) }
      : {}),
    ...(isFree("scopes") && (isKnown("scopes", form.scopes) || form.scopes === scopes)
      ? { scopes: preset.scopes ?? scopes }
      : {}),
  };
}

const isUrl = (text: string) => ["http:", "https:"].includes(URL.parse(text.trim())?.protocol ?? "");

export const isComplete = ({ issuer, clientId, groupsUrl }: ProviderForm) =>
  isUrl(issuer) &&
  placeholderIn(issuer) === "" &&
  clientId.trim() !== "" &&
  (groupsUrl.trim() === "" || isUrl(groupsUrl));

/** Where the provider sends people back, as far as it is known before the server says so. */
export function redirectOf(settings: readonly ServerSetting[]): string {
  const address = textOf(settings.find(({ name }) => name === "public_url")?.value);
  return `${address.replace(/\/$/, "") || baseUrl}/oauth/login/callback`;
}
