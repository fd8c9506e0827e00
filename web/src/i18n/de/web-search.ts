/** German texts for web search. */
import type { webSearch as en } from "../en/web-search.ts";
import type { Entry } from "../index.svelte.ts";

export const webSearch: Record<keyof typeof en, Entry> = {
  "webSearch.title": "Websuche",
  "webSearch.intro": "Agenten und Recherchen suchen mit dem ersten Dienst, der antwortet.",
  "webSearch.fixed": "In der Konfigurationsdatei oder der Umgebung festgelegt und nur dort zu ändern.",
  "webSearch.add": "Suchdienst hinzufügen",
  "webSearch.choose": "Auswählen…",
  "webSearch.own": "Gecrawlte Websites",
  "webSearch.mcp": "MCP-Tool",
  "webSearch.url": "URL Ihrer SearXNG-Instanz",
  "webSearch.tool": "Tool",
  "webSearch.toolHint": "Der vollständige Name, wie unter „MCP-Server“ aufgeführt.",
  "webSearch.ownHint": "Durchsucht die Seiten, die in Sammlungen gecrawlt wurden.",
  "webSearch.up": "{name} nach oben verschieben",
  "webSearch.remove": "{name} entfernen",
  "webSearch.works": {
    one: "Funktioniert: {count} Ergebnis. Erstes: {title}",
    other: "Funktioniert: {count} Ergebnisse. Erstes: {title}",
  },
  "webSearch.nothing": "Der Dienst antwortet, hat aber nichts gefunden.",
};
