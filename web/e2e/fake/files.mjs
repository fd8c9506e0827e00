/** In-memory files of the fake server's chats, with their history: the calls under `/files`. */
import { Refusal } from "./refusal.mjs";

/** An archive without files. */
const emptyZip = Buffer.from("504b0506000000000000000000000000000000000000", "hex");

const pictures = [
  ["image/png", "89504e47"],
  ["image/jpeg", "ffd8ff"],
];

/** Diff of two lists of lines by longest common subsequence. */
function compare(old, next) {
  const common = Array.from({ length: old.length + 1 }, () => new Array(next.length + 1).fill(0));
  for (let a = old.length - 1; a >= 0; a -= 1)
    for (let b = next.length - 1; b >= 0; b -= 1)
      common[a][b] =
        old[a] === next[b] ? common[a + 1][b + 1] + 1 : Math.max(common[a + 1][b], common[a][b + 1]);
  const lines = [];
  for (let a = 0, b = 0; a < old.length || b < next.length;) {
    if (a < old.length && b < next.length && old[a] === next[b]) {
      lines.push({ kind: "same", old: ++a, new: ++b, text: old[a - 1] });
    } else if (a < old.length && (b === next.length || common[a + 1][b] >= common[a][b + 1])) {
      lines.push({ kind: "removed", old: ++a, text: old[a - 1] });
    } else {
      lines.push({ kind: "added", new: ++b, text: next[b - 1] });
    }
  }
  return lines;
}

const linesOf = (bytes) => (bytes.length === 0 ? [] : bytes.toString().replace(/\n$/, "").split("\n"));

export class FakeFiles {
  #states = new Map();

  /** Writes a file, or deletes it if `bytes` is `null`. */
  write(path, bytes) {
    const states = this.#states.get(path) ?? [];
    const deleted = bytes === null;
    const content = deleted ? Buffer.alloc(0) : Buffer.from(bytes);
    const version = states.length + 1;
    const state = { version, size_bytes: content.length, changed_at: Date.now(), deleted, content };
    this.#states.set(path, [state, ...states]);
    return this.#view(path, state);
  }

  #view(path, { content: _content, ...state }) {
    return { path, ...state };
  }

  #at(path, version) {
    const states = this.#states.get(path) ?? [];
    return version === undefined ? states[0] : states.find((state) => state.version === version);
  }

  list() {
    return [...this.#states]
      .filter(([, states]) => !states[0].deleted)
      .map(([path, states]) => this.#view(path, states[0]))
      .sort((one, other) => (one.path < other.path ? -1 : 1));
  }

  /** Last versions of deleted files, most recently deleted first. */
  deleted() {
    return [...this.#states]
      .filter(([, [now, last]]) => now.deleted && last)
      .map(([path, [now, last]]) => ({ ...this.#view(path, last), changed_at: now.changed_at }))
      .sort((one, other) => other.changed_at - one.changed_at);
  }

  /** Throws if the file's version is not the expected one. */
  #expect(path, { "if-match": seen, "if-none-match": none }) {
    const now = this.#at(path);
    const tag = now && !now.deleted ? `"${now.version}"` : undefined;
    if ((seen && seen !== tag) || (none && tag))
      throw new Refusal(409, "conflict", "The file has changed in the meantime.");
  }

  /** Handles a call; returns `undefined` if there is no content, or the response was written directly. */
  answer(method, what, search, body, response) {
    const path = search.get("path");
    const number = (name) => (search.has(name) ? Number(search.get(name)) : undefined);
    switch (`${method} ${what}`) {
      case "GET undefined":
        return { files: this.list(), more: false, deleted: this.deleted() };
      case "PUT content":
        this.#expect(path, response.req.headers);
        return this.write(path, body);
      case "DELETE content":
        this.#expect(path, response.req.headers);
        this.write(path, null);
        return null;
      case "GET zip":
        response.writeHead(200, {
          "content-type": "application/zip",
          "content-disposition": 'attachment; filename="files.zip"',
        });
        response.end(emptyZip);
        return true;
      case "GET versions":
        return { versions: (this.#states.get(path) ?? []).map((state) => this.#view(path, state)) };
      case "GET diff":
        return this.#diff(path, number("from"), number("to"));
      case "POST restore": {
        const past = this.#at(body.path, body.version);
        return this.write(body.path, !past || past.deleted ? null : past.content);
      }
      case "GET content":
        return this.#content(this.#at(path, number("version")), search.has("inline"), response);
    }
    return undefined;
  }

  #content(state, inline, response) {
    if (!state || state.deleted) return undefined;
    const start = state.content.toString("hex", 0, 4);
    const [type] = (inline && pictures.find(([, bytes]) => start.startsWith(bytes))) || [];
    response.writeHead(200, { "content-type": type ?? "application/octet-stream" }).end(state.content);
    return true;
  }

  #diff(path, from, to) {
    const [old, next] = [from, to].map((version) => this.#at(path, version)?.content ?? Buffer.alloc(0));
    if ([old, next].some((content) => content.includes(0))) return { from, to, kind: "binary" };
    const lines = compare(linesOf(old), linesOf(next));
    const count = (kind) => lines.filter((line) => line.kind === kind).length;
    const hunks = lines.some((line) => line.kind !== "same") ? [{ lines }] : [];
    const counts = { added_lines: count("added"), removed_lines: count("removed") };
    return { from, to, kind: "text", ...counts, hunks, cut: false };
  }
}
