/** Requests for the sources of a collection and their synchronizations; see docs/reference/api/knowledge.md. */
import { call } from "./http.ts";
import type { DocumentSource, DocumentSourceList, SourceChange, Sync, SyncList, SyncLog } from "./schema.ts";

const id = encodeURIComponent;
const of = (collection: string) => `/api/v1/knowledge/${id(collection)}`;
const at = (collection: string, source: string) => `${of(collection)}/sources/${id(source)}`;
const syncAt = (collection: string, sync: string) => `${of(collection)}/sync/${id(sync)}`;

export const listSources = (collection: string) =>
  call<DocumentSourceList>("GET", `${of(collection)}/sources`);
export const createSource = (collection: string, source: SourceChange) =>
  call<DocumentSource>("POST", `${of(collection)}/sources`, source);
export const changeSource = (collection: string, source: string, change: SourceChange) =>
  call<DocumentSource>("PUT", at(collection, source), change);
export const deleteSource = (collection: string, source: string, withDocuments: boolean) =>
  call<undefined>("DELETE", `${at(collection, source)}?documents=${withDocuments}`);

export const beginSync = (collection: string, source: string) =>
  call<Sync>("POST", `${at(collection, source)}/sync`);
export const listSyncs = (collection: string, source: string) =>
  call<SyncList>("GET", `${at(collection, source)}/syncs`);
/** What a synchronization changed or could not read: 100 documents after the one with this id. */
export const getSync = (collection: string, sync: string, after = "") =>
  call<SyncLog>("GET", `${syncAt(collection, sync)}?after=${id(after)}`);
/** Agrees that this many documents are deleted. */
export const completeSync = (collection: string, sync: string, confirmed: number) =>
  call<Sync>("POST", `${syncAt(collection, sync)}/complete`, { confirmed });
/** Nothing is deleted; what it has received is kept. */
export const cancelSync = (collection: string, sync: string) =>
  call<undefined>("POST", `${syncAt(collection, sync)}/cancel`);
