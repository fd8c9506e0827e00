/** French texts for the steps of a run. */
import type { steps as en } from "../en/steps.ts";
import type { Entry } from "../index.svelte.ts";

export const steps: Record<keyof typeof en, Entry> = {
  "steps.memoryUpdating": "Mise à jour du souvenir « {name} »…",
  "steps.memoryFailed": "Le souvenir « {name} » n’a pas été modifié",
  "steps.memoryChanged": "A mémorisé « {name} »",
  "steps.memoryDeleted": "A oublié « {name} »",
  "steps.byProvider": "exécuté par le fournisseur",
  "steps.title": { one: "{count} étape", many: "{count} d’étapes", other: "{count} étapes" },
  "steps.failed": { one: "{count} en échec", many: "{count} en échec", other: "{count} en échec" },
  "steps.agentsRunning": {
    one: "{count} sous-agent en cours",
    many: "{count} de sous-agents en cours",
    other: "{count} sous-agents en cours",
  },
  "steps.agents": {
    one: "{count} sous-agent",
    many: "{count} de sous-agents",
    other: "{count} sous-agents",
  },
  "steps.search": "Rechercher dans les étapes",
  "steps.noMatch": "Aucune étape correspondante",
  "steps.onlyPlan": "Seul le plan a été mis à jour",
  "steps.loading": "Chargement des étapes…",
  "steps.showAll": "Tout afficher",
  "steps.showMore": "Charger plus",
  "steps.showLess": "Afficher moins",
  "steps.arguments": "Arguments",
  "steps.wholeResult": "Résultat complet dans {path}",
  "steps.program": "Programme",
  "steps.output": "Sortie",
  "steps.result": "Résultat",
  "steps.error": "Erreur",
  "steps.emptyResult": "Terminé (aucune sortie)",
  "steps.showHtml": "Afficher {name}",
  "steps.truncated": "Résultat tronqué à la taille maximale.",
  "steps.task": "Tâche",
  "steps.continues": "Reprend",
};
