/** Simplified Chinese texts of notifications, also for the push worker. */
export const notifications = {
  "notice.done": "“{name}”已完成。",
  "notice.waits": "“{name}”需要处理。",
  "notice.failed": "“{name}”失败。",
  "notice.limited": "“{name}”已达上限。",
  "sidebar.untitled": "新对话",
};
