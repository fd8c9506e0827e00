/** Russian texts for the configuration page. */
export const configuration = {
  "settings.configuration": "Конфигурация",
  "configuration.intro":
    "С чем запущен этот сервер. Чтобы изменить, запишите в {file} или задайте переменную окружения и перезапустите сервер.",
  "configuration.introNoFile":
    "С чем запущен этот сервер. Чтобы изменить, создайте файл {file} или задайте переменную окружения и перезапустите сервер.",
  "configuration.search": "Поиск",
  "configuration.onlySet": "Только заданное здесь",
  "configuration.none": "Таких настроек нет.",
  "configuration.server": "Сервер",
  "configuration.secret": "(секрет)",
  "configuration.default": "по умолчанию {value}",
  "configuration.from.default": "По умолчанию",
  "configuration.from.file": "Из файла",
  "configuration.from.environment": "Из окружения",
  "configuration.from.flag": "Из флага",
};
