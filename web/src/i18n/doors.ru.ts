/** Russian words of how people get in. */
import type { doors as en } from "./doors.en.ts";
import type { Entry } from "./index.svelte.ts";

export const doors: Record<keyof typeof en, Entry> = {
  "settings.sessions": "Сеансы",
  "sessions.intro": {
    one: "Где вы вошли. Сеанс заканчивается через {count} час после начала.",
    few: "Где вы вошли. Сеанс заканчивается через {count} часа после начала.",
    many: "Где вы вошли. Сеанс заканчивается через {count} часов после начала.",
    other: "Где вы вошли. Сеанс заканчивается через {count} часа после начала.",
  },
  "sessions.on": "{browser}, {system}",
  "sessions.unknown": "Неизвестный браузер",
  "sessions.this": "этот",
  "sessions.began": "начат {date}",
  "sessions.from": "с адреса {address}",
  "sessions.used": "последнее действие {date}",
  "sessions.end": "Завершить",
  "sessions.endOf": "Завершить: {device}",
  "sessions.endOthers": "Выйти везде, кроме этого браузера",
  "sessions.endOthersConfirm":
    "Все другие ваши сеансы завершатся сразу, вместе со всем, что в них открыто. Ключи останутся как есть.",
  "sessions.endAll": "Выйти везде",
  "sessions.endAllConfirm": "Завершатся все ваши сеансы, и этот тоже. Ключи останутся как есть.",
  "sessions.ended": "Другие сеансы завершены.",
};
