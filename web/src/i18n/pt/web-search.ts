/** Portuguese texts for web search. */
import type { webSearch as en } from "../en/web-search.ts";
import type { Entry } from "../index.svelte.ts";

export const webSearch: Record<keyof typeof en, Entry> = {
  "webSearch.title": "Busca na web",
  "webSearch.intro": "Os agentes e a pesquisa buscam com o primeiro serviço que responder.",
  "webSearch.fixed": "Definida no arquivo de configuração ou no ambiente e alterada por lá.",
  "webSearch.add": "Adicionar um serviço de busca",
  "webSearch.choose": "Escolha…",
  "webSearch.own": "Sites rastreados",
  "webSearch.mcp": "Ferramenta MCP",
  "webSearch.url": "URL do seu SearXNG",
  "webSearch.tool": "Ferramenta",
  "webSearch.toolHint": "O nome completo, como aparece em Servidores MCP.",
  "webSearch.ownHint": "Busca nas páginas rastreadas para as coleções.",
  "webSearch.up": "Mover {name} para cima",
  "webSearch.remove": "Remover {name}",
  "webSearch.works": {
    one: "Funciona: {count} resultado. Primeiro: {title}",
    many: "Funciona: {count} de resultados. Primeiro: {title}",
    other: "Funciona: {count} resultados. Primeiro: {title}",
  },
  "webSearch.nothing": "Responde, mas não encontrou nada.",
};
