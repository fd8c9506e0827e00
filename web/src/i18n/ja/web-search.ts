/** Japanese texts for web search. */
import type { webSearch as en } from "../en/web-search.ts";
import type { Entry } from "../index.svelte.ts";

export const webSearch: Record<keyof typeof en, Entry> = {
  "webSearch.title": "ウェブ検索",
  "webSearch.intro": "エージェントとリサーチは上から順に検索し、最初に結果を返したサービスを使います。",
  "webSearch.fixed": "構成ファイルまたは環境変数で設定されたもので、変更もそこで行います。",
  "webSearch.add": "検索サービスを追加",
  "webSearch.choose": "選択…",
  "webSearch.own": "クロール済みサイト",
  "webSearch.mcp": "MCP ツール",
  "webSearch.url": "SearXNG の URL",
  "webSearch.tool": "ツール",
  "webSearch.toolHint": "「MCP サーバー」の一覧にある完全な名前。",
  "webSearch.ownHint": "クロールしてコレクションに追加されたページを検索します。",
  "webSearch.up": "{name} を上へ移動",
  "webSearch.remove": "{name} を削除",
  "webSearch.works": { other: "検索は正常です。結果 {count} 件。先頭：{title}" },
  "webSearch.nothing": "応答しましたが、結果はありませんでした。",
};
