/** Formats numbers, durations and dates in the current language. */
import { isolated } from "../state/direction.ts";
import { language, locale, t } from "./index.svelte.ts";

const number = (value: number, digits: number) =>
  new Intl.NumberFormat(locale(), { maximumFractionDigits: digits }).format(value);

/** A duration: `0.4 s`, `12 s`, `2 min 5 s`. */
export function formatDuration(ms: number): string {
  const seconds = ms / 1000;
  if (ms < 100) return t("duration.ms", { value: Math.round(ms) });
  if (seconds < 10) return t("duration.s", { value: number(seconds, 1) });
  if (seconds < 60) return t("duration.s", { value: Math.round(seconds) });
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return t("duration.min", { minutes, seconds: Math.floor(seconds % 60) });
  return t("duration.h", { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
}

/** Steps shorter than this take no time that people would notice. */
const shortestStepMs = 50;

/** The duration of a step, unless it is negligible. */
export const formatStepDuration = (ms: number): string | undefined =>
  ms < shortestStepMs ? undefined : formatDuration(ms);

/** An offset from the start of a run: `+0.04 s`, `+12.3 s`, `+2:05.3`. */
export function formatOffset(ms: number): string {
  const tenths = Math.floor(Math.max(0, ms) / 100);
  if (tenths < 600) {
    const digits = tenths < 100 ? 2 : 1;
    const value = new Intl.NumberFormat(locale(), {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    }).format(Math.max(0, ms) / 1000);
    return t("duration.s", { value: `+${value}` });
  }
  const seconds = number((tenths % 600) / 10, 1);
  return isolated(`+${Math.floor(tenths / 600)}:${tenths % 600 < 100 ? "0" : ""}${seconds}`);
}

/** A running clock: `0:07`, `1:24`. */
export function formatClock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

export function formatSize(bytes: number): string {
  if (bytes < 1000) return t("size.bytes", { value: bytes });
  if (bytes < 1_000_000) return t("size.kb", { value: number(bytes / 1000, 1) });
  return t("size.mb", { value: number(bytes / 1_000_000, 1) });
}

/** Conditions that all have to hold: `a, b, and c`. */
export const formatConjunction = (items: readonly string[]): string =>
  new Intl.ListFormat(locale(), { type: "conjunction" }).format(items);

/** `12,000`. */
export const formatCount = (count: number): string => number(count, 0);

/** `812`, `31.4k`, `1.2M`. */
export function formatTokens(count: number): string {
  if (count < 1000) return number(count, 0);
  if (count < 1_000_000) return `${number(count / 1000, 1)}k`;
  return `${number(count / 1_000_000, 1)}M`;
}

/** US dollars from millionths; small amounts keep enough digits to be meaningful. */
export function formatCost(microUsd: number): string {
  const usd = microUsd / 1_000_000;
  return new Intl.NumberFormat(locale(), {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: 2,
    maximumFractionDigits: usd < 0.1 ? 4 : 2,
  }).format(usd);
}

/** A timestamp; in the user's time zone unless one is given. */
export function formatDate(at: number, timeZone?: string): string {
  const style = { dateStyle: "medium", timeStyle: "short" } as const;
  return new Intl.DateTimeFormat(locale(), { ...style, timeZone }).format(at);
}

/** A calendar day such as `2026-11-23`, with its year. */
export function formatCalendarDay(day: string): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeZone: "UTC" }).format(Date.parse(day));
}

/** A date and time without the year, unless it is another than the current one. */
export function formatShortDate(at: number): string {
  const isThisYear = new Date(at).getFullYear() === new Date().getFullYear();
  return new Intl.DateTimeFormat(locale(), {
    month: "short",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
    ...(isThisYear ? {} : { year: "numeric" }),
  }).format(at);
}

/** The calendar day of a moment in the user's time zone. */
export const dayOf = (at: number) => new Date(at).toDateString();

/** The moment at which that day ends. */
export const endOfDay = (at: number) => new Date(at).setHours(24, 0, 0, 0);

/** The time of a moment of the day `today`, else its date and time. */
export function formatMoment(at: number, today: string): string {
  if (dayOf(at) !== today) return formatDate(at);
  return new Intl.DateTimeFormat(locale(), { timeStyle: "short" }).format(at);
}

/** A timestamp with its day of the week. */
export function formatFullDate(at: number): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "full", timeStyle: "short" }).format(at);
}

/** A time relative to `now`, in the largest fitting unit: `5 sec. ago`, `in 2 hr.`, `now`. */
export function formatAgo(at: number, now: number): string {
  const units = { day: 86_400_000, hour: 3_600_000, minute: 60_000 } as const;
  const found = Object.entries(units).find(([, ms]) => Math.abs(at - now) >= ms);
  const [unit, ms] = (found ?? ["second", 1000]) as [Intl.RelativeTimeFormatUnit, number];
  const format = new Intl.RelativeTimeFormat(locale(), { numeric: "auto", style: "short" });
  return format.format(Math.trunc((at - now) / ms) + 0, unit);
}

/** A day such as `2026-11-23`: `23 Nov`. */
export function formatDay(day: string): string {
  return new Intl.DateTimeFormat(locale(), { day: "numeric", month: "short", timeZone: "UTC" }).format(
    Date.parse(day),
  );
}

/** The name of the month, with its year unless that is the current one: `March`, `March 2025`. */
export function formatMonth(at: number): string {
  const isThisYear = new Date(at).getFullYear() === new Date().getFullYear();
  const name = new Intl.DateTimeFormat(locale(), {
    month: "long",
    ...(isThisYear ? {} : { year: "numeric" }),
  }).format(at);
  return name.slice(0, 1).toLocaleUpperCase(locale()) + name.slice(1);
}

/** A list of names: `a, b, c`. */
export const formatList = (names: readonly string[]): string => names.map(isolated).join(listSeparator());

/** What stands between the items of a list, or of a list of lists. */
export function listSeparator(mark: "," | ";" = ","): string {
  switch (language()) {
    case "ar":
      return mark === "," ? "، " : "؛ ";
    case "ja":
      return "、";
    case "zh":
      return mark === "," ? "、" : "；";
    default:
      return `${mark} `;
  }
}
