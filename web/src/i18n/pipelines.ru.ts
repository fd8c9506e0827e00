/** Russian for the pipelines: small model calls around a chat. */
import type { Entry } from "./index.svelte.ts";
import type { pipelines as en } from "./pipelines.en.ts";

export const pipelines: Record<keyof typeof en, Entry> = {
  "settings.pipelines": "Пайплайны",
  "pipelines.intro":
    "Небольшие вызовы моделей вокруг чата. Ответ ждёт только поисковых запросов, и не дольше нескольких секунд. Суммы — за последнюю неделю.",
  "pipelines.taskModels": "В настройках сервера для них указана модель: {models}.",
  "pipelines.title": "Заголовок",
  "pipelines.title.hint": "Чат называется по первым словам, пока модель не найдёт заголовок лучше.",
  "pipelines.tags": "Метки",
  "pipelines.tags.hint": "От одного до трёх слов, по которым чаты удобно искать.",
  "pipelines.follow_ups": "Продолжения",
  "pipelines.follow_ups.hint": "Что можно сказать дальше, под каждым ответом.",
  "pipelines.queries": "Поисковые запросы",
  "pipelines.queries.hint": "Что искать перед ответом, решается по всему чату.",
  "pipelines.queries.web": "В сети",
  "pipelines.queries.webHint": "Там, где включён поиск в сети. Иначе ищется само сообщение.",
  "pipelines.queries.documents": "В документах",
  "pipelines.queries.documentsHint":
    "Для следующих сообщений в чате с коллекциями. Первое сообщение само служит запросом.",
  "pipelines.rag": "Найденное",
  "pipelines.rag.hint": "Как модели сообщают отрывки документов и страниц.",
  "pipelines.autocomplete": "Автодополнение",
  "pipelines.autocomplete.hint":
    "Как продолжится текст, который человек пишет, серым цветом: Tab его принимает.",
  "pipelines.moa": "Сведение ответов",
  "pipelines.moa.hint": "Как несколько ответов на сообщение становятся одним, когда кто-то об этом просит.",
  "pipelines.moa.samples": "Ответы одной модели",
  "pipelines.moa.samplesHint":
    "Сколько ответов сначала предлагает «Спросить других». Тот, кто спрашивает, может выбрать другое число.",
  "pipelines.moa.layers": "Слои ответов",
  "pipelines.moa.layersHint":
    "Если 2 или 3, перед сведением модели этих ответов отвечают ещё раз, видя все ответы предыдущего слоя. Каждый слой стоит примерно столько же, сколько сами ответы.",
  "pipelines.tools": "Инструменты словами",
  "pipelines.tools.hint":
    "Как об инструментах говорят моделям, которые не могут вызывать их иначе. Если выключено, у таких моделей их нет.",
  "pipelines.code_interpreter": "Интерпретатор кода",
  "pipelines.code_interpreter.hint":
    "Такие модели пишут Python между тегами, и он выполняется. Если выключено, они вызывают его, как другие инструменты.",
  "pipelines.calls": {
    one: "{count} вызов",
    few: "{count} вызова",
    many: "{count} вызовов",
    other: "{count} вызова",
  },
  "pipelines.failed": "без пользы: {count}",
  "pipelines.cancelled": "отменено: {count}",
  "pipelines.tokens": "токенов: {tokens}",
  "pipelines.lastFailure": "Последний сбой ({at}):",
  "pipelines.latest": "Последние вызовы",
  "pipelines.change": "Изменить",
  "pipelines.template": "Шаблон",
  "pipelines.templateHint":
    "Имена в двойных фигурных скобках заменяются: MESSAGES:END:6, prompt, CURRENT_DATE, USER_NAME и другие. Шаблоны Open WebUI можно вставить как есть.",
  "pipelines.preview": "Предпросмотр",
  "pipelines.try": "Спросить модель",
  "pipelines.reset": "Сбросить",
  "pipelines.noChat": "У вас нет чата, на котором это можно показать.",
  "pipelines.ofChat": "На вашем последнем чате: {chat}",
  "pipelines.answerOf": "Ответ модели {model}",
  "pipelines.model": "Модель",
  "pipelines.modelDefault": "Из настроек сервера, иначе модель чата",
  "pipelines.outputTokens": "Сколько токенов можно написать",
  "pipelines.seconds": "Сколько секунд это может занять",
  "pipelines.badNumber": "Нужно целое число.",
  "pipelines.outcome.done": "готово",
  "pipelines.outcome.fallback": "ответ не подошёл",
  "pipelines.outcome.failed": "сбой",
  "pipelines.outcome.cancelled": "отменено",
  "debug.beside": {
    one: "{count} вызов модели рядом с запуском",
    few: "{count} вызова модели рядом с запуском",
    many: "{count} вызовов модели рядом с запуском",
    other: "{count} вызова модели рядом с запуском",
  },
  "followUps.title": "Что можно сказать дальше",
  "followUps.edit": "Сначала изменить",
  "settings.completions": "Дополнять то, что я пишу",
  "settings.completionsHint":
    "Серые слова показывают, как продолжить сообщение: Tab принимает их все, стрелка вправо — одно слово.",
  "audit.area.pipeline": "Пайплайны",
  "audit.pipeline.change": "Изменён пайплайн",
  "audit.pipeline.try": "Испытан пайплайн",
};
