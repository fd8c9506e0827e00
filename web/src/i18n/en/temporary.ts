/** English texts of temporary chats. */
export const temporary = {
  "temporary.title": "Temporary chat",
  "temporary.note":
    "This chat is deleted when you leave it. It isn’t listed or searchable, and doesn’t use or add memories.",
  "temporary.keep": "Keep chat",
  "temporary.kept": "Chat added to your list.",
};
