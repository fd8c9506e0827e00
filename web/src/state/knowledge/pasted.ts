/** Turns pasted text into a file of a collection. */
import type { Named } from "./folders.ts";

export type { Named };

/** Maximum length of a name in UTF-8 bytes, excluding the extension. */
const maxBytes = 240;

/** Creates the file, named by its title or its first words; `null` if the text is empty. */
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
