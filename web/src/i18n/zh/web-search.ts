/** Simplified Chinese texts for web search. */
import type { webSearch as en } from "../en/web-search.ts";
import type { Entry } from "../index.svelte.ts";

export const webSearch: Record<keyof typeof en, Entry> = {
  "webSearch.title": "网页搜索",
  "webSearch.intro": "智能体和研究按顺序使用第一个能返回结果的搜索服务。",
  "webSearch.fixed": "在配置文件或环境变量中设置，需在那里更改。",
  "webSearch.add": "添加搜索服务",
  "webSearch.choose": "请选择…",
  "webSearch.own": "已抓取的网站",
  "webSearch.mcp": "MCP 工具",
  "webSearch.url": "你的 SearXNG 的 URL",
  "webSearch.tool": "工具",
  "webSearch.toolHint": "完整名称，与“MCP 服务器”中列出的一致。",
  "webSearch.ownHint": "搜索已抓取到文档集中的网页。",
  "webSearch.up": "上移 {name}",
  "webSearch.remove": "移除 {name}",
  "webSearch.works": { other: "搜索正常，{count} 条结果。第一条：{title}" },
  "webSearch.nothing": "有响应，但没有找到结果。",
};
