/** Russian texts for the form of example prompts. */
import type { startPrompts as en } from "../en/start-prompts.ts";
import type { Entry } from "../index.svelte.ts";

export const startPrompts: Record<keyof typeof en, Entry> = {
  "settings.prompts": "Примеры запросов",
  "startPrompts.intro": "Их видят все на странице нового чата — в том виде, в каком они написаны здесь.",
  "startPrompts.builtIn": "В новых чатах показаны встроенные примеры — на языке каждого пользователя.",
  "startPrompts.of": "Пример {number}",
  "startPrompts.title": "Заголовок (необязательно)",
  "startPrompts.text": "Запрос",
  "startPrompts.clickHint":
    "Щелчок отправляет запрос. Если в конце двоеточие, запрос попадает в поле сообщения, чтобы его дописать.",
  "startPrompts.add": "Добавить пример",
  "startPrompts.up": "Переместить пример {number} выше",
  "startPrompts.down": "Переместить пример {number} ниже",
  "startPrompts.remove": "Удалить пример {number}",
  "startPrompts.removed": "Пример удалён",
  "startPrompts.missing": "Введите запрос.",
  "startPrompts.tooLong": "Не более {limit} символов вместе с заголовком.",
  "startPrompts.useBuiltIn": "Вернуть встроенные примеры",
  "startPrompts.usesBuiltIn": "В новых чатах показаны встроенные примеры",
};
