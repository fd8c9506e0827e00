/** German texts for the steps of a run. */
import type { steps as en } from "../en/steps.ts";
import type { Entry } from "../index.svelte.ts";

export const steps: Record<keyof typeof en, Entry> = {
  "steps.memoryUpdating": "Erinnerung „{name}“ wird aktualisiert…",
  "steps.memoryFailed": "Erinnerung „{name}“ wurde nicht geändert",
  "steps.memoryChanged": "Gemerkt: „{name}“",
  "steps.memoryDeleted": "Vergessen: „{name}“",
  "steps.byProvider": "vom Anbieter ausgeführt",
  "steps.title": { one: "{count} Schritt", other: "{count} Schritte" },
  "steps.failed": { one: "{count} Fehler", other: "{count} Fehler" },
  "steps.agentsRunning": { one: "{count} Subagent läuft", other: "{count} Subagenten laufen" },
  "steps.agents": { one: "{count} Subagent", other: "{count} Subagenten" },
  "steps.search": "Schritte durchsuchen",
  "steps.noMatch": "Keine passenden Schritte",
  "steps.onlyPlan": "Nur der Plan wurde aktualisiert",
  "steps.loading": "Schritte werden geladen…",
  "steps.showAll": "Alle anzeigen",
  "steps.showMore": "Mehr laden",
  "steps.showLess": "Weniger anzeigen",
  "steps.arguments": "Argumente",
  "steps.wholeResult": "Vollständiges Ergebnis in {path}",
  "steps.program": "Programm",
  "steps.output": "Ausgabe",
  "steps.result": "Ergebnis",
  "steps.error": "Fehler",
  "steps.emptyResult": "Fertig (keine Ausgabe)",
  "steps.showHtml": "{name} anzeigen",
  "steps.truncated": "Ergebnis am Größenlimit abgeschnitten.",
  "steps.task": "Aufgabe",
  "steps.continues": "Setzt fort",
};
