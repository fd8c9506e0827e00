/** Russian texts for the embedding model settings. */
import type { embedding as en } from "./embedding.en.ts";
import type { Entry } from "./index.svelte.ts";

export const embedding: Record<keyof typeof en, Entry> = {
  "settings.documents": "Документы",
  "embedding.title": "Смысл",
  "embedding.intro":
    "С моделью эмбеддингов отрывки находятся по смыслу, какими бы словами он ни был выражен. Без неё сравниваются только слова.",
  "embedding.inForce": "Действует",
  "embedding.none": "Никакой: только слова",
  "embedding.builtIn": "Встроенная (английский)",
  "embedding.from.page": "выбрана здесь",
  "embedding.from.configuration": "так сказано в настройках сервера",
  "embedding.dimensions": "Размерность",
  "embedding.notYet": "станет известно с первым готовым документом",
  "embedding.progress": "Документы",
  "embedding.done": "Готово {whole} из {documents} ({percent} %)",
  "embedding.failed": {
    one: "{count} не получается",
    few: "{count} не получаются",
    many: "{count} не получаются",
    other: "{count} не получаются",
  },
  "embedding.noDocuments": "Документов ещё нет.",
  "embedding.earlier": "До тех пор служит {model}, документов: {count}.",
  "embedding.problem": "Сейчас дальше не идёт. {message}",
  "embedding.choose": "Модель",
  "embedding.asConfigured": "Как сказано в настройках сервера ({model})",
  "embedding.likely": "Судя по названию, сделаны для этого",
  "embedding.others": "Другие модели",
  "embedding.noModels": "Подключите сервер с моделью эмбеддингов, и её можно будет выбрать здесь.",
  "embedding.queryPrefix": "Слова перед вопросом",
  "embedding.passagePrefix": "Слова перед отрывком",
  "embedding.prefixHint": "Нужны некоторым моделям; какие именно, говорят их авторы. Пробелы важны.",
  "embedding.try": "Попробовать",
  "embedding.trying": "Проверяется…",
  "embedding.tried": "Одно предложение заняло {time} и стало вектором размерности {dimensions}.",
  "embedding.anew":
    "Каждый документ обрабатывается заново, в фоне и за счёт владельца. До тех пор служит то, что есть.",
  "embedding.turnsOff": "Смысл больше не сравнивается. Сделанное моделью удаляется через час.",
  "audit.area.embedding": "Модель эмбеддингов",
  "audit.embedding.change": "Выбрана другая модель эмбеддингов",
  "audit.embedding.try": "Проверена модель эмбеддингов",
};
