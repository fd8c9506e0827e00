/** Japanese texts for the steps of a run. */
import type { steps as en } from "../en/steps.ts";
import type { Entry } from "../index.svelte.ts";

export const steps: Record<keyof typeof en, Entry> = {
  "steps.memoryUpdating": "メモリ「{name}」を更新中…",
  "steps.memoryFailed": "メモリ「{name}」は変更されませんでした",
  "steps.memoryChanged": "「{name}」を記憶しました",
  "steps.memoryDeleted": "「{name}」を忘れました",
  "steps.byProvider": "プロバイダーが実行",
  "steps.title": { other: "{count} ステップ" },
  "steps.failed": { other: "{count} 件失敗" },
  "steps.agentsRunning": { other: "サブエージェント {count} 個が実行中" },
  "steps.agents": { other: "サブエージェント {count} 個" },
  "steps.search": "ステップを検索",
  "steps.noMatch": "一致するステップはありません",
  "steps.onlyPlan": "計画の更新のみ",
  "steps.loading": "ステップを読み込み中…",
  "steps.showAll": "すべて表示",
  "steps.showMore": "さらに読み込む",
  "steps.showLess": "折りたたむ",
  "steps.arguments": "引数",
  "steps.wholeResult": "結果の全文は {path} にあります",
  "steps.program": "プログラム",
  "steps.output": "出力",
  "steps.result": "結果",
  "steps.error": "エラー",
  "steps.emptyResult": "完了（出力なし）",
  "steps.showHtml": "{name} を表示",
  "steps.truncated": "結果はサイズの上限で切り捨てられました。",
  "steps.task": "タスク",
  "steps.continues": "引き継ぎ元",
};
