/** Japanese texts for the form of example prompts. */
import type { startPrompts as en } from "../en/start-prompts.ts";
import type { Entry } from "../index.svelte.ts";

export const startPrompts: Record<keyof typeof en, Entry> = {
  "settings.prompts": "プロンプトの例",
  "startPrompts.intro": "新しいチャットの画面で、ここに書いたとおりに全員に表示されます。",
  "startPrompts.builtIn": "新しいチャットには、組み込みの例が各ユーザーの言語で表示されます。",
  "startPrompts.of": "例 {number}",
  "startPrompts.title": "タイトル（任意）",
  "startPrompts.text": "プロンプト",
  "startPrompts.clickHint":
    "クリックするとプロンプトが送信されます。末尾がコロンの場合は、続きを書けるようメッセージ欄に入ります。",
  "startPrompts.add": "例を追加",
  "startPrompts.up": "例 {number} を上へ移動",
  "startPrompts.down": "例 {number} を下へ移動",
  "startPrompts.remove": "例 {number} を削除",
  "startPrompts.removed": "例を削除しました",
  "startPrompts.missing": "プロンプトを入力してください。",
  "startPrompts.tooLong": "タイトルを含めて {limit} 文字以内にしてください。",
  "startPrompts.useBuiltIn": "組み込みの例を使う",
  "startPrompts.usesBuiltIn": "新しいチャットに組み込みの例を表示します",
};
