/** Formats the server settings for their page: descriptions, values and sections. */
import type { ServerSetting, SettingValue } from "../../api/configuration.ts";

/** Heading of the settings outside any section. */
export const server = "server";

/** Description of a setting in the page's language; the server's English one if there is no translation. */
export function aboutSetting(
  { name, summary }: ServerSetting,
  translated: Readonly<Record<string, string>>,
): string {
  return (Object.hasOwn(translated, name) ? translated[name] : undefined) ?? summary;
}

/** The value in TOML syntax. */
export function written(value: SettingValue): string {
  if (!Array.isArray(value)) return typeof value === "string" ? `"${value}"` : String(value);
  return value.length === 0 ? "[]" : `[${value.map((one) => JSON.stringify(one)).join(", ")}]`;
}

/** Splits a description: names between backticks and paths of the documentation are code. */
export function piecesOf(text: string): { text: string; isCode: boolean }[] {
  const pieces = text.split(/(`[^`]+`|docs\/[\w/-]+\.md(?:#[\w-]+)?)/);
  return pieces
    .map((piece, index) => ({ text: piece.replace(/^`|`$/g, ""), isCode: index % 2 === 1 }))
    .filter(({ text }) => text !== "");
}

export type Shown = "here" | "changed" | "all";

export function isShown({ changed_in, from }: ServerSetting, shown: Shown): boolean {
  if (shown === "all") return true;
  return shown === "here" ? changed_in === "web_app" : from !== "default";
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
