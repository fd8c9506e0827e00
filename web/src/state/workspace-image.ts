/** Images in answers that refer to the chat's files. */
import { withBase } from "../api/base.ts";
import { picturePath, readFile } from "../api/calls.ts";
import { openChat } from "./chat.svelte.ts";
import { seemsPicture } from "./files.svelte.ts";

const maxDrawingBytes = 2_000_000;

/**
 * URL of the image at a path. It is looked up only among the open chat's files; the server serves it only if it is an
 * image.
 */
export function workspaceImage(path: string): string | Promise<string> | undefined {
  const isDrawing = /\.svg$/i.test(path);
  if (openChat.id === null || !/^\/(?!\/)/.test(path) || !(isDrawing || seemsPicture(path))) return;
  try {
    const file = decodeURIComponent(path);
    return isDrawing ? drawing(openChat.id, file) : withBase(picturePath(openChat.id, file));
  } catch {
    return undefined;
  }
}

/** The server does not serve SVG inline, since it is a document with scripts; inside an image none of them runs. */
async function drawing(chat: string, path: string): Promise<string> {
  const bytes = await readFile(chat, path);
  if (bytes.byteLength > maxDrawingBytes) throw new Error("too large");
  return `data:image/svg+xml,${encodeURIComponent(new TextDecoder().decode(bytes))}`;
}
