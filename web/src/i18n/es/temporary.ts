/** Spanish texts of temporary chats. */
export const temporary = {
  "temporary.title": "Chat temporal",
  "temporary.note":
    "Este chat se elimina al salir de él. No aparece en la lista ni en las búsquedas, y no usa ni añade recuerdos.",
  "temporary.keep": "Conservar chat",
  "temporary.kept": "Chat añadido a tu lista.",
};
