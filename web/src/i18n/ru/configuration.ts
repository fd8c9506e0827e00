/** Russian texts for the configuration page. */
export const configuration = {
  "settings.configuration": "Конфигурация",
  "configuration.intro":
    "Настройки, с которыми запущен сервер. Чтобы изменить, отредактируйте {file} или задайте переменную окружения и перезапустите сервер.",
  "configuration.introNoFile":
    "Настройки, с которыми запущен сервер. Чтобы изменить, создайте файл {file} или задайте переменную окружения и перезапустите сервер.",
  "configuration.search": "Поиск",
  "configuration.onlySet": "Только изменённые",
  "configuration.none": "Настроек не найдено",
  "configuration.server": "Сервер",
  "configuration.secret": "(секрет)",
  "configuration.default": "по умолчанию {value}",
  "configuration.from.default": "По умолчанию",
  "configuration.from.file": "Из файла",
  "configuration.from.environment": "Из окружения",
  "configuration.from.flag": "Из параметра запуска",
};
