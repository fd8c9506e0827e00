/** Simplified Chinese texts for the steps of a run. */
import type { steps as en } from "../en/steps.ts";
import type { Entry } from "../index.svelte.ts";

export const steps: Record<keyof typeof en, Entry> = {
  "steps.memoryUpdating": "正在更新记忆“{name}”…",
  "steps.memoryFailed": "记忆“{name}”未更改",
  "steps.memoryChanged": "已记住“{name}”",
  "steps.memoryDeleted": "已忘记“{name}”",
  "steps.byProvider": "由提供商执行",
  "steps.title": { other: "{count} 个步骤" },
  "steps.failed": { other: "{count} 个失败" },
  "steps.agentsRunning": { other: "{count} 个子智能体运行中" },
  "steps.agents": { other: "{count} 个子智能体" },
  "steps.search": "搜索步骤",
  "steps.noMatch": "没有匹配的步骤",
  "steps.onlyPlan": "仅更新了计划",
  "steps.loading": "正在加载步骤…",
  "steps.showAll": "全部显示",
  "steps.showMore": "加载更多",
  "steps.showLess": "收起",
  "steps.arguments": "参数",
  "steps.wholeResult": "完整结果位于 {path}",
  "steps.program": "程序",
  "steps.output": "输出",
  "steps.result": "结果",
  "steps.error": "错误",
  "steps.emptyResult": "完成（无输出）",
  "steps.showHtml": "显示 {name}",
  "steps.truncated": "结果超出大小限制，已截断。",
  "steps.task": "任务",
  "steps.continues": "继续自",
};
