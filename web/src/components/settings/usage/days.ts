/** Days of the usage chart, including those without usage. */
import type { UsageRow } from "../../../api/types.ts";

export type Figure = "tokens" | "cost" | "requests";

const DAY = 86_400_000;

/** `null` for a cost without a price. */
export function figureOf(row: Omit<UsageRow, "name" | "label">, figure: Figure): number | null {
  if (figure === "tokens") return row.input_tokens + row.output_tokens;
  return figure === "cost" ? row.cost_micro_usd : row.requests;
}

/** The date `days` before `now`, as `2026-11-23`. */
export function dayBefore(now: number, days: number): string {
  return new Date(now - days * DAY).toISOString().slice(0, 10);
}

export function everyDay(from: string, to: string, rows: UsageRow[], figure: Figure) {
  const known = new Map(rows.map((row) => [row.name, figureOf(row, figure)]));
  const days: { day: string; value: number | null }[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY) {
    const day = new Date(at).toISOString().slice(0, 10);
    const value = known.get(day);
    days.push({ day, value: value === undefined ? 0 : value });
  }
  return days;
}

/** Rounds up to the next of 1, 2, 5, 10, 20 …, for the end of the axis. */
export function roundedUp(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}
