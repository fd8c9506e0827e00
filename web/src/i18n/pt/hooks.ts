/** Portuguese texts for hooks. */
import type { hooks as en } from "../en/hooks.ts";
import type { Entry } from "../index.svelte.ts";

export const hooks: Record<keyof typeof en, Entry> = {
  "hook.row": "Hook “{hook}” {when}: {did}",
  "hook.before_run": "antes da execução",
  "hook.after_run": "após a execução",
  "hook.before_model": "antes da chamada do modelo",
  "hook.after_model": "após a chamada do modelo",
  "hook.before_tool": "antes de {tool}",
  "hook.after_tool": "após {tool}",
  "hook.before_answer": "antes da resposta",
  "hook.after_answer": "após a resposta",
  "hook.allowedMany": {
    one: "{count} chamada de hook, permitida",
    many: "{count} de chamadas de hooks, todas permitidas",
    other: "{count} chamadas de hooks, todas permitidas",
  },
  "hook.state.running": "em execução…",
  "hook.state.allowed": "permitiu",
  "hook.state.changed": "alterou",
  "hook.state.context": "adicionou contexto",
  "hook.state.denied": "negou",
  "hook.state.failed": "falhou",
  "hook.state.stopped": "parou",
  "hooks.title": "Hooks",
  "hooks.intro":
    "Chamados antes e depois de execuções, chamadas de modelo, chamadas de ferramenta e respostas. São definidos no arquivo de configuração.",
  "hooks.none": "Nenhum hook",
  "hooks.open": "Se falhar, permite",
  "hooks.closed": "Se falhar, nega",
  "hooks.only": "Só {names}",
  "hooks.kind.http": "HTTP",
  "hooks.kind.command": "Comando",
  "hooks.failed": "A última chamada falhou: {error}",
  "hooks.calls": { one: "{count} chamada", many: "{count} de chamadas", other: "{count} chamadas" },
};
