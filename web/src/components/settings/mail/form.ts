/** Form of the mail settings: the values as typed, and the change that they mean. */
import type { ServerSetting } from "../../../api/configuration.ts";
import { isFixed, textOf, type SettingValues } from "../../../api/server-settings.ts";

export const names = ["server", "security", "user", "password", "from"] as const;
export type Name = (typeof names)[number];
/** The settings by their names within `mail`. */
export type MailSettings = Record<Name, ServerSetting>;

/** How the connection is encrypted, with the port that is usual for it. */
export const ports = { starttls: 587, tls: 465, none: 25 } as const;
export type Security = keyof typeof ports;
export const securities = Object.keys(ports) as Security[];

export interface MailForm extends Record<Exclude<Name, "security">, string> {
  security: Security;
}

/** `null` if the server has no such settings. */
export function settingsOf(all: readonly ServerSetting[]): MailSettings | null {
  const found = names.map((name) => [name, all.find((setting) => setting.name === `mail.${name}`)] as const);
  return found.every(([, setting]) => setting) ? (Object.fromEntries(found) as MailSettings) : null;
}

export const hasPassword = ({ password }: MailSettings) => password.from !== "default";

/** The form; its password is empty, as the server never tells it. */
export function formOf(settings: MailSettings): MailForm {
  const security = securities.find((one) => one === settings.security.value) ?? "starttls";
  return {
    server: textOf(settings.server.value),
    security,
    user: textOf(settings.user.value),
    password: "",
    from: textOf(settings.from.value),
  };
}

/** Values to send: those that differ from the current ones; `null` for those that were emptied. */
export function changeOf(form: MailForm, settings: MailSettings): SettingValues {
  const change: SettingValues = {};
  for (const name of names) {
    const typed = name === "password" ? form.password : form[name].trim();
    if (isFixed(settings[name]) || typed === textOf(settings[name].value)) continue;
    change[`mail.${name}`] = typed === "" ? null : typed;
  }
  const isForgotten = form.user.trim() === "" && hasPassword(settings) && !isFixed(settings.password);
  if (isForgotten) change["mail.password"] = null;
  return change;
}

/** Without the scheme of an address: `smtps://smtp.example.org:465` is pasted from instructions. */
export const hostOf = (text: string) =>
  text
    .trim()
    .replace(/^smtps?:\/\//i, "")
    .replace(/\/$/, "");

/** How connections to the usual ports are encrypted. */
export function securityOf(server: string): Security | undefined {
  const port = /:(\d+)$/.exec(server)?.[1];
  return securities.find((one) => one !== "none" && String(ports[one]) === port);
}

/** A host, an IP address, or either with a port. */
export const isServer = (text: string) =>
  /^[\w.-]+(:\d{1,5})?$/.test(text) ||
  /^\[[\da-f:.]+\](:\d{1,5})?$|^[\da-f]*:[\da-f:.]*:[\da-f:.]*$/i.test(text);

/** An address, or one in angle brackets after a name. */
export const isSender = (text: string) =>
  /^[^\s<>@]+@[^\s<>@]+$|^[^<>]*<[^\s<>@]+@[^\s<>@]+>$/.test(text.trim());
