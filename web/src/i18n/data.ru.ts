/** Russian for the settings' section about one's own data. */
import type { Entry } from "./index.svelte.ts";
import type { data as en } from "./data.en.ts";

export const data: Record<keyof typeof en, Entry> = {
  "settings.data": "Данные",
  "data.export": "Экспорт",
  "data.exportText":
    "Файл со всем вашим: чаты со всеми ветвями и журналами запусков, файлы, память, расписания и названия ключей. Паролей и самих ключей в нём нет.",
  "data.exportDo": "Скачать мои данные",
  "data.import": "Импорт",
  "data.importText":
    "Переносит в эту учётную запись экспорт Glasshouse или чаты, которые экспортирует Open WebUI. То, что здесь уже есть, остаётся и не удваивается; расписания приходят выключенными.",
  "data.choose": "Выбрать файл",
  "data.dropHere": "или перетащите его сюда",
  "data.sending": "Переносим {name} ({size}) …",
  "data.made": "Перенесено",
  "data.here": "Уже было здесь",
  "data.left": "Не перенесено",
  "data.leftMore": {
    one: "и ещё {count}",
    few: "и ещё {count}",
    many: "и ещё {count}",
    other: "и ещё {count}",
  },
  "data.nothingNew": "Ничего нового не перенесено.",
  "data.count.chats": {
    one: "{count} чат",
    few: "{count} чата",
    many: "{count} чатов",
    other: "{count} чата",
  },
  "data.count.messages": {
    one: "{count} сообщение",
    few: "{count} сообщения",
    many: "{count} сообщений",
    other: "{count} сообщения",
  },
  "data.count.runs": {
    one: "{count} запуск",
    few: "{count} запуска",
    many: "{count} запусков",
    other: "{count} запуска",
  },
  "data.count.files": {
    one: "{count} файл",
    few: "{count} файла",
    many: "{count} файлов",
    other: "{count} файла",
  },
  "data.count.memories": {
    one: "{count} запись памяти",
    few: "{count} записи памяти",
    many: "{count} записей памяти",
    other: "{count} записи памяти",
  },
  "data.count.facts": {
    one: "{count} факт",
    few: "{count} факта",
    many: "{count} фактов",
    other: "{count} факта",
  },
  "data.count.schedules": {
    one: "{count} расписание",
    few: "{count} расписания",
    many: "{count} расписаний",
    other: "{count} расписания",
  },
  "data.what.chat": "Чат",
  "data.what.message": "Сообщение",
  "data.what.run": "Запуск",
  "data.what.file": "Файл",
  "data.what.memory": "Запись памяти",
  "data.what.fact": "Факт",
  "data.what.schedule": "Расписание",
  "data.what.key": "Ключ",
  "data.what.agent": "Агент",
  "data.what.line": "Строка",
  "data.end": "Удаление учётной записи",
  "data.endText": "Учётная запись и всё, что в ней, — сразу и навсегда. Сначала экспортируйте данные.",
};
