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

/** A part of a description. */
export interface Piece {
  text: string;
  /** `page` is the path of a page of the documentation. */
  kind: "text" | "code" | "page";
}

/** Splits a description: names between backticks are code, and paths of the documentation are links. */
export function piecesOf(text: string): Piece[] {
  const pieces = text.split(/(`[^`]+`|docs\/[\w/-]+\.md(?:#[\w-]+)?)/);
  return pieces
    .filter((piece) => piece !== "")
    .map((piece) => {
      if (piece.startsWith("docs/")) return { text: piece, kind: "page" };
      const isCode = /^`[^`]+`$/.test(piece);
      return { text: isCode ? piece.slice(1, -1) : piece, kind: isCode ? "code" : "text" };
    });
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
