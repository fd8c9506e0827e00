/** Spanish texts for hooks. */
import type { hooks as en } from "../en/hooks.ts";
import type { Entry } from "../index.svelte.ts";

export const hooks: Record<keyof typeof en, Entry> = {
  "hook.row": "Hook «{hook}» {when}: {did}",
  "hook.before_run": "antes de la ejecución",
  "hook.after_run": "tras la ejecución",
  "hook.before_model": "antes de la llamada al modelo",
  "hook.after_model": "tras la llamada al modelo",
  "hook.before_tool": "antes de {tool}",
  "hook.after_tool": "tras {tool}",
  "hook.before_answer": "antes de la respuesta",
  "hook.after_answer": "tras la respuesta",
  "hook.allowedMany": {
    one: "{count} llamada a hooks, permitida",
    many: "{count} de llamadas a hooks, todas permitidas",
    other: "{count} llamadas a hooks, todas permitidas",
  },
  "hook.state.running": "en ejecución…",
  "hook.state.allowed": "permitido",
  "hook.state.changed": "con cambios",
  "hook.state.context": "contexto añadido",
  "hook.state.denied": "denegado",
  "hook.state.failed": "error",
  "hook.state.stopped": "detenido",
  "hooks.title": "Hooks",
  "hooks.intro":
    "Se llaman antes y después de las ejecuciones, las llamadas a modelos, las llamadas a herramientas y las respuestas. Se definen en el archivo de configuración.",
  "hooks.none": "No hay hooks",
  "hooks.open": "Si falla, permite",
  "hooks.closed": "Si falla, deniega",
  "hooks.only": "Solo {names}",
  "hooks.kind.http": "HTTP",
  "hooks.kind.command": "Comando",
  "hooks.failed": "La última llamada falló: {error}",
  "hooks.calls": { one: "{count} llamada", many: "{count} de llamadas", other: "{count} llamadas" },
};
