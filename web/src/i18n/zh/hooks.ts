/** Simplified Chinese texts for hooks. */
import type { hooks as en } from "../en/hooks.ts";
import type { Entry } from "../index.svelte.ts";

export const hooks: Record<keyof typeof en, Entry> = {
  "hook.row": "钩子“{hook}”（{when}）：{did}",
  "hook.before_run": "运行前",
  "hook.after_run": "运行后",
  "hook.before_model": "模型调用前",
  "hook.after_model": "模型调用后",
  "hook.before_tool": "{tool} 前",
  "hook.after_tool": "{tool} 后",
  "hook.before_answer": "回答前",
  "hook.after_answer": "回答后",
  "hook.allowedMany": { other: "{count} 次钩子调用，全部允许" },
  "hook.state.running": "运行中…",
  "hook.state.allowed": "已允许",
  "hook.state.changed": "已修改",
  "hook.state.context": "已添加上下文",
  "hook.state.denied": "已拒绝",
  "hook.state.failed": "失败",
  "hook.state.stopped": "已停止",
  "hooks.title": "钩子",
  "hooks.intro": "在运行、模型调用、工具调用和回答的前后调用。在配置文件中设置。",
  "hooks.none": "没有钩子",
  "hooks.open": "失败时放行",
  "hooks.closed": "失败时拒绝",
  "hooks.only": "仅限 {names}",
  "hooks.kind.http": "HTTP",
  "hooks.kind.command": "命令",
  "hooks.failed": "上次调用失败：{error}",
  "hooks.calls": { other: "{count} 次调用" },
};
