/** Text that was pasted, as the file it becomes in a collection. */
import type { Named } from "./folders.ts";

export type { Named };

/** Longest name, bytes of its UTF-8; the ending has its place beside it. */
const maxBytes = 240;

/** The file of this text: it is called by its title, or by its first words; nothing where there are no words. */
export function named(title: string, text: string): Named | null {
  if (text.trim() === "") return null;
  const words = title.trim() || text.trim().slice(0, 60);
  const name = `${short(words.replace(/[\p{Cc}/\\]+/gu, " ").trim()) || "text"}.md`;
  return { name, file: new File([text], name, { type: "text/markdown" }) };
}

function short(name: string): string {
  const encoder = new TextEncoder();
  const characters = [...name.replace(/^\.+/, "").replace(/\.md$/i, "")];
  while (encoder.encode(characters.join("")).length > maxBytes) characters.pop();
  return characters.join("").trim();
}
