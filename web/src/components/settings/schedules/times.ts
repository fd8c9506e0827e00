/** Common schedule times as form choices; anything else stays a cron expression. */
import type { ScheduleContent } from "../../../api/types.ts";

export type Repeat = "once" | "daily" | "weekdays" | "weekly" | "hours" | "cron";
export const repeats: Repeat[] = ["daily", "weekdays", "weekly", "hours", "once", "cron"];
/** Allowed intervals in hours: each divides a day. */
export const hourSteps = [1, 2, 3, 4, 6, 8, 12];

export interface Times {
  repeat: Repeat;
  /** `HH:MM` */
  time: string;
  /** 0 is Sunday. */
  weekday: number;
  hours: number;
  /** `YYYY-MM-DDTHH:MM` in the browser's time zone. */
  once: string;
  cron: string;
}

const twoDigits = (value: number | string) => String(value).padStart(2, "0");

function localOf(at: number): string {
  const date = new Date(at);
  const day = `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
  return `${day}T${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`;
}

/** Converts a schedule to form values. */
export function timesOf(content: Pick<ScheduleContent, "cron" | "once_at">, now: number): Times {
  const tomorrow = localOf((content.once_at ?? now) + (content.once_at === null ? 86_400_000 : 0));
  const times: Times = {
    repeat: content.cron === null ? "once" : "cron",
    time: "08:00",
    weekday: 1,
    hours: 4,
    once: tomorrow,
    cron: content.cron ?? "0 8 * * *",
  };
  const at = /^(\d{1,2}) (\d{1,2}) \* \* (\*|1-5|[0-6])$/.exec(content.cron ?? "");
  if (at) {
    const [, minute = "", hour = "", days = ""] = at;
    const repeat = days === "*" ? "daily" : days === "1-5" ? "weekdays" : "weekly";
    const weekday = repeat === "weekly" ? Number(days) : times.weekday;
    return { ...times, repeat, weekday, time: `${twoDigits(hour)}:${twoDigits(minute)}` };
  }
  const every = /^0 \*(?:\/(\d{1,2}))? \* \* \*$/.exec(content.cron ?? "");
  const hours = every ? Number(every[1] ?? 1) : 0;
  return hourSteps.includes(hours) ? { ...times, repeat: "hours", hours } : times;
}

/** Converts form values to the request. */
export function contentOf(times: Times): Pick<ScheduleContent, "cron" | "once_at"> {
  const [hour = 0, minute = 0] = times.time.split(":").map(Number);
  const at = (days: string) => ({ cron: `${minute} ${hour} * * ${days}`, once_at: null });
  switch (times.repeat) {
    case "daily":
      return at("*");
    case "weekdays":
      return at("1-5");
    case "weekly":
      return at(String(times.weekday));
    case "hours":
      return { cron: times.hours === 1 ? "0 * * * *" : `0 */${times.hours} * * *`, once_at: null };
    case "cron":
      return { cron: times.cron.trim(), once_at: null };
    case "once":
      return { cron: null, once_at: new Date(times.once).getTime() };
  }
}
