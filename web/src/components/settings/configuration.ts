/** The settings of the server as its page shows them: their texts, values and sections. */
import type { ServerSetting, SettingValue } from "../../api/configuration.ts";
import { serverSettings as russian } from "../../i18n/server-settings.ru.ts";
import type { Language } from "../../state/preferences.svelte.ts";

/** The heading of the settings that stand in no section. */
export const server = "server";

/** What a setting does, as the server says it, or in Russian if there is a translation. */
export function aboutSetting({ name, summary }: ServerSetting, language: Language): string {
  const translated = language === "ru" && Object.hasOwn(russian, name) ? russian[name] : undefined;
  return translated ?? summary;
}

/** As the file would have it. */
export function written(value: SettingValue): string {
  if (!Array.isArray(value)) return typeof value === "string" ? `"${value}"` : String(value);
  return value.length === 0 ? "[]" : `[${value.map((one) => JSON.stringify(one)).join(", ")}]`;
}

/** The settings in their sections; those without one come first. */
export function bySection(settings: readonly ServerSetting[]): [string, ServerSetting[]][] {
  const sections = new Map<string, ServerSetting[]>([[server, []]]);
  for (const setting of settings) {
    const [section, inner] = setting.name.split(".");
    const name = inner === undefined ? server : (section ?? server);
    sections.set(name, [...(sections.get(name) ?? []), setting]);
  }
  return [...sections].filter(([, list]) => list.length > 0);
}
