/** English texts of notifications, also for the push worker. */
export const notifications = {
  "notice.done": "“{name}” is done.",
  "notice.waits": "“{name}” waits for you.",
  "notice.failed": "“{name}” failed.",
  "notice.limited": "“{name}” has come to a limit.",
  "sidebar.untitled": "New chat",
};
