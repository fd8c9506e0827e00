/** Commands that use a new API key, ready to paste into a shell. */
import type { KeyScope } from "../../../api/types.ts";

/** As one word of a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Base URLs as SDKs take them. */
export const baseUrlsOf = (baseUrl: string) => ({ openai: `${baseUrl}/v1`, anthropic: baseUrl });

interface Use {
  baseUrl: string;
  secret: string;
  /** `null` if it may do everything. */
  scopes: readonly KeyScope[] | null;
  model: string;
  greeting: string;
}

/** A request that the key may make; empty if it can only change things. */
export function curlOf({ baseUrl, secret, scopes, model, greeting }: Use): string {
  const may = (scope: KeyScope) => scopes === null || scopes.includes(scope);
  const header = `-H ${quoted(`Authorization: Bearer ${secret}`)}`;
  if (may("chat")) {
    const body = { model, messages: [{ role: "user", content: greeting }] };
    return [
      `curl ${quoted(`${baseUrlsOf(baseUrl).openai}/chat/completions`)}`,
      header,
      `-H 'Content-Type: application/json'`,
      `-d ${quoted(JSON.stringify(body))}`,
    ].join(" \\\n  ");
  }
  if (may("read")) return [`curl ${quoted(`${baseUrl}/api/v1/chats`)}`, header].join(" \\\n  ");
  return "";
}
