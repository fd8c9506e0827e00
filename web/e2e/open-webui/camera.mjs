/** A stdio MCP server whose only tool returns an image and HTML, as cameras and charts do. */
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { crc32, deflateSync } from "node:zlib";

const WIDTH = 240;
const HEIGHT = 120;

function chunk(kind, data) {
  const body = Buffer.concat([Buffer.from(kind), data]);
  const frame = Buffer.alloc(8 + body.length);
  frame.writeUInt32BE(data.length);
  body.copy(frame, 4);
  frame.writeUInt32BE(crc32(body), 4 + body.length);
  return frame;
}

function png() {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(WIDTH);
  head.writeUInt32BE(HEIGHT, 4);
  head.set([8, 2], 8);
  const line = Buffer.from([0, ...Array.from({ length: WIDTH }, (_, x) => [x, 120, 200]).flat()]);
  const lines = Buffer.concat(Array.from({ length: HEIGHT }, () => line));
  const start = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const rest = [chunk("IHDR", head), chunk("IDAT", deflateSync(lines)), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([start, ...rest]);
}

export const PICTURE = png();
export const WIDE = WIDTH;
/** Path under which Glasshouse stores it: named by a hash of its content. */
export const PATH = `/results/camera--shoot-${createHash("sha256").update(PICTURE).digest("hex").slice(0, 12)}.png`;
const HTML = "<h2>Panel of the light</h2><p>It is on.</p>";

/** The Glasshouse configuration with this server. */
export const config = () => {
  const file = fileURLToPath(import.meta.url);
  return `[[mcp_servers]]\nname = "camera"\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(file)}]\n`;
};

function answer({ method }) {
  switch (method) {
    case "initialize": {
      const serverInfo = { name: "camera", version: "1" };
      return { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo };
    }
    case "tools/list": {
      const inputSchema = { type: "object", properties: {} };
      const annotations = { readOnlyHint: true };
      return { tools: [{ name: "shoot", description: "Takes a picture.", annotations, inputSchema }] };
    }
    case "tools/call":
      return {
        content: [
          { type: "image", mimeType: "image/png", data: PICTURE.toString("base64") },
          { type: "resource", resource: { uri: "ui://camera/panel", mimeType: "text/html", text: HTML } },
        ],
      };
    default:
      return {};
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const message = JSON.parse(line);
    if (message.id === undefined) return;
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, result: answer(message) })}\n`);
  });
}
