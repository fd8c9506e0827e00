/** Russian texts of notifications, also for the push worker. */
export const notifications = {
  "notice.done": "Готово: «{name}».",
  "notice.waits": "Чат «{name}» ждёт вас.",
  "notice.failed": "Не получилось: «{name}».",
  "notice.limited": "Чат «{name}» дошёл до предела.",
  "sidebar.untitled": "Новый чат",
};
