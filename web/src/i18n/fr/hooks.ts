/** French texts for hooks. */
import type { hooks as en } from "../en/hooks.ts";
import type { Entry } from "../index.svelte.ts";

export const hooks: Record<keyof typeof en, Entry> = {
  "hook.row": "Hook « {hook} » {when} : {did}",
  "hook.before_run": "avant l’exécution",
  "hook.after_run": "après l’exécution",
  "hook.before_model": "avant l’appel au modèle",
  "hook.after_model": "après l’appel au modèle",
  "hook.before_tool": "avant {tool}",
  "hook.after_tool": "après {tool}",
  "hook.before_answer": "avant la réponse",
  "hook.after_answer": "après la réponse",
  "hook.allowedMany": {
    one: "{count} appel de hook, autorisé",
    many: "{count} d’appels de hooks, tous autorisés",
    other: "{count} appels de hooks, tous autorisés",
  },
  "hook.state.running": "en cours…",
  "hook.state.allowed": "autorisé",
  "hook.state.changed": "modifié",
  "hook.state.context": "contexte ajouté",
  "hook.state.denied": "refusé",
  "hook.state.failed": "échec",
  "hook.state.stopped": "arrêté",
  "hooks.title": "Hooks",
  "hooks.intro":
    "Appelés avant et après les exécutions, les appels aux modèles, les appels d’outils et les réponses. Ils sont définis dans le fichier de configuration.",
  "hooks.none": "Aucun hook",
  "hooks.open": "En cas d’échec : autoriser",
  "hooks.closed": "En cas d’échec : refuser",
  "hooks.only": "Seulement {names}",
  "hooks.kind.http": "HTTP",
  "hooks.kind.command": "Commande",
  "hooks.failed": "Le dernier appel a échoué : {error}",
  "hooks.calls": { one: "{count} appel", many: "{count} d’appels", other: "{count} appels" },
};
