/** Russian texts for alternative answers. */
import type { Entry } from "./index.svelte.ts";
import type { beside as english } from "./beside.en.ts";

export const beside: Record<keyof typeof english, Entry> = {
  "beside.title": "Ответы рядом",
  "beside.ask": "Спросить других",
  "beside.about":
    "Они ответят на то же сообщение рядом с этим ответом. Несколько ответов одной хорошей модели часто полезнее ответов моделей послабее.",
  "beside.who": "Кто отвечает",
  "beside.samples": "Ответов от каждого",
  "beside.tooMany": "Всего можно выбрать от 1 до {most} ответов.",
  "beside.start": {
    one: "Попросить {count} ответ",
    few: "Попросить {count} ответа",
    many: "Попросить {count} ответов",
    other: "Попросить {count} ответов",
  },
  "beside.startNone": "Попросить",
  "beside.count": {
    one: "{count} ответ рядом",
    few: "{count} ответа рядом",
    many: "{count} ответов рядом",
    other: "{count} ответов рядом",
  },
  "beside.answer": "Ответ {number}: {name}",
  "beside.stop": "Остановить ответ {number}",
  "beside.choose": "Выбрать",
  "beside.chosen": "Выбран",
  "beside.merge": {
    one: "Свести ({count} ответ)",
    few: "Свести ({count} ответа)",
    many: "Свести ({count} ответов)",
    other: "Свести ({count} ответов)",
  },
  "beside.mergeHint": "Модель напишет один ответ по тем, что закончены. Остальные не войдут.",
  "beside.madeOf": {
    one: "Из {count} ответа",
    few: "Из {count} ответов",
    many: "Из {count} ответов",
    other: "Из {count} ответов",
  },
  "beside.costs": "Сколько это стоило",
  "beside.merging": "Сведение, {name}",
  "beside.sum": "Вместе",
};
