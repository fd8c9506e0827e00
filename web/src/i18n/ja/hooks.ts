/** Japanese texts for hooks. */
import type { hooks as en } from "../en/hooks.ts";
import type { Entry } from "../index.svelte.ts";

export const hooks: Record<keyof typeof en, Entry> = {
  "hook.row": "フック「{hook}」（{when}）：{did}",
  "hook.before_run": "実行前",
  "hook.after_run": "実行後",
  "hook.before_model": "モデル呼び出し前",
  "hook.after_model": "モデル呼び出し後",
  "hook.before_tool": "{tool} の前",
  "hook.after_tool": "{tool} の後",
  "hook.before_answer": "回答前",
  "hook.after_answer": "回答後",
  "hook.allowedMany": { other: "フック呼び出し {count} 件、すべて許可" },
  "hook.state.running": "実行中…",
  "hook.state.allowed": "許可",
  "hook.state.changed": "変更",
  "hook.state.context": "コンテキストを追加",
  "hook.state.denied": "拒否",
  "hook.state.failed": "失敗",
  "hook.state.stopped": "停止",
  "hooks.title": "フック",
  "hooks.intro":
    "実行、モデル呼び出し、ツール呼び出し、回答の前後に呼び出されます。構成ファイルで設定します。",
  "hooks.none": "フックはありません",
  "hooks.open": "失敗時は許可",
  "hooks.closed": "失敗時は拒否",
  "hooks.only": "{names} のみ",
  "hooks.kind.http": "HTTP",
  "hooks.kind.command": "コマンド",
  "hooks.failed": "前回の呼び出しに失敗：{error}",
  "hooks.calls": { other: "呼び出し {count} 回" },
};
