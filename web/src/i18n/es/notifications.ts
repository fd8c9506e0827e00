/** Spanish texts of notifications, also for the push worker. */
export const notifications = {
  "notice.done": "«{name}» ha terminado.",
  "notice.waits": "«{name}» requiere tu atención.",
  "notice.failed": "«{name}» ha fallado.",
  "notice.limited": "«{name}» ha alcanzado un límite.",
  "sidebar.untitled": "Chat nuevo",
};
