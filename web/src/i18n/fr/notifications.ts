/** French texts of notifications, also for the push worker. */
export const notifications = {
  "notice.done": "« {name} » est terminé.",
  "notice.waits": "« {name} » requiert votre attention.",
  "notice.failed": "« {name} » a échoué.",
  "notice.limited": "« {name} » a atteint une limite.",
  "sidebar.untitled": "Nouveau chat",
};
