/** English texts of temporary chats. */
export const temporary = {
  "temporary.title": "Temporary chat",
  "temporary.note":
    "This chat is deleted when you leave it. It is not listed or searchable, and neither uses nor adds memories.",
  "temporary.keep": "Keep chat",
  "temporary.kept": "The chat is now in your list.",
};
