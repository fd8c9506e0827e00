// Script of the render frame: renders what the page sends and returns the drawing. It runs in a document with an opaque
// origin and without network, so hostile source can reach neither the page nor another server.

import { drawMermaid } from "./mermaid";
import type { HtmlRequest, RenderAnswer, RenderRequest } from "./protocol";
import { showHtml } from "./html";

addEventListener("message", (event: MessageEvent<RenderRequest | HtmlRequest>) => {
  const port = event.ports[0];
  if (event.source !== parent || !port) return;
  if ("html" in event.data) return showHtml(event.data.html, (height) => port.postMessage(height));
  const answer = (drawing: RenderAnswer): void => port.postMessage(drawing);
  drawMermaid(event.data).then(answer, () => answer(null));
});
