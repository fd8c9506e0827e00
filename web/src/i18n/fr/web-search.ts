/** French texts for web search. */
import type { webSearch as en } from "../en/web-search.ts";
import type { Entry } from "../index.svelte.ts";

export const webSearch: Record<keyof typeof en, Entry> = {
  "webSearch.title": "Recherche web",
  "webSearch.intro": "Les agents et les recherches utilisent le premier service qui répond.",
  "webSearch.fixed": "Définie dans le fichier de configuration ou l’environnement, où elle se modifie.",
  "webSearch.add": "Ajouter un service de recherche",
  "webSearch.choose": "Choisir…",
  "webSearch.own": "Sites explorés",
  "webSearch.mcp": "Outil MCP",
  "webSearch.url": "URL de votre SearXNG",
  "webSearch.tool": "Outil",
  "webSearch.toolHint": "Son nom complet, tel qu’affiché sous « Serveurs MCP ».",
  "webSearch.ownHint": "Cherche dans les pages explorées et ajoutées aux collections.",
  "webSearch.up": "Déplacer {name} vers le haut",
  "webSearch.remove": "Retirer {name}",
  "webSearch.works": {
    one: "Le service fonctionne : {count} résultat. Premier : {title}",
    many: "Le service fonctionne : {count} de résultats. Premier : {title}",
    other: "Le service fonctionne : {count} résultats. Premier : {title}",
  },
  "webSearch.nothing": "Le service répond, mais n’a rien trouvé.",
};
