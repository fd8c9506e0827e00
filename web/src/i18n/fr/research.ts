/** French texts for research. */
import type { research as en } from "../en/research.ts";
import type { Entry } from "../index.svelte.ts";

export const research: Record<keyof typeof en, Entry> = {
  "research.mode.chat": "Recherche : désactivée",
  "research.mode.research": "Recherche",
  "research.mode.deep": "Recherche approfondie",
  "research.modeHint":
    "Cherche, lit et rédige un rapport avec ses sources. Appuyez à nouveau pour la recherche approfondie, puis pour désactiver.",
  "research.web": "Recherche web",
  "research.webShort": "Web",
  "research.webHint": "Cherche sur le Web avant de répondre et cite ses sources.",
  "research.turn": "Tour {turn}",
  "research.plan": "Vérifier le plan",
  "research.planField": "Plan, un élément par ligne",
  "research.begin": "Lancer la recherche",
  "research.skip": "Sans vérification",
  "research.begun": "Lancée sans vérification.",
  "research.reportNow": "Rédiger le rapport",
  "research.reportNowHint": "Arrête de chercher et rédige le rapport à partir des éléments déjà réunis.",
  "research.sources": "Sources",
  "research.cited": "Citées ({count})",
  "research.all": "Toutes ({count})",
  "research.share": "{verified} citations sur {count} correspondent mot pour mot à leur source.",
  "research.verified": "Vérifiée : la citation figure dans la source",
  "research.unverified": "Non vérifiée : citation introuvable dans la source",
  "research.unconfirmed.number":
    "Citation trouvée, affirmation non confirmée : un chiffre de la phrase n’y figure pas",
  "research.unconfirmed.negation":
    "Citation trouvée, affirmation non confirmée : une seule des deux est à la forme négative",
  "research.unconfirmed.name":
    "Citation trouvée, affirmation non confirmée : un nom de la phrase n’y figure pas",
  "research.unconfirmed.quotation":
    "Citation trouvée, affirmation non confirmée : les mots entre guillemets n’y figurent pas",
  "research.openSource": "Ouvrir la source",
  "research.openCopy": "Ouvrir à la citation",
  "research.newAddress":
    "Cette URL ne vient ni de vous ni d’une recherche. Une URL peut divulguer ce que sait l’agent : vérifiez-la avant de l’autoriser.",
  "research.none": "Aucune source citée",
  "research.exportMarkdown": "Markdown",
  "research.exportPage": "HTML",
  "research.exportPdfHint":
    "Ouvre la fenêtre d’impression du navigateur : choisissez-y « Enregistrer au format PDF ».",
};
