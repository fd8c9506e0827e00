/** Russian texts of temporary chats. */
export const temporary = {
  "temporary.title": "Временный чат",
  "temporary.note":
    "Чат удаляется, когда вы из него выходите. Его нет в списке и поиске, он не использует и не пополняет память.",
  "temporary.keep": "Сохранить чат",
  "temporary.kept": "Чат добавлен в список.",
};
