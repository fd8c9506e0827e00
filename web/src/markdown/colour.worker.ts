// The highlighting worker: one response per request, in order.

import { colourChunks } from "./colour";

export interface ColourRequest {
  lang: string;
  chunks: readonly string[];
}

/** The HTML of each chunk; `undefined` for an unknown language. */
export type ColourAnswer = string[] | undefined;

addEventListener("message", ({ data }: MessageEvent<ColourRequest>) => {
  const answer: ColourAnswer = colourChunks(data.lang, data.chunks);
  postMessage(answer);
});
