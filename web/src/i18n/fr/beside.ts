/** French texts for alternative answers. */
import type { beside as en } from "../en/beside.ts";
import type { Entry } from "../index.svelte.ts";

export const beside: Record<keyof typeof en, Entry> = {
  "beside.title": "Réponses côte à côte",
  "beside.ask": "Comparer",
  "beside.with": "Comparer avec…",
  "beside.advanced": "Avancé…",
  "beside.about": "Posez la même question à d’autres modèles et comparez les réponses côte à côte.",
  "beside.who": "Modèles",
  "beside.samples": "Réponses par modèle",
  "beside.tooMany": "Choisissez de 1 à {most} réponses au total.",
  "beside.start": {
    one: "Obtenir {count} réponse",
    many: "Obtenir {count} de réponses",
    other: "Obtenir {count} réponses",
  },
  "beside.startNone": "Comparer",
  "beside.count": {
    one: "{count} réponse côte à côte",
    many: "{count} de réponses côte à côte",
    other: "{count} réponses côte à côte",
  },
  "beside.answer": "Réponse {number} : {name}",
  "beside.stop": "Arrêter la réponse {number}",
  "beside.choose": "Utiliser cette réponse",
  "beside.chosen": "Utilisée",
  "beside.merge": {
    one: "Fusionner {count} réponse",
    many: "Fusionner {count} de réponses",
    other: "Fusionner {count} réponses",
  },
  "beside.mergeHint":
    "Un modèle combine les réponses terminées en une seule. Les réponses inachevées sont ignorées.",
  "beside.madeOf": {
    one: "Fusion de {count} réponse",
    many: "Fusion de {count} de réponses",
    other: "Fusion de {count} réponses",
  },
  "beside.costs": "Coût",
  "beside.merging": "Fusion, {name}",
  "beside.sum": "Total",
};
