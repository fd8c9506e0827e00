/** Simplified Chinese texts for the form of example prompts. */
import type { startPrompts as en } from "../en/start-prompts.ts";
import type { Entry } from "../index.svelte.ts";

export const startPrompts: Record<keyof typeof en, Entry> = {
  "settings.prompts": "示例提示词",
  "startPrompts.intro": "所有人都会在新对话页面上看到这些提示词，内容与此处所写完全一致。",
  "startPrompts.builtIn": "新对话会以每位用户的语言显示内置示例。",
  "startPrompts.of": "示例 {number}",
  "startPrompts.title": "标题（可选）",
  "startPrompts.text": "提示词",
  "startPrompts.clickHint": "点击即发送提示词。如果以冒号结尾，则会放入消息框，供补充完整。",
  "startPrompts.add": "添加示例",
  "startPrompts.up": "上移示例 {number}",
  "startPrompts.down": "下移示例 {number}",
  "startPrompts.remove": "移除示例 {number}",
  "startPrompts.removed": "已移除示例",
  "startPrompts.missing": "请输入提示词。",
  "startPrompts.tooLong": "最多 {limit} 个字符（含标题）。",
  "startPrompts.useBuiltIn": "使用内置示例",
  "startPrompts.usesBuiltIn": "新对话将显示内置示例",
};
