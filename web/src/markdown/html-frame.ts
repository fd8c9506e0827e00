// Shows untrusted HTML in its own render frame: an opaque origin, no network, no scripts but the frame's.

import { withBase } from "../api/base.ts";
import type { HtmlRequest } from "../render-frame/protocol";

/** Maximum frame height, CSS pixels; longer documents scroll inside. */
const MAX_HEIGHT = 600;

/** Appends a frame with `html` to `place`; returns a function that removes it. */
export function showHtml(place: HTMLElement, html: string, title: string): () => void {
  const frame = document.createElement("iframe");
  frame.sandbox.add("allow-scripts");
  frame.src = withBase("/render-frame.html");
  frame.title = title;
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (typeof data === "number" && data > 0) frame.style.height = `${Math.min(data, MAX_HEIGHT)}px`;
  };
  frame.onload = () => {
    const request: HtmlRequest = { html };
    // An opaque origin cannot be named; the page's CSP allows the frame no other URL.
    frame.contentWindow?.postMessage(request, "*", [port2]);
    frame.onload = null;
  };
  place.append(frame);
  return () => {
    port1.close();
    frame.remove();
  };
}
