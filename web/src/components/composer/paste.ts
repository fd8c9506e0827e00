/** Long pasted text, which is attached as a file instead of filling the composer. */
import { t } from "../../i18n/index.svelte.ts";

/** Longer text is attached. */
const maxInlineChars = 4000;

export const isLong = (text: string) => text.length > maxInlineChars;

/** A file with exactly this text; numbered if the name is taken. */
export function textFile(text: string, taken: readonly string[]): File {
  const name = t("composer.pastedName");
  let file = `${name}.txt`;
  for (let number = 2; taken.includes(file); number += 1) file = `${name} ${number}.txt`;
  return new File([text], file, { type: "text/plain" });
}
