/** Simplified Chinese texts for alternative answers. */
import type { Entry } from "../index.svelte.ts";
import type { beside as english } from "../en/beside.ts";

export const beside: Record<keyof typeof english, Entry> = {
  "beside.title": "并排比较回答",
  "beside.ask": "比较",
  "beside.with": "与…比较",
  "beside.advanced": "高级…",
  "beside.about": "向其他模型提出同样的问题，并排比较回答。",
  "beside.who": "模型",
  "beside.samples": "每个模型的回答数",
  "beside.tooMany": "回答总数须为 1 到 {most} 个。",
  "beside.start": { other: "获取 {count} 个回答" },
  "beside.startNone": "比较",
  "beside.count": { other: "{count} 个回答并排显示" },
  "beside.answer": "回答 {number}：{name}",
  "beside.stop": "停止回答 {number}",
  "beside.choose": "采用此回答",
  "beside.chosen": "已采用",
  "beside.merge": { other: "合并 {count} 个回答" },
  "beside.mergeHint": "由模型将已完成的回答合并成一个。未完成的回答不会纳入。",
  "beside.madeOf": { other: "由 {count} 个回答合并而成" },
  "beside.costs": "费用",
  "beside.merging": "合并，{name}",
  "beside.sum": "合计",
};
