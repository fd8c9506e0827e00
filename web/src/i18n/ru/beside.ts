/** Russian texts for alternative answers. */
import type { Entry } from "../index.svelte.ts";
import type { beside as english } from "../en/beside.ts";

export const beside: Record<keyof typeof english, Entry> = {
  "beside.title": "Сравнение ответов",
  "beside.ask": "Сравнить",
  "beside.with": "Сравнить с…",
  "beside.advanced": "Дополнительно…",
  "beside.about": "Задайте тот же вопрос другим моделям и сравните ответы рядом.",
  "beside.who": "Модели",
  "beside.samples": "Ответов от каждой модели",
  "beside.tooMany": "Всего можно выбрать от 1 до {most} ответов.",
  "beside.start": {
    one: "Получить {count} ответ",
    few: "Получить {count} ответа",
    many: "Получить {count} ответов",
    other: "Получить {count} ответов",
  },
  "beside.startNone": "Сравнить",
  "beside.count": {
    one: "{count} ответ рядом",
    few: "{count} ответа рядом",
    many: "{count} ответов рядом",
    other: "{count} ответов рядом",
  },
  "beside.answer": "Ответ {number}: {name}",
  "beside.stop": "Остановить ответ {number}",
  "beside.choose": "Выбрать ответ",
  "beside.chosen": "Выбран",
  "beside.merge": {
    one: "Объединить {count} ответ",
    few: "Объединить {count} ответа",
    many: "Объединить {count} ответов",
    other: "Объединить {count} ответов",
  },
  "beside.mergeHint": "Модель объединит готовые ответы в один. Незаконченные не войдут.",
  "beside.madeOf": {
    one: "Объединено из {count} ответа",
    few: "Объединено из {count} ответов",
    many: "Объединено из {count} ответов",
    other: "Объединено из {count} ответов",
  },
  "beside.costs": "Стоимость",
  "beside.merging": "Объединение, {name}",
  "beside.sum": "Итого",
};
