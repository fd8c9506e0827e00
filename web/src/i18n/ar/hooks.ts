/** Arabic texts for hooks. */
import type { hooks as en } from "../en/hooks.ts";
import type { Entry } from "../index.svelte.ts";

export const hooks: Record<keyof typeof en, Entry> = {
  "hook.row": "الخطّاف «{hook}» {when}: {did}",
  "hook.before_run": "قبل التشغيل",
  "hook.after_run": "بعد التشغيل",
  "hook.before_model": "قبل استدعاء النموذج",
  "hook.after_model": "بعد استدعاء النموذج",
  "hook.before_tool": "قبل {tool}",
  "hook.after_tool": "بعد {tool}",
  "hook.before_answer": "قبل الإجابة",
  "hook.after_answer": "بعد الإجابة",
  "hook.allowedMany": {
    zero: "{count} استدعاء للخطّافات، سُمح بها كلها",
    one: "استدعاء واحد لخطّاف، سُمح به",
    two: "استدعاءان للخطّافات، سُمح بهما",
    few: "{count} استدعاءات للخطّافات، سُمح بها كلها",
    many: "{count} استدعاءً للخطّافات، سُمح بها كلها",
    other: "{count} استدعاء للخطّافات، سُمح بها كلها",
  },
  "hook.state.running": "قيد التشغيل…",
  "hook.state.allowed": "سمح",
  "hook.state.changed": "أجرى تغييرًا",
  "hook.state.context": "أضاف سياقًا",
  "hook.state.denied": "رفض",
  "hook.state.failed": "فشل",
  "hook.state.stopped": "أُوقف",
  "hooks.title": "الخطّافات",
  "hooks.intro":
    "تُستدعى قبل عمليات التشغيل واستدعاءات النماذج والأدوات والإجابات وبعدها. تُضبط في ملف التكوين.",
  "hooks.none": "لا توجد خطّافات",
  "hooks.open": "يسمح عند الفشل",
  "hooks.closed": "يمنع عند الفشل",
  "hooks.only": "{names} فقط",
  "hooks.kind.http": "HTTP",
  "hooks.kind.command": "أمر",
  "hooks.failed": "فشل آخر استدعاء: {error}",
  "hooks.calls": {
    zero: "{count} استدعاء",
    one: "استدعاء واحد",
    two: "استدعاءان",
    few: "{count} استدعاءات",
    many: "{count} استدعاءً",
    other: "{count} استدعاء",
  },
};
