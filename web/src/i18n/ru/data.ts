/** Russian texts for data export, import and account deletion in the settings. */
import type { Entry } from "../index.svelte.ts";
import type { data as en } from "../en/data.ts";

export const data: Record<keyof typeof en, Entry> = {
  "settings.data": "Экспорт и импорт",
  "data.export": "Экспорт",
  "data.exportText":
    "Файл со всеми вашими данными: чаты со всеми ветвями и журналами запусков, файлы, коллекции документов, память, расписания и названия ключей. Паролей и самих ключей в нём нет.",
  "data.exportDo": "Скачать мои данные",
  "data.import": "Импорт",
  "data.importText":
    "Импортирует в эту учётную запись экспорт Glasshouse или чаты из ChatGPT, Claude, Open WebUI и LibreChat. Имеющиеся данные остаются и не дублируются; расписания импортируются выключенными.",
  "data.importFiles":
    "ChatGPT и Claude: полученный ZIP-файл как есть. Остальные: .json или .jsonl.",
  "data.choose": "Выбрать файл",
  "data.dropHere": "или перетащите его сюда",
  "data.sending": "Импорт {name} ({size})…",
  "data.made": "Импортировано",
  "data.here": "Уже есть",
  "data.left": "Пропущено",
  "data.leftMore": {
    one: "и ещё {count}",
    few: "и ещё {count}",
    many: "и ещё {count}",
    other: "и ещё {count}",
  },
  "data.nothingNew": "Ничего нового не импортировано.",
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
  "data.count.collections": {
    one: "{count} коллекция",
    few: "{count} коллекции",
    many: "{count} коллекций",
    other: "{count} коллекции",
  },
  "data.count.documents": {
    one: "{count} документ",
    few: "{count} документа",
    many: "{count} документов",
    other: "{count} документа",
  },
  "data.what.chat": "Чат",
  "data.what.message": "Сообщение",
  "data.what.run": "Запуск",
  "data.what.file": "Файл",
  "data.what.memory": "Запись памяти",
  "data.what.fact": "Факт",
  "data.what.schedule": "Расписание",
  "data.what.collection": "Коллекция",
  "data.what.document": "Документ",
  "data.what.key": "Ключ",
  "data.what.agent": "Агент",
  "data.what.line": "Строка",
  "data.end": "Удаление учётной записи",
  "data.endText": "Учётная запись и всё её содержимое удаляются навсегда. Сначала экспортируйте данные.",
};
