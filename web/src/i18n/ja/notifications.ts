/** Japanese texts of notifications, also for the push worker. */
export const notifications = {
  "notice.done": "「{name}」が完了しました。",
  "notice.waits": "「{name}」は対応が必要です。",
  "notice.failed": "「{name}」が失敗しました。",
  "notice.limited": "「{name}」が上限に達しました。",
  "sidebar.untitled": "新しいチャット",
};
