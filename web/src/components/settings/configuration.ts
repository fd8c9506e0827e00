/** Formats the server settings for their page: descriptions, values and sections. */
import type { ServerSetting, SettingValue } from "../../api/configuration.ts";
import { serverSettings as russian } from "../../i18n/server-settings.ru.ts";
import type { Language } from "../../state/preferences.svelte.ts";

/** Heading of the settings outside any section. */
export const server = "server";

/** Description of a setting from the server, or in Russian if there is a translation. */
export function aboutSetting({ name, summary }: ServerSetting, language: Language): string {
  const translated = language === "ru" && Object.hasOwn(russian, name) ? russian[name] : undefined;
  return translated ?? summary;
}

/** The value in TOML syntax. */
export function written(value: SettingValue): string {
  if (!Array.isArray(value)) return typeof value === "string" ? `"${value}"` : String(value);
  return value.length === 0 ? "[]" : `[${value.map((one) => JSON.stringify(one)).join(", ")}]`;
}

/** Groups the settings by section; those without one come first. */
export function bySection(settings: readonly ServerSetting[]): [string, ServerSetting[]][] {
  const sections = new Map<string, ServerSetting[]>([[server, []]]);
  for (const setting of settings) {
    const [section, inner] = setting.name.split(".");
    const name = inner === undefined ? server : (section ?? server);
    sections.set(name, [...(sections.get(name) ?? []), setting]);
  }
  return [...sections].filter(([, list]) => list.length > 0);
}
