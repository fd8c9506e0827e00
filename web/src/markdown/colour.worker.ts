// The highlighting worker: one response per request, in order.

import { colourChunks } from "./colour";

/** A request; the response has the same `id`. */
export interface ColourRequest {
  id: number;
  lang: string;
  chunks: readonly string[];
}

export interface ColourAnswer {
  id: number;
  html: string[] | undefined;
}

addEventListener("message", ({ data }: MessageEvent<ColourRequest>) => {
  const answer: ColourAnswer = { id: data.id, html: colourChunks(data.lang, data.chunks) };
  postMessage(answer);
});
