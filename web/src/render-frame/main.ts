// The render frame's script: draws what the page sends and answers with the drawing. It runs in a document with an opaque
// origin and without network, so what hides in the source can reach neither the page nor another server.

import { drawMermaid } from "./mermaid";
import type { RenderAnswer, RenderRequest } from "./protocol";

addEventListener("message", (event: MessageEvent<RenderRequest>) => {
  const port = event.ports[0];
  if (event.source !== parent || !port) return;
  const answer = (drawing: RenderAnswer): void => port.postMessage(drawing);
  drawMermaid(event.data).then(answer, () => answer(null));
});
