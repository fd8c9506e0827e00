/** Arabic texts of notifications, also for the push worker. */
export const notifications = {
  "notice.done": "اكتملت «{name}».",
  "notice.waits": "تحتاج «{name}» إلى انتباهك.",
  "notice.failed": "فشلت «{name}».",
  "notice.limited": "بلغت «{name}» أحد الحدود.",
  "sidebar.untitled": "محادثة جديدة",
};
