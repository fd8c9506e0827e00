/** What a link to a document opens: the document as it is, or the text that is cited if it is an earlier one. */
import { ApiError } from "../../api/http.ts";
import { getDocument, getDocumentCopy, type DocumentCopy, type DocumentText } from "../../api/knowledge.ts";

export interface Opened {
  /** `null` if it was deleted. */
  document: DocumentText | null;
  /** The cited text, if it is not the current one and is kept. */
  copy: DocumentCopy | null;
}

/** Only a link to a version finds a deleted document. */
export async function openDocument(
  collection: string,
  id: string,
  version: number | null,
  signal?: AbortSignal,
): Promise<Opened> {
  if (version === null) return { document: await getDocument(collection, id, signal), copy: null };
  const document = await unlessMissing(getDocument(collection, id, signal));
  if (document?.version === version) return { document, copy: null };
  const earlier = getDocumentCopy(collection, id, version, signal);
  return { document, copy: document ? await unlessMissing(earlier) : await earlier };
}

async function unlessMissing<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
