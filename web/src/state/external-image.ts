/** Images of other sites, fetched by the server when a person asks for one: their sites see neither the person nor the page. */
import { fetchImage as fetchBlob } from "../api/calls.ts";
import { sentenceOf } from "./toasts.svelte.ts";

/** A `blob:` address of the image. Rejects with the reason in the reader's language. */
export async function fetchImage(url: string): Promise<string> {
  try {
    return URL.createObjectURL(await fetchBlob(url));
  } catch (cause) {
    throw new Error(sentenceOf(cause), { cause });
  }
}
