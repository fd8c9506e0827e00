/** Russian texts for hooks. */
import type { hooks as en } from "../en/hooks.ts";
import type { Entry } from "../index.svelte.ts";

export const hooks: Record<keyof typeof en, Entry> = {
  "hook.row": "Хук «{hook}» {when}: {did}",
  "hook.before_run": "перед запуском",
  "hook.after_run": "после запуска",
  "hook.before_model": "перед обращением к модели",
  "hook.after_model": "после ответа модели",
  "hook.before_tool": "перед {tool}",
  "hook.after_tool": "после {tool}",
  "hook.before_answer": "перед завершением ответа",
  "hook.after_answer": "перед показом ответа",
  "hook.allowedMany": {
    one: "{count} вызов хуков, разрешено",
    few: "{count} вызова хуков, всё разрешено",
    many: "{count} вызовов хуков, всё разрешено",
    other: "{count} вызова хуков, всё разрешено",
  },
  "hook.state.running": "выполняется…",
  "hook.state.allowed": "разрешил",
  "hook.state.changed": "внёс изменения",
  "hook.state.context": "добавил контекст",
  "hook.state.denied": "запретил",
  "hook.state.failed": "сбой",
  "hook.state.stopped": "прерван",
  "hooks.title": "Хуки",
  "hooks.intro":
    "Вызываются до и после запусков, обращений к моделям, вызовов инструментов и ответов. Задаются в файле конфигурации.",
  "hooks.none": "Хуков нет",
  "hooks.open": "При сбое пропускает",
  "hooks.closed": "При сбое запрещает",
  "hooks.only": "Только {names}",
  "hooks.kind.http": "HTTP",
  "hooks.kind.command": "Команда",
  "hooks.failed": "Последний вызов не удался: {error}",
  "hooks.calls": {
    one: "{count} вызов",
    few: "{count} вызова",
    many: "{count} вызовов",
    other: "{count} вызова",
  },
};
