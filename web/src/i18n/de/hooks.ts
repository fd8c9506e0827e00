/** German texts for hooks. */
import type { hooks as en } from "../en/hooks.ts";
import type { Entry } from "../index.svelte.ts";

export const hooks: Record<keyof typeof en, Entry> = {
  "hook.row": "Hook „{hook}“ {when}: {did}",
  "hook.before_run": "vor der Ausführung",
  "hook.after_run": "nach der Ausführung",
  "hook.before_model": "vor dem Modellaufruf",
  "hook.after_model": "nach dem Modellaufruf",
  "hook.before_tool": "vor {tool}",
  "hook.after_tool": "nach {tool}",
  "hook.before_answer": "vor der Antwort",
  "hook.after_answer": "nach der Antwort",
  "hook.allowedMany": {
    one: "{count} Hook-Aufruf, erlaubt",
    other: "{count} Hook-Aufrufe, alle erlaubt",
  },
  "hook.state.running": "läuft…",
  "hook.state.allowed": "erlaubt",
  "hook.state.changed": "geändert",
  "hook.state.context": "Kontext ergänzt",
  "hook.state.denied": "abgelehnt",
  "hook.state.failed": "fehlgeschlagen",
  "hook.state.stopped": "gestoppt",
  "hooks.title": "Hooks",
  "hooks.intro":
    "Werden vor und nach Ausführungen, Modellaufrufen, Tool-Aufrufen und Antworten aufgerufen. Sie werden in der Konfigurationsdatei festgelegt.",
  "hooks.none": "Keine Hooks",
  "hooks.open": "Bei Fehler erlauben",
  "hooks.closed": "Bei Fehler ablehnen",
  "hooks.only": "Nur {names}",
  "hooks.kind.http": "HTTP",
  "hooks.kind.command": "Befehl",
  "hooks.failed": "Der letzte Aufruf ist fehlgeschlagen: {error}",
  "hooks.calls": { one: "{count} Aufruf", other: "{count} Aufrufe" },
};
