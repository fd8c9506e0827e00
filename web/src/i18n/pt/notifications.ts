/** Portuguese texts of notifications, also for the push worker. */
export const notifications = {
  "notice.done": "“{name}” terminou.",
  "notice.waits": "“{name}” precisa da sua atenção.",
  "notice.failed": "“{name}” falhou.",
  "notice.limited": "“{name}” atingiu um limite.",
  "sidebar.untitled": "Novo chat",
};
