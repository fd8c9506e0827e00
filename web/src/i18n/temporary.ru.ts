/** Russian texts of temporary chats. */
export const temporary = {
  "temporary.title": "Временный чат",
  "temporary.note":
    "Чат удаляется, когда вы из него выходите. Его нет в списке и в поиске, он не использует память и не пополняет её.",
  "temporary.keep": "Сохранить чат",
  "temporary.kept": "Чат добавлен в список.",
};
