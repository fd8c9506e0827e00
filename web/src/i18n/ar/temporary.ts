/** Arabic texts of temporary chats. */
export const temporary = {
  "temporary.title": "محادثة مؤقتة",
  "temporary.note":
    "تُحذف هذه المحادثة عند مغادرتها. لا تظهر في القائمة ولا في البحث، ولا تستخدم الذكريات ولا تضيف إليها.",
  "temporary.keep": "الاحتفاظ بالمحادثة",
  "temporary.kept": "أُضيفت المحادثة إلى قائمتك.",
};
