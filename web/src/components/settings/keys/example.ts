/** Commands that use a new API key, ready to paste into a shell. */
import type { KeyScope } from "../../../api/types.ts";

/** As one word of a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Base URLs as SDKs take them. */
export const baseUrlOf = (origin: string) => ({ openai: `${origin}/v1`, anthropic: origin });

interface Use {
  origin: string;
  secret: string;
  /** `null` if it may do everything. */
  scopes: readonly KeyScope[] | null;
  model: string;
  greeting: string;
}

/** A request that the key may make; empty if it can only change things. */
export function curlOf({ origin, secret, scopes, model, greeting }: Use): string {
  const may = (scope: KeyScope) => scopes === null || scopes.includes(scope);
  const header = `-H ${quoted(`Authorization: Bearer ${secret}`)}`;
  if (may("chat")) {
    const body = { model, messages: [{ role: "user", content: greeting }] };
    return [
      `curl ${quoted(`${baseUrlOf(origin).openai}/chat/completions`)}`,
      header,
      `-H 'Content-Type: application/json'`,
      `-d ${quoted(JSON.stringify(body))}`,
    ].join(" \\\n  ");
  }
  if (may("read")) return [`curl ${quoted(`${origin}/api/v1/chats`)}`, header].join(" \\\n  ");
  return "";
}
