/** Spanish texts for web search. */
import type { webSearch as en } from "../en/web-search.ts";
import type { Entry } from "../index.svelte.ts";

export const webSearch: Record<keyof typeof en, Entry> = {
  "webSearch.title": "Búsqueda web",
  "webSearch.intro": "Los agentes y la investigación buscan con el primer servicio que responda.",
  "webSearch.fixed": "Se define en el archivo de configuración o en el entorno y se cambia allí.",
  "webSearch.add": "Añadir un servicio de búsqueda",
  "webSearch.choose": "Elegir…",
  "webSearch.own": "Sitios rastreados",
  "webSearch.mcp": "Herramienta MCP",
  "webSearch.url": "URL de tu SearXNG",
  "webSearch.tool": "Herramienta",
  "webSearch.toolHint": "Su nombre completo, tal como aparece en Servidores MCP.",
  "webSearch.ownHint": "Busca en las páginas rastreadas para las colecciones.",
  "webSearch.up": "Subir {name}",
  "webSearch.remove": "Quitar {name}",
  "webSearch.works": {
    one: "Funciona: {count} resultado. Primero: {title}",
    many: "Funciona: {count} de resultados. Primero: {title}",
    other: "Funciona: {count} resultados. Primero: {title}",
  },
  "webSearch.nothing": "Responde, pero no encontró nada.",
};
