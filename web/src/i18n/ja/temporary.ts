/** Japanese texts of temporary chats. */
export const temporary = {
  "temporary.title": "一時チャット",
  "temporary.note":
    "このチャットは、離れると削除されます。一覧や検索には表示されず、メモリの使用や追加も行いません。",
  "temporary.keep": "チャットを残す",
  "temporary.kept": "チャットを一覧に追加しました。",
};
