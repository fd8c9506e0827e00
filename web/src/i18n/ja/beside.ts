/** Japanese texts for alternative answers. */
import type { Entry } from "../index.svelte.ts";
import type { beside as english } from "../en/beside.ts";

export const beside: Record<keyof typeof english, Entry> = {
  "beside.title": "回答の比較",
  "beside.ask": "比較",
  "beside.with": "比較するモデル…",
  "beside.advanced": "詳細設定…",
  "beside.about": "同じ質問を他のモデルにもして、回答を並べて比較します。",
  "beside.who": "モデル",
  "beside.samples": "モデルごとの回答数",
  "beside.tooMany": "回答は合計 1～{most} 個にしてください。",
  "beside.start": { other: "{count} 個の回答を取得" },
  "beside.startNone": "比較",
  "beside.count": { other: "{count} 個の回答を並べて表示" },
  "beside.answer": "回答 {number}：{name}",
  "beside.stop": "回答 {number} を停止",
  "beside.choose": "この回答を使用",
  "beside.chosen": "使用中",
  "beside.merge": { other: "{count} 個の回答を統合" },
  "beside.mergeHint": "完了した回答をモデルが 1 つにまとめます。未完了の回答は含まれません。",
  "beside.madeOf": { other: "{count} 個の回答を統合" },
  "beside.costs": "コスト",
  "beside.merging": "統合（{name}）",
  "beside.sum": "合計",
};
