/** In-memory document collections of the fake server: the calls under `/knowledge`, with a plain word search. */
import { Refusal } from "./refusal.mjs";

const bytesOf = (text) => Buffer.byteLength(text);
const noCollection = () =>
  new Refusal(404, "not_found", "Collection not found, or it is not shared with you.");
const noDocument = () => new Refusal(404, "not_found", "Document not found in this collection.");

/** Markdown headings, and pages that begin with a form feed. */
function structureOf(text) {
  const headings = [];
  const pages = [];
  let start = 0;
  for (const line of text.split("\n")) {
    const [, marks, title] = /^(#{1,6}) (.+)$/.exec(line) ?? [];
    if (title) headings.push({ level: marks.length, span: { start, end: start + bytesOf(line) }, title });
    if (line.startsWith("\f")) pages.push({ number: pages.length + 1, start });
    start += bytesOf(line) + 1;
  }
  return { title: headings[0]?.title ?? null, pages, headings };
}

/** Result of parsing a file. */
function readingOf(name, file) {
  if (name.endsWith(".pdf"))
    return { problem: { code: "damaged", format: "PDF", message: "The file is damaged or incomplete." } };
  if (name.endsWith(".new"))
    return { problem: { code: "newer", message: "Something new is wrong with it." } };
  const text = file.toString();
  return { text, structure: structureOf(text) };
}

export class FakeKnowledge {
  collections = [];
  /** While true, nothing is parsed. */
  rests = false;
  /** A file name and the error for its upload. */
  refused = null;
  /** Notes returned with search results. */
  notes = [];
  /** Maximum upload size. */
  fileBytes = 50_000_000;
  /** Scores added to every result, in addition to the word score. */
  second = {};
  #ids = 0;

  #id(prefix) {
    this.#ids += 1;
    return `${prefix}_${this.#ids}`;
  }

  add(owner, content, owner_name = "Ada Lovelace") {
    const at = Date.now();
    const collection = {
      id: this.#id("col"),
      owner,
      owner_name,
      description: "",
      open: false,
      documents: [],
    };
    this.collections.push(Object.assign(collection, content, { created_at: at, updated_at: at }));
    return collection;
  }

  put(collection, name, file) {
    const before = collection.documents.find((document) => document.name === name);
    const document = before ?? { id: this.#id("doc"), name, version: 0, created_at: Date.now() };
    Object.assign(document, {
      file,
      size_bytes: file.length,
      state: "waiting",
      picture: false,
      problem: null,
      cited: false,
      copies: 0,
      tags: before?.tags ?? [],
      metadata: {},
      changed_keys: [],
    });
    Object.assign(document, {
      chunks: 0,
      characters: 0,
      meaning: null,
      text: "",
      structure: null,
      updated_at: Date.now(),
    });
    if (!before) collection.documents.push(document);
    if (!this.rests) setTimeout(() => document.state === "waiting" && this.read(document), 150);
    return document;
  }

  read(document) {
    const { text = "", structure = null, problem = null } = readingOf(document.name, document.file);
    Object.assign(document, { text, structure, problem, state: problem ? "failed" : "ready" });
    document.characters = [...text].length;
    document.version += 1;
    document.chunks = text === "" ? 0 : text.split("\n\n").length;
  }

  readAll() {
    this.rests = false;
    for (const { documents } of this.collections)
      for (const document of documents) if (document.state === "waiting") this.read(document);
  }

  #listed({ documents, ...collection }) {
    const unread = documents.filter(({ state }) => state === "waiting").length;
    return { ...collection, documents: documents.length, unread, shared: false };
  }

  #view({ file: _file, text: _text, structure: _structure, ...document }) {
    return document;
  }

  /** Handles a call of `user`; returns `undefined` if the response was written directly. */
  answer(method, [, id, what, document, action], url, body, user, response) {
    const readable = this.collections.filter(({ owner, open }) => owner === user || open);
    if (id === undefined && method === "POST") return this.#listed(this.add(user, body));
    if (id === undefined) {
      const own = readable.filter(({ owner }) => owner === user);
      const others = readable.filter(({ owner }) => owner !== user);
      return {
        collections: [...own, ...others].map((collection) => this.#listed(collection)),
        file_bytes: this.fileBytes,
      };
    }
    if (id === "metadata") return { tags: [], keys: [], values: [] };
    if (id === "search") return { results: this.#search(readable, body), notes: this.notes };
    const collection = readable.find((other) => other.id === id);
    if (!collection || (method !== "GET" && collection.owner !== user)) throw noCollection();
    if (what === undefined) return this.#change(method, collection, body);
    if (what === "crawls") return { crawls: [] };
    if (what === "sources") return { sources: [], folders: [] };
    if (what === "graph") return { on: false, available: false, documents: [], unread: 0, database: null };
    if (document === undefined && method === "POST") {
      const name = url.searchParams.get("name");
      if (this.refused?.name === name) throw this.refused.refusal;
      if (body.length === 0) throw new Refusal(400, "invalid_request", "The file is empty.");
      return this.#view(this.put(collection, name, body));
    }
    if (document === undefined) {
      const byName = (one, other) => (one.name < other.name ? -1 : 1);
      return { documents: collection.documents.map((one) => this.#view(one)).sort(byName) };
    }
    const found = collection.documents.find((other) => other.id === document);
    if (!found) throw noDocument();
    return this.#one(method, collection, found, action, response);
  }

  #change(method, collection, body) {
    if (method === "PATCH") return this.#listed(Object.assign(collection, body));
    this.collections = this.collections.filter((other) => other !== collection);
    return null;
  }

  #one(method, collection, document, action, response) {
    if (method === "DELETE") {
      collection.documents = collection.documents.filter((other) => other !== document);
      return null;
    }
    if (action === "cancel") {
      const problem = { code: "cancelled", message: "It was stopped." };
      Object.assign(document, { state: "failed", problem, picture: false });
      return null;
    }
    if (action === "retry") {
      this.put(collection, document.name, document.file);
      return null;
    }
    if (action === "file") {
      response.writeHead(200, {
        "content-type": "application/octet-stream",
        "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(document.name)}`,
      });
      response.end(document.file);
      return undefined;
    }
    const { text, structure } = document;
    return { ...this.#view(document), text, structure };
  }

  /** Paragraphs with a word of the query, those with more of them first. */
  #search(readable, { query, collections = null, limit = 10 }) {
    const words = query.toLowerCase().split(/\s+/);
    const found = [];
    for (const collection of readable.filter(({ id }) => !collections || collections.includes(id)))
      for (const document of collection.documents) {
        let start = 0;
        for (const text of document.text.split("\n\n")) {
          const end = start + [...text].length;
          const hits = words.filter((word) => text.toLowerCase().includes(word)).length;
          if (hits > 0) found.push(this.#found(collection, document, { start, end, text, hits }));
          start = end + 2;
        }
      }
    const best = Math.max(1, ...found.map(({ scores }) => scores.words));
    for (const { scores } of found) scores.fused = scores.words / best;
    return found.sort((one, other) => other.scores.words - one.scores.words).slice(0, limit);
  }

  #found(collection, document, { start, end, text, hits }) {
    const bytes = bytesOf([...document.text].slice(0, start).join(""));
    const { pages, headings } = document.structure;
    const page = pages.findLast((one) => one.start <= bytes)?.number ?? null;
    const above = headings.findLast(({ span }) => span.start <= bytes);
    return {
      collection: collection.id,
      collection_name: collection.name,
      document: document.id,
      name: document.name,
      start,
      end,
      page,
      time: null,
      headings: above ? [above.title] : [],
      text,
      scores: {
        words: hits * 3.21,
        related: hits * 4.5,
        meaning: null,
        fused: 0,
        rerank: null,
        ...this.second,
      },
    };
  }
}
