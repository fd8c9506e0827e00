/** English texts for web search. */
export const webSearch = {
  "webSearch.title": "Web search",
  "webSearch.intro": "Agents and research search with the first service that answers.",
  "webSearch.fixed": "Set in the configuration file or the environment, and changed there.",
  "webSearch.add": "Add a search service",
  "webSearch.choose": "Choose…",
  "webSearch.own": "Crawled sites",
  "webSearch.mcp": "MCP tool",
  "webSearch.url": "URL of your SearXNG",
  "webSearch.tool": "Tool",
  "webSearch.toolHint": "Its full name, as listed under MCP servers.",
  "webSearch.ownHint": "Searches the pages that were crawled into collections.",
  "webSearch.up": "Move {name} up",
  "webSearch.remove": "Remove {name}",
  "webSearch.works": {
    one: "It works: {count} result. First: {title}",
    other: "It works: {count} results. First: {title}",
  },
  "webSearch.nothing": "It answers, but found nothing.",
};
