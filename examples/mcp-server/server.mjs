/** An MCP server over stdio with two tools: one that only reads, and one that changes something. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const stock = new Map([
  ["apples", 12],
  ["pears", 3],
]);

const server = new McpServer({ name: "stock", version: "1.0.0" });

// `readOnlyHint` lets Glasshouse call it without asking a person; see `approval` in docs/tools/mcp-servers.md.
server.registerTool(
  "count",
  {
    description: "Say how many of an item are in stock.",
    inputSchema: { item: z.string().describe("For example “apples”") },
    outputSchema: { item: z.string(), count: z.number() },
    annotations: { readOnlyHint: true },
  },
  ({ item }) => {
    const counted = { item, count: stock.get(item) ?? 0 };
    return { content: [{ type: "text", text: `${counted.count} ${item}` }], structuredContent: counted };
  },
);

// Without the hint each call waits for approval. What goes wrong is told to the model, which can react to it.
server.registerTool(
  "order",
  {
    description: "Order more of an item.",
    inputSchema: { item: z.string(), amount: z.number().int().positive().max(100) },
  },
  ({ item, amount }) => {
    if (!stock.has(item)) {
      return { isError: true, content: [{ type: "text", text: `Unknown item: ${item}` }] };
    }
    stock.set(item, stock.get(item) + amount);
    return { content: [{ type: "text", text: `Ordered ${amount} ${item}; ${stock.get(item)} in stock` }] };
  },
);

await server.connect(new StdioServerTransport());
