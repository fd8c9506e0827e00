/** Limits as form input: nine fields, empty for no limit. */
import type { Limits, Most, Span } from "../../api/limits.ts";

export const spans: Span[] = ["minute", "day", "month"];
export const kinds = ["requests", "tokens", "usd"] as const;
export type Kind = (typeof kinds)[number];
export type Typed = Record<Span, Record<Kind, string>>;

export function typed(limits?: Limits): Typed {
  const of = (most?: Most) => ({
    requests: most?.requests?.toString() ?? "",
    tokens: most?.tokens?.toString() ?? "",
    usd: most?.usd?.toString() ?? "",
  });
  return { minute: of(limits?.minute), day: of(limits?.day), month: of(limits?.month) };
}

/** Accepts a comma as the decimal separator, and spaces as thousands separators. `null` if it is not a number. */
export function parse(kind: Kind, text: string): number | null {
  const plain = text.replace(/[\s\u00a0\u202f_]/g, "").replace(",", ".");
  const number = plain === "" ? NaN : Number(plain);
  if (!(number >= 0) || (kind !== "usd" && !Number.isSafeInteger(number))) return null;
  return number;
}

export const isBad = (kind: Kind, text: string) => text.trim() !== "" && parse(kind, text) === null;

export function parsed(typed: Typed): Limits {
  const of = (fields: Record<Kind, string>): Most => ({
    requests: parse("requests", fields.requests),
    tokens: parse("tokens", fields.tokens),
    usd: parse("usd", fields.usd),
  });
  return { minute: of(typed.minute), day: of(typed.day), month: of(typed.month) };
}

export const isNone = (limits: Limits) =>
  spans.every((span) => kinds.every((kind) => limits[span][kind] === null));
