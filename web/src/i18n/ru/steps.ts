/** Russian texts for the steps of a run. */
import type { steps as en } from "../en/steps.ts";
import type { Entry } from "../index.svelte.ts";

export const steps: Record<keyof typeof en, Entry> = {
  "steps.memoryUpdating": "Обновляется память «{name}»…",
  "steps.memoryFailed": "Память «{name}» не изменена",
  "steps.memoryChanged": "Запомнено: «{name}»",
  "steps.memoryDeleted": "Забыто: «{name}»",
  "steps.byProvider": "выполнено провайдером",
  "steps.title": {
    one: "{count} шаг",
    few: "{count} шага",
    many: "{count} шагов",
    other: "{count} шага",
  },
  "steps.failed": {
    one: "{count} ошибка",
    few: "{count} ошибки",
    many: "{count} ошибок",
    other: "{count} ошибки",
  },
  "steps.agentsRunning": {
    one: "работает {count} субагент",
    few: "работают {count} субагента",
    many: "работают {count} субагентов",
    other: "работают {count} субагента",
  },
  "steps.agents": {
    one: "{count} субагент",
    few: "{count} субагента",
    many: "{count} субагентов",
    other: "{count} субагента",
  },
  "steps.search": "Поиск по шагам",
  "steps.noMatch": "Подходящих шагов нет",
  "steps.onlyPlan": "Обновлён только план",
  "steps.loading": "Загружаем шаги…",
  "steps.showAll": "Показать всё",
  "steps.showMore": "Загрузить ещё",
  "steps.showLess": "Свернуть",
  "steps.arguments": "Аргументы",
  "steps.wholeResult": "Полный результат — в {path}",
  "steps.program": "Программа",
  "steps.output": "Вывод",
  "steps.result": "Результат",
  "steps.error": "Ошибка",
  "steps.emptyResult": "Готово (без вывода)",
  "steps.showHtml": "Показать {name}",
  "steps.truncated": "Результат обрезан: превышен предельный размер.",
  "steps.task": "Задание",
  "steps.continues": "Продолжает",
};
