/** Russian texts for research. */
export const research = {
  "research.mode.chat": "Исследование: выключено",
  "research.mode.research": "Исследование",
  "research.mode.deep": "Глубокое исследование",
  "research.modeHint":
    "Ищет, читает и пишет отчёт с источниками. Нажмите ещё раз для глубокого исследования, затем — чтобы выключить.",
  "research.web": "Поиск в интернете",
  "research.webShort": "Интернет",
  "research.webHint": "Сначала ищет в интернете, затем отвечает со ссылками на источники.",
  "research.turn": "Раунд {turn}",
  "research.plan": "Проверьте план",
  "research.planField": "План, по одному пункту на строке",
  "research.begin": "Начать исследование",
  "research.skip": "Пропустить проверку",
  "research.begun": "Проверка пропущена.",
  "research.reportNow": "Написать отчёт сейчас",
  "research.reportNowHint": "Останавливает поиск и пишет отчёт по уже найденному.",
  "research.sources": "Источники",
  "research.cited": "Процитированные ({count})",
  "research.all": "Все ({count})",
  "research.share": "Цитаты, дословно найденные в источниках: {verified} из {count}.",
  "research.verified": "Проверено: цитата есть в источнике",
  "research.unverified": "Не проверено: такой цитаты в источнике нет",
  "research.unconfirmed.number":
    "Цитата найдена, утверждение не подтверждено: в цитате нет числа из предложения",
  "research.unconfirmed.negation":
    "Цитата найдена, утверждение не подтверждено: отрицание есть только в одном из двух",
  "research.unconfirmed.name":
    "Цитата найдена, утверждение не подтверждено: в цитате нет имени из предложения",
  "research.unconfirmed.quotation": "Цитата найдена, утверждение не подтверждено: слов в кавычках в ней нет",
  "research.openSource": "Открыть источник",
  "research.openCopy": "Открыть на цитате",
  "research.newAddress":
    "Этот адрес указали не вы, и его не было в результатах поиска. Через адрес могут утечь данные, известные агенту: проверьте его, прежде чем разрешить.",
  "research.none": "Источники не указаны",
  "research.exportMarkdown": "Markdown",
  "research.exportPage": "HTML",
  "research.exportPdfHint": "Откроется окно печати браузера: выберите в нём «Сохранить как PDF».",
};
