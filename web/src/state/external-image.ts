/** External images, fetched by the server on click, so that their sites see neither the user nor the page. */
import { fetchImage as fetchBlob } from "../api/calls.ts";
import { sentenceOf } from "./toasts.svelte.ts";

/** Returns a `blob:` URL of the image. Rejects with a translated message. */
export async function fetchImage(url: string): Promise<string> {
  try {
    return URL.createObjectURL(await fetchBlob(url));
  } catch (cause) {
    throw new Error(sentenceOf(cause), { cause });
  }
}
