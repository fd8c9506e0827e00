/** Document collections and search in them; see docs/reference/api.md. */
import type { LocalizedText } from "./events.ts";
import { call, sendFile } from "./http.ts";
import type {
  Attachment,
  Collection,
  CollectionReaders,
  Crawl,
  Document,
  DocumentCopy,
  DocumentText,
  GraphAlias,
  GraphEntity,
  GraphEntityWithQuotes,
  GraphState,
  KnowledgeNote,
  KnowledgeResult,
  KnownMetadata,
  ListedCollection,
  MetadataChange,
  NewCollection,
  Subgraph,
} from "./schema.ts";

export type {
  Collection,
  CollectionReaders as Readers,
  Crawl,
  Document,
  DocumentCopy,
  DocumentMeaning as Meaning,
  DocumentProblem,
  DocumentStructure as Structure,
  DocumentText,
  GraphAlias,
  GraphEntity as Entity,
  GraphQuote as Quote,
  GraphRelation as Relation,
  GraphState,
  GroupName,
  KnowledgeResult as Found,
  KnowledgeScores as Scores,
  KnownMetadata,
  KnownMetadataKey,
  ListedCollection,
  Subgraph,
} from "./schema.ts";
/** A search stage that was skipped or failed. */
export type SearchNote = LocalizedText & { code: string };
/** The app always sends every field. */
export type CollectionContent = Required<NewCollection>;

const base = "/api/v1/knowledge";
const id = encodeURIComponent;
const documentsOf = (collection: string) => `${base}/${id(collection)}/documents`;
const documentAt = (collection: string, document: string) => `${documentsOf(collection)}/${id(document)}`;

/** `file_bytes` is the maximum upload size. */
export const listCollections = () =>
  call<{ collections: ListedCollection[]; file_bytes: number }>("GET", base);
export const createCollection = (content: CollectionContent) => call<Collection>("POST", base, content);
export const changeCollection = (collection: string, change: Partial<CollectionContent>) =>
  call<Collection>("PATCH", `${base}/${id(collection)}`, change);
export const deleteCollection = (collection: string) =>
  call<undefined>("DELETE", `${base}/${id(collection)}`);

export const getReaders = (collection: string) =>
  call<CollectionReaders>("GET", `${base}/${id(collection)}/sharing`);
/** Groups by ID; users by email address, or by ID if the collection is already shared with them. */
export const setReaders = (
  collection: string,
  readers: { open: boolean; groups: string[]; people: string[] },
) => call<undefined>("PUT", `${base}/${id(collection)}/sharing`, readers);

export const listDocuments = (collection: string) =>
  call<{ documents: Document[] }>("GET", documentsOf(collection));
/** Documents with this metadata. */
export const findDocuments = (collection: string, metadata: MetadataFilter, signal?: AbortSignal) =>
  call<{ documents: Document[] }>(
    "GET",
    `${documentsOf(collection)}?metadata=${id(JSON.stringify(metadata))}`,
    undefined,
    signal,
  );
/** Tags and keys of metadata of a collection, or of all. With a key, also its values. */
export const knownMetadata = (collection: string | null, key?: string, signal?: AbortSignal) => {
  const query = [...(collection ? [`collection=${id(collection)}`] : []), ...(key ? [`key=${id(key)}`] : [])];
  return call<KnownMetadata>(
    "GET",
    `${base}/metadata${query.length > 0 ? `?${query.join("&")}` : ""}`,
    undefined,
    signal,
  );
};
export type DocumentChange = Omit<MetadataChange, "documents">;
/** Changes tags and metadata of all these documents. */
export const changeDocuments = (collection: string, documents: string[], change: DocumentChange) =>
  call<undefined>("PATCH", documentsOf(collection), { documents, ...change });
/** Uploads a document, replacing one of the same name. `onprogress` receives the number of bytes sent. */
export const sendDocument = (
  collection: string,
  name: string,
  file: Blob,
  options: { signal: AbortSignal; onprogress: (sent: number) => void },
) => sendFile<Document>(`${documentsOf(collection)}?name=${id(name)}`, file, options);
/** Uploads an attachment as a collection of one document, which belongs to the chat once the message is sent. */
export const sendAttachment = (
  name: string,
  file: Blob,
  options: { signal: AbortSignal; onprogress: (sent: number) => void },
) => sendFile<Attachment>(`/api/v1/attachments?name=${id(name)}`, file, options);
export const getDocument = (collection: string, document: string, signal?: AbortSignal) =>
  call<DocumentText>("GET", documentAt(collection, document), undefined, signal);
/** An earlier text of a document, which is kept because it is cited. */
export const getDocumentCopy = (
  collection: string,
  document: string,
  version: number,
  signal?: AbortSignal,
) =>
  call<DocumentCopy>("GET", `${documentAt(collection, document)}/copy?version=${version}`, undefined, signal);
/** Deletes all earlier texts that are kept of a document, which may be deleted itself. */
export const deleteDocumentCopies = (collection: string, document: string) =>
  call<undefined>("DELETE", `${documentAt(collection, document)}/copy`);
export const documentFile = (collection: string, document: string) =>
  `${documentAt(collection, document)}/file`;
export const retryDocument = (collection: string, document: string) =>
  call<undefined>("POST", `${documentAt(collection, document)}/retry`);
/** Cancels parsing of the document, or embedding of the parsed text. */
export const cancelDocument = (collection: string, document: string) =>
  call<undefined>("POST", `${documentAt(collection, document)}/cancel`);
export const deleteDocument = (collection: string, document: string, options: { keepCited: boolean }) =>
  call<undefined>("DELETE", `${documentAt(collection, document)}?keep_cited=${options.keepCited}`);

/** Filter for search by file extension, part of the name, upload time as timestamps, tags and metadata. */
export interface SearchFilter {
  types?: string[];
  name?: string;
  since?: number;
  until?: number;
  tags?: string[];
  metadata?: MetadataFilter;
}

export type MetadataScalar = string | number | boolean;
export type MetadataValue = MetadataScalar | MetadataScalar[];
export type MetadataFilter = Record<
  string,
  MetadataScalar | { contains?: string; from?: string; to?: string }
>;

export const searchKnowledge = (
  query: { query: string; collections?: string[]; limit: number } & SearchFilter,
  signal?: AbortSignal,
) => call<{ results: KnowledgeResult[]; notes: KnowledgeNote[] }>("POST", `${base}/search`, query, signal);

const crawlsOf = (collection: string) => `${base}/${id(collection)}/crawls`;
export const listCrawls = (collection: string) => call<{ crawls: Crawl[] }>("GET", crawlsOf(collection));
export const beginCrawl = (collection: string, crawl: { url: string; depth: number }) =>
  call<Crawl>("POST", crawlsOf(collection), crawl);
export const cancelCrawl = (collection: string, crawl: string) =>
  call<undefined>("POST", `${crawlsOf(collection)}/${id(crawl)}/cancel`);
export const retryCrawl = (collection: string, crawl: string) =>
  call<undefined>("POST", `${crawlsOf(collection)}/${id(crawl)}/retry`);
/** Removes a finished crawl from the list; its documents are kept. */
export const dismissCrawl = (collection: string, crawl: string) =>
  call<undefined>("POST", `${crawlsOf(collection)}/${id(crawl)}/dismiss`);

const graphOf = (collection: string) => `${base}/${id(collection)}/graph`;
export const graphState = (collection: string) => call<GraphState>("GET", graphOf(collection));
export const switchGraph = (collection: string, on: boolean) =>
  call<undefined>("PUT", graphOf(collection), { on });
const graphDocument = (collection: string, document: string) =>
  `${graphOf(collection)}/documents/${id(document)}`;
export const cancelGraphOf = (collection: string, document: string) =>
  call<undefined>("POST", `${graphDocument(collection, document)}/cancel`);
export const retryGraphOf = (collection: string, document: string) =>
  call<undefined>("POST", `${graphDocument(collection, document)}/retry`);
export const findEntities = (collection: string, query: string, signal?: AbortSignal) =>
  call<{ entities: GraphEntity[] }>(
    "GET",
    `${graphOf(collection)}/entities?limit=12&query=${id(query)}`,
    undefined,
    signal,
  );
export const getEntity = (collection: string, entity: string, signal?: AbortSignal) =>
  call<GraphEntityWithQuotes>("GET", `${graphOf(collection)}/entities/${id(entity)}`, undefined, signal);
export const neighboursOf = (collection: string, entity: string, signal?: AbortSignal) =>
  call<Subgraph>("GET", `${graphOf(collection)}/neighbours?limit=40&entity=${id(entity)}`, undefined, signal);
export const wayBetween = (collection: string, from: string, to: string) =>
  call<Subgraph>("GET", `${graphOf(collection)}/path?from=${id(from)}&to=${id(to)}`);
export const mostSaid = (collection: string, signal?: AbortSignal) =>
  call<Subgraph>("GET", `${graphOf(collection)}/subgraph?limit=40`, undefined, signal);

export const listAliases = (collection: string) =>
  call<{ aliases: GraphAlias[]; proposed: GraphAlias[] }>("GET", `${graphOf(collection)}/aliases`);
export const mergeEntities = (collection: string, entity: string, alias: string) =>
  call<undefined>("POST", `${graphOf(collection)}/aliases`, { entity, alias });
export const partEntity = (collection: string, alias: string) =>
  call<undefined>("DELETE", `${graphOf(collection)}/aliases/${id(alias)}`);
