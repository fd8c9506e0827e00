/** Russian texts of notifications, also for the push worker. */
export const notifications = {
  "notice.done": "Готово: «{name}».",
  "notice.waits": "Чат «{name}» требует внимания.",
  "notice.failed": "Ошибка в чате «{name}».",
  "notice.limited": "Чат «{name}» достиг лимита.",
  "sidebar.untitled": "Новый чат",
};
