/** Russian texts for web search. */
import type { webSearch as en } from "../en/web-search.ts";
import type { Entry } from "../index.svelte.ts";

export const webSearch: Record<keyof typeof en, Entry> = {
  "webSearch.title": "Поиск в интернете",
  "webSearch.intro": "Агенты и исследования берут первый по порядку сервис, который что-нибудь найдёт.",
  "webSearch.fixed": "Задан в файле конфигурации или переменных окружения и меняется там.",
  "webSearch.add": "Добавить поисковый сервис",
  "webSearch.choose": "Выберите…",
  "webSearch.own": "Собранные сайты",
  "webSearch.mcp": "Инструмент MCP",
  "webSearch.url": "URL вашего SearXNG",
  "webSearch.tool": "Инструмент",
  "webSearch.toolHint": "Полное название, как в списке MCP-серверов.",
  "webSearch.ownHint": "Поиск по страницам, собранным в коллекции.",
  "webSearch.up": "Переместить {name} выше",
  "webSearch.remove": "Удалить {name}",
  "webSearch.works": {
    one: "Работает: {count} результат. Первый: {title}",
    few: "Работает: {count} результата. Первый: {title}",
    many: "Работает: {count} результатов. Первый: {title}",
    other: "Работает: {count} результата. Первый: {title}",
  },
  "webSearch.nothing": "Сервис отвечает, но ничего не нашёл.",
};
