/** Russian texts for the embedding model settings. */
import type { embedding as en } from "../en/embedding.ts";
import type { Entry } from "../index.svelte.ts";

export const embedding: Record<keyof typeof en, Entry> = {
  "embedding.title": "Поиск по смыслу",
  "embedding.intro": "С моделью эмбеддингов отрывки находятся по смыслу, а не только по словам.",
  "embedding.inForce": "Активная модель",
  "embedding.none": "Поиск по смыслу выключен",
  "embedding.builtIn": "Встроенная (английский)",
  "embedding.from.page": "выбрана здесь",
  "embedding.from.configuration": "из конфигурации",
  "embedding.dimensions": "Размерность",
  "embedding.notYet": "станет известна после первого документа",
  "embedding.progress": "Документы",
  "embedding.done": "Готово {whole} из {documents} ({percent} %)",
  "embedding.failed": {
    one: "{count} с ошибкой",
    few: "{count} с ошибкой",
    many: "{count} с ошибкой",
    other: "{count} с ошибкой",
  },
  "embedding.noDocuments": "Документов пока нет",
  "embedding.earlier": "До тех пор используется {model}, документов: {count}.",
  "embedding.problem": "Приостановлено. {message}",
  "embedding.choose": "Модель",
  "embedding.asConfigured": "Из конфигурации ({model})",
  "embedding.likely": "Похожи на модели эмбеддингов",
  "embedding.others": "Другие модели",
  "embedding.noModels": "Подключите сервер с моделью эмбеддингов, и её можно будет выбрать здесь.",
  "embedding.queryPrefix": "Префикс запроса",
  "embedding.passagePrefix": "Префикс отрывка",
  "embedding.prefixHint": "Нужен некоторым моделям; смотрите документацию модели. Пробелы учитываются.",
  "embedding.try": "Проверить",
  "embedding.trying": "Проверяем…",
  "embedding.tried": "Одно предложение заняло {time} и стало вектором размерности {dimensions}.",
  "embedding.anew":
    "Все документы будут векторизованы заново, в фоне и за счёт владельцев. До тех пор используются текущие векторы.",
  "embedding.turnsOff": "Поиск по смыслу выключится. Векторы будут удалены через час.",
  "audit.area.embedding": "Модель эмбеддингов",
  "audit.embedding.change": "Изменена модель эмбеддингов",
  "audit.embedding.try": "Проверена модель эмбеддингов",
  "documents.models": "Модели для документов",
  "documents.modelsIntro":
    "Они обрабатывают документы в фоне и при поиске. Их токены учитываются в использовании.",
};
