/** English texts of notifications, also for the push worker. */
export const notifications = {
  "notice.done": "“{name}” is done.",
  "notice.waits": "“{name}” needs your attention.",
  "notice.failed": "“{name}” failed.",
  "notice.limited": "“{name}” reached a limit.",
  "sidebar.untitled": "New chat",
};
