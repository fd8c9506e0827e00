/** Japanese texts for data export, import and account deletion in the settings. */
import type { Entry } from "../index.svelte.ts";
import type { data as en } from "../en/data.ts";

export const data: Record<keyof typeof en, Entry> = {
  "settings.data": "エクスポートとインポート",
  "data.export": "エクスポート",
  "data.exportText":
    "すべてのデータを 1 つのファイルにまとめます。全ブランチと実行ログを含むチャット、ファイル、ドキュメントコレクション、メモリ、スケジュール、キーの名前が対象です。パスワードとキーは含まれません。",
  "data.exportDo": "データをダウンロード",
  "data.import": "インポート",
  "data.importText":
    "Glasshouse のエクスポート、または ChatGPT、Claude、Open WebUI、LibreChat のチャットをこのアカウントにインポートします。既存のデータは残り、重複しません。スケジュールはオフの状態でインポートされます。",
  "data.importFiles":
    "ChatGPT と Claude：受け取った ZIP ファイルのまま選択できます。その他：.json または .jsonl。",
  "data.choose": "ファイルを選択",
  "data.dropHere": "またはここにドロップ",
  "data.sending": "{name}（{size}）をインポート中…",
  "data.made": "インポート済み",
  "data.here": "既存",
  "data.left": "スキップ",
  "data.leftMore": { other: "ほか {count} 件" },
  "data.nothingNew": "新しくインポートするものはありません。",
  "data.count.chats": { other: "チャット {count} 件" },
  "data.count.messages": { other: "メッセージ {count} 件" },
  "data.count.runs": { other: "実行 {count} 件" },
  "data.count.files": { other: "ファイル {count} 件" },
  "data.count.memories": { other: "メモリ {count} 件" },
  "data.count.facts": { other: "学習した情報 {count} 件" },
  "data.count.schedules": { other: "スケジュール {count} 件" },
  "data.count.collections": { other: "コレクション {count} 件" },
  "data.count.sources": { other: "{count} 件のソース" },
  "data.count.documents": { other: "ドキュメント {count} 件" },
  "data.what.chat": "チャット",
  "data.what.message": "メッセージ",
  "data.what.run": "実行",
  "data.what.file": "ファイル",
  "data.what.memory": "メモリ",
  "data.what.fact": "学習した情報",
  "data.what.schedule": "スケジュール",
  "data.what.collection": "コレクション",
  "data.what.source": "ソース",
  "data.what.document": "ドキュメント",
  "data.what.key": "キー",
  "data.what.agent": "エージェント",
  "data.what.line": "行",
  "data.end": "アカウントを削除",
  "data.endText": "アカウントとその内容をすべて完全に削除します。先にデータをエクスポートしてください。",
};
