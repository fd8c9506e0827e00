/** The example prompts that administrators set. In what is stored, the first of several lines is the title. */

export interface StartPrompt {
  title: string;
  text: string;
}

export function startPrompt(stored: string): StartPrompt {
  const [first = "", ...rest] = stored.trimEnd().split("\n");
  return rest.length > 0
    ? { title: first.trim(), text: rest.join("\n").trim() }
    : { title: "", text: first.trim() };
}

export function storedPrompt({ title, text }: StartPrompt): string {
  const hasLines = title.trim() !== "" || text.trim().includes("\n");
  return hasLines ? `${title.trim()}\n${text.trim()}` : text.trim();
}

/** Whether people complete it before they send it. */
export const isOpenEnded = (text: string): boolean => /[:：]$/.test(text.trimEnd());
