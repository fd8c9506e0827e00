/** Collections of documents, and what is found in them; see docs/reference/api.md. */
import type { Coded, Words } from "./events.ts";
import { call, sendFile } from "./http.ts";

const base = "/api/v1/knowledge";
const id = encodeURIComponent;
const documentsOf = (collection: string) => `${base}/${id(collection)}/documents`;
const documentAt = (collection: string, document: string) => `${documentsOf(collection)}/${id(document)}`;

export interface CollectionContent {
  name: string;
  description: string;
  /** Whether everybody here may search and read it. */
  open: boolean;
}

export interface Collection extends CollectionContent {
  id: string;
  owner: string;
  created_at: number;
  updated_at: number;
}

export interface ListedCollection extends Collection {
  owner_name: string;
  documents: number;
  /** How many of them are still to be read. */
  unread: number;
  /** Whether it is shared with groups, or with people by name. */
  shared: boolean;
}

export interface GroupName {
  id: string;
  name: string;
}

/** Who may read a collection beside its owner. */
export interface Readers {
  open: boolean;
  groups: GroupName[];
  people: { id: string; name: string; email: string }[];
  /** The groups that the person may share it with. */
  choice: GroupName[];
}

/** Why a file could not be read. `message` is a sentence in English; words in other languages go by the code. */
export interface DocumentProblem extends Words {
  code: string;
  limit_bytes?: number;
  limit?: number;
  limit_seconds?: number;
  format?: string;
  cause?: string;
}

/** How far the meaning of a document is ready to be searched. */
export interface Meaning {
  /** How many of its pieces are. */
  done: number;
  chunks: number;
  /** Why it goes no further at the moment. */
  problem: (Words & { code: string }) | null;
}

export interface Document {
  id: string;
  name: string;
  size_bytes: number;
  state: "waiting" | "ready" | "failed";
  /** Whether it is a picture, and waits for the model that looks at it. */
  picture: boolean;
  problem: DocumentProblem | null;
  /** In how many pieces it is searched. */
  chunks: number;
  characters: number;
  /** Null where only words are searched, or there is no text yet. */
  meaning: Meaning | null;
  created_at: number;
  updated_at: number;
}

/** Where things stand in a text, in bytes of its UTF-8. */
export interface Structure {
  title: string | null;
  pages: { number: number; start: number }[];
  headings: { level: number; span: { start: number; end: number }; title: string }[];
}

export interface DocumentText extends Document {
  text: string;
  /** Null where nothing was read of it yet. */
  structure: Structure | null;
}

export interface Scores {
  words: number;
  related: number;
  meaning: number | null;
  fused: number;
  /** What orders the list, where a model has looked at the best once more. */
  rerank: number | null;
}

/** What did not help to find the passages. */
export interface SearchNote extends Words {
  code: string;
}

export interface Found {
  collection: string;
  collection_name: string;
  document: string;
  name: string;
  /** Where it stands in the document's text, in Unicode characters. */
  start: number;
  end: number;
  page: number | null;
  headings: string[];
  text: string;
  scores: Scores;
}

/** `file_bytes` is the largest file that is taken. */
export const listCollections = () =>
  call<{ collections: ListedCollection[]; file_bytes: number }>("GET", base);
export const createCollection = (content: CollectionContent) => call<Collection>("POST", base, content);
export const changeCollection = (collection: string, change: Partial<CollectionContent>) =>
  call<Collection>("PATCH", `${base}/${id(collection)}`, change);
export const deleteCollection = (collection: string) =>
  call<undefined>("DELETE", `${base}/${id(collection)}`);

export const getReaders = (collection: string) => call<Readers>("GET", `${base}/${id(collection)}/sharing`);
/** Groups by id; people by address, or by id where it is shared with them already. */
export const setReaders = (
  collection: string,
  readers: { open: boolean; groups: string[]; people: string[] },
) => call<undefined>("PUT", `${base}/${id(collection)}/sharing`, readers);

export const listDocuments = (collection: string) =>
  call<{ documents: Document[] }>("GET", documentsOf(collection));
/** Sends a file, which takes the place of the one of its name. `onprogress` is told how many bytes went. */
export const sendDocument = (
  collection: string,
  name: string,
  file: Blob,
  options: { signal: AbortSignal; onprogress: (sent: number) => void },
) => sendFile<Document>(`${documentsOf(collection)}?name=${id(name)}`, file, options);
/** Sends a file for a message: a collection of one document, which is its chat's once the message is sent. */
export const sendAttachment = (
  name: string,
  file: Blob,
  options: { signal: AbortSignal; onprogress: (sent: number) => void },
) => sendFile<Document & { collection: string }>(`/api/v1/attachments?name=${id(name)}`, file, options);
export const getDocument = (collection: string, document: string, signal?: AbortSignal) =>
  call<DocumentText>("GET", documentAt(collection, document), undefined, signal);
export const documentFile = (collection: string, document: string) =>
  `${documentAt(collection, document)}/file`;
export const retryDocument = (collection: string, document: string) =>
  call<undefined>("POST", `${documentAt(collection, document)}/retry`);
/** Ends its reading, or the embedding of what was read. */
export const cancelDocument = (collection: string, document: string) =>
  call<undefined>("POST", `${documentAt(collection, document)}/cancel`);
export const deleteDocument = (collection: string, document: string) =>
  call<undefined>("DELETE", documentAt(collection, document));

/** Which documents are searched: by endings of their names, a part of them, and when they came, as moments. */
export interface SearchFilter {
  types?: string[];
  name?: string;
  since?: number;
  until?: number;
}

export const searchKnowledge = (
  query: { query: string; collections?: string[]; limit: number } & SearchFilter,
  signal?: AbortSignal,
) => call<{ results: Found[]; notes: SearchNote[] }>("POST", `${base}/search`, query, signal);

/** A page or a site of the web that becomes documents. */
export interface Crawl {
  id: string;
  url: string;
  depth: number;
  pages: number;
  state: "running" | "done" | "cancelled";
  waiting: number;
  done: number;
  failed: number;
  problems: (Words & { url: string })[];
}

const crawlsOf = (collection: string) => `${base}/${id(collection)}/crawls`;
export const listCrawls = (collection: string) => call<{ crawls: Crawl[] }>("GET", crawlsOf(collection));
export const beginCrawl = (collection: string, crawl: { url: string; depth: number }) =>
  call<Crawl>("POST", crawlsOf(collection), crawl);
export const cancelCrawl = (collection: string, crawl: string) =>
  call<undefined>("POST", `${crawlsOf(collection)}/${id(crawl)}/cancel`);
export const retryCrawl = (collection: string, crawl: string) =>
  call<undefined>("POST", `${crawlsOf(collection)}/${id(crawl)}/retry`);
/** One that has ended is not listed any more; its documents stay. */
export const dismissCrawl = (collection: string, crawl: string) =>
  call<undefined>("POST", `${crawlsOf(collection)}/${id(crawl)}/dismiss`);

/** What documents of a collection speak of. */
export interface Entity {
  id: string;
  name: string;
  kind: string;
  /** How many places speak of it. */
  mentions: number;
  /** How many statements belong to it. */
  relations: number;
}

/** Words of a document, and where they stand in its text, in Unicode characters. */
export interface Quote {
  document: string;
  name: string;
  start: number;
  end: number;
  text: string;
}

export interface Relation {
  source: string;
  target: string;
  kind: string;
  quote: Quote;
}

export interface Subgraph {
  entities: Entity[];
  relations: Relation[];
}

export interface GraphState {
  /** Whether the owner wants a graph. */
  on: boolean;
  /** Whether the server has a model for it. */
  available: boolean;
  /** `pieces` is 0 until it is a document's turn. */
  documents: {
    id: string;
    name: string;
    done: number;
    pieces: number;
    problem: (Words & { code: string }) | null;
  }[];
  /** How many documents are still to be read, and come after that. */
  unread: number;
  /** Where there is a graph database: why it does not help, and whether it has all of this graph. */
  database: { problem: string | null; sentence?: Coded; whole: boolean } | null;
}

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
  call<{ entities: Entity[] }>(
    "GET",
    `${graphOf(collection)}/entities?limit=12&query=${id(query)}`,
    undefined,
    signal,
  );
export const getEntity = (collection: string, entity: string, signal?: AbortSignal) =>
  call<Entity & { quotes: Quote[] }>(
    "GET",
    `${graphOf(collection)}/entities/${id(entity)}`,
    undefined,
    signal,
  );
export const neighboursOf = (collection: string, entity: string, signal?: AbortSignal) =>
  call<Subgraph>("GET", `${graphOf(collection)}/neighbours?limit=40&entity=${id(entity)}`, undefined, signal);
export const wayBetween = (collection: string, from: string, to: string) =>
  call<Subgraph>("GET", `${graphOf(collection)}/path?from=${id(from)}&to=${id(to)}`);
export const mostSaid = (collection: string, signal?: AbortSignal) =>
  call<Subgraph>("GET", `${graphOf(collection)}/subgraph?limit=40`, undefined, signal);

/** Two names of one thing, with the words that say so, where some do. */
export interface GraphAlias {
  entity: string;
  entity_name: string;
  alias: string;
  alias_name: string;
  proof: Quote | null;
}

export const listAliases = (collection: string) =>
  call<{ aliases: GraphAlias[]; proposed: GraphAlias[] }>("GET", `${graphOf(collection)}/aliases`);
export const mergeEntities = (collection: string, entity: string, alias: string) =>
  call<undefined>("POST", `${graphOf(collection)}/aliases`, { entity, alias });
export const partEntity = (collection: string, alias: string) =>
  call<undefined>("DELETE", `${graphOf(collection)}/aliases/${id(alias)}`);
