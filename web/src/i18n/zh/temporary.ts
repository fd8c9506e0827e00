/** Simplified Chinese texts of temporary chats. */
export const temporary = {
  "temporary.title": "临时对话",
  "temporary.note": "离开后此对话即被删除。它不会出现在列表或搜索中，也不会使用或新增记忆。",
  "temporary.keep": "保留对话",
  "temporary.kept": "对话已添加到列表。",
};
