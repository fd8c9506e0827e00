/** Fake server: the whole HTTP API (docs/reference/api.md) in memory, for tests of the page alone. */
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { FakeFiles } from "./files.mjs";
import { FakeKnowledge } from "./knowledge.mjs";
import { AGENTS, MCP_SERVERS, WEB_SEARCH, PROGRAMS } from "./lists.mjs";
import { Refusal } from "./refusal.mjs";
import { encoderOf } from "./formats.mjs";
import { FakeRun } from "./run.mjs";
import { play } from "./scripts.mjs";
import { modelOf } from "./models.mjs";

const dist = fileURLToPath(new URL("../../dist", import.meta.url));
const policy =
  "default-src 'self'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; " +
  "img-src 'self' data: blob:; connect-src 'self'; frame-ancestors 'none'";
const framePolicy =
  "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; frame-ancestors 'self'";
const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};

export class FakeServer {
  user = null;
  signedIn = false;
  models = [modelOf("tour", true)];
  /** None: the tour answers only if requested by name. */
  defaultModel = null;
  connections = [];
  keys = [];
  chats = new Map();
  runs = new Map();
  knowledge = new FakeKnowledge();
  #ids = 0;
  #sockets = new Set();
  #activity = new Set();
  /** While true, every event stream is rejected, as if the network were down. */
  offline = false;

  constructor({ pace = 1, account = false, model = false } = {}) {
    this.pace = pace;
    if (account) {
      this.user = { id: "user_1", email: "ada@example.org", name: "Ada Lovelace", role: "admin" };
      this.password = "correct horse";
      this.signedIn = true;
    }
    if (model) this.#connect({ name: "Ollama", base_url: "http://127.0.0.1:11434/v1" });
  }

  async listen(port = 0) {
    this.http = createServer((request, response) => void this.#answer(request, response));
    this.http.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
    await new Promise((resolve) => this.http.listen(port, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${this.http.address().port}`;
    return this;
  }

  /** Closes every open connection, as a network failure does. */
  cut() {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close() {
    for (const run of this.runs.values()) run.stop();
    this.cut();
    await new Promise((resolve) => this.http.close(resolve));
  }

  id(prefix) {
    this.#ids += 1;
    return `${prefix}_${String(this.#ids).padStart(8, "0")}`;
  }

  #connect({ name, kind = "openai", base_url, settings = {}, api_key }) {
    const models = ["qwen3-30b", "llama-3.3-70b"];
    const connection = {
      id: this.id("conn"),
      name,
      kind,
      base_url,
      settings,
      headers: [],
      query: [],
      source: "settings",
      keys: api_key
        ? [
            {
              id: "ckey_1",
              ending: null,
              weight: 1,
              readable: true,
              uses: 0,
              rests_ms: null,
              last_failure: null,
            },
          ]
        : [],
      weight: 1,
      enabled: true,
      together: false,
      state: { breaker: "closed", open_ms: null, failures_in_row: 0, last_failure: null },
      from_environment: false,
      trusted: false,
      models,
      problem: null,
    };
    this.connections.push(connection);
    this.models.push(...models.map((id) => ({ ...modelOf(id), connection: connection.id })));
    this.defaultModel = models[0];
    return connection;
  }

  async #answer(request, response) {
    const url = new URL(request.url, "http://fake");
    try {
      if (!/^\/(api|runs)\//.test(url.pathname)) return await this.#file(url.pathname, response);
      const pieces = [];
      for await (const piece of request) pieces.push(piece);
      const bytes = Buffer.concat(pieces);
      const isFile = /^(PUT .*\/files\/content|POST .*\/documents)$/.test(
        `${request.method} ${url.pathname}`,
      );
      const body = isFile ? bytes : bytes.length > 0 ? JSON.parse(bytes.toString()) : {};
      if (!this.signedIn && !/\/(me|setup|login)$/.test(url.pathname)) {
        throw new Refusal(401, "unauthenticated", "Log in first.");
      }
      const result = await this.#route(request, url, body, response);
      if (result === undefined || response.headersSent) return;
      if (result === null) response.writeHead(204).end();
      else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(result));
    } catch (error) {
      const { status = 500, code = "internal", message } = error;
      if (status === 500) console.error(error);
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { code, message } }));
    }
  }

  async #file(path, response) {
    const wanted = extname(path) ? normalize(path) : "/index.html";
    try {
      const bytes = await readFile(join(dist, wanted));
      response.writeHead(200, {
        "content-type": types[extname(wanted)] ?? "text/plain",
        "content-security-policy": wanted === "/render-frame.html" ? framePolicy : policy,
      });
      response.end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  }

  async #route(request, url, body, response) {
    const path = url.pathname
      .replace(/^\/api\/v1/, "")
      .split("/")
      .filter(Boolean)
      .map(decodeURIComponent);
    const name = `${request.method} ${path[0]}`;
    switch (name) {
      case "GET me":
        return {
          user: this.signedIn ? this.user : null,
          rights: this.user ? ["api_keys", "sharing", "schedules", "programs"] : [],
          setup_needed: !this.user,
          auth: "password",
          version: "0.1.0",
        };
      case "POST setup":
        this.user = { id: "user_1", email: body.email, name: body.name, role: "admin" };
        this.password = body.password;
        this.signedIn = true;
        return { user: this.user };
      case "POST login":
        if (body.email !== this.user.email || body.password !== this.password) {
          throw new Refusal(401, "unauthenticated", "Wrong email or password.");
        }
        this.signedIn = true;
        return { user: this.user };
      case "POST logout":
        this.signedIn = false;
        return null;
      case "GET models":
        return { models: this.models, default_model: this.defaultModel, agents: [] };
      case "PUT models":
        return Object.assign(
          this.models.find((model) => model.id === path[1]),
          body,
        );
      case "PUT settings":
        this.defaultModel = body.model;
        return null;
      case "GET inbox":
        return { items: [...this.runs.values()].flatMap((run) => run.waiting()) };
      case "GET activity":
        return this.#follow(response);
    }
    if (path[0] === "connections") return this.#connectionCall(request.method, path, body);
    if (path[0] === "programs") return PROGRAMS;
    if (path[0] === "agents") return AGENTS;
    if (path[0] === "workspaces") return { workspaces: [] };
    if (path[0] === "shared-chats") return { chats: [] };
    if (path[0] === "folders") return { folders: [] };
    if (path[0] === "tags") return { tags: [] };
    if (path[0] === "mcp-servers") return { servers: MCP_SERVERS };
    if (path[0] === "web-search") return WEB_SEARCH;
    if (path[0] === "mcp-sign-ins") return { servers: [] };
    if (path[0] === "keys") return this.#keyCall(request.method, path, body);
    if (path[0] === "chats") return this.#chatCall(request.method, path, body, url, response);
    if (path[0] === "knowledge") {
      return this.knowledge.answer(request.method, path, url, body, this.user.id, response);
    }
    if (path[0] === "runs") return this.#runCall(request.method, path, body, url, response);
    throw new Refusal(404, "not_found", "There is no such address.");
  }

  #connectionCall(method, [, id, action], body) {
    if (method === "GET" && id === "discover") {
      const models = ["qwen3-30b", "llama-3.3-70b"];
      return { found: [{ kind: "ollama", name: "Ollama", base_url: "http://127.0.0.1:11434/v1", models }] };
    }
    if (method === "GET") return { connections: this.connections };
    if (method === "DELETE") {
      this.connections = this.connections.filter((connection) => connection.id !== id);
      this.models = this.models.filter((model) => model.connection !== id);
      this.defaultModel = this.models[0].id;
      return null;
    }
    if (method === "PATCH") {
      return Object.assign(
        this.connections.find((connection) => connection.id === id),
        body,
      );
    }
    if (action === "refresh") return this.connections.find((connection) => connection.id === id);
    if (body.base_url.includes("wrong")) {
      throw new Refusal(
        422,
        "model_unreachable",
        `Could not connect to ${body.base_url}. Is the model server running, and is the address right?`,
      );
    }
    return id === "test" ? { models: ["qwen3-30b", "llama-3.3-70b"] } : this.#connect(body);
  }

  #keyCall(method, [, id], body) {
    if (method === "GET") return { keys: this.keys };
    if (method === "DELETE") {
      this.keys = this.keys.filter((key) => key.id !== id);
      return null;
    }
    const key = {
      id: this.id("key"),
      name: body.name,
      created_at: Date.now(),
      last_used_at: null,
      prefix: "gh_7f3a",
      scopes: null,
      models: null,
      expires_at: null,
      front_end: false,
      signs: false,
      old_until: null,
    };
    this.keys.unshift(key);
    return { key, secret: "gh_7f3a0b1c2d4e5f60718293a4b5c6d7e8f" };
  }

  row({ messages: _messages, current: _current, files: _files, ...row }) {
    const run = [...this.runs.values()].find((other) => other.chat === row.id && other.state !== "finished");
    return { ...row, state: run?.state ?? "idle", unread: false };
  }

  addChat(title, { updated_at = Date.now(), messages = [] } = {}) {
    const chat = {
      id: this.id("chat"),
      title,
      created_at: updated_at,
      updated_at,
      pinned: false,
      archived: false,
      folder: null,
      tags: [],
      parameters: {},
      current: null,
      messages,
      files: new FakeFiles(),
    };
    chat.current = messages.at(-1)?.id ?? null;
    this.chats.set(chat.id, chat);
    return chat;
  }

  #chatCall(method, [, id, what, message, action], body, url, response) {
    if (id === "search") return this.#search(url.searchParams.get("query"));
    if (id === "order") {
      for (const chat of body.chats) Object.assign(this.chats.get(chat), { ...body, chats: undefined });
      return { changed: body.chats.length };
    }
    if (id === "delete") {
      for (const chat of body.chats) this.chats.delete(chat);
      return { deleted: body.chats.length };
    }
    if (id === undefined) {
      if (method === "POST")
        return { ...this.row(this.addChat(body.title ?? "")), parameters: {}, current: null, messages: [] };
      return this.#list(url.searchParams);
    }
    const chat = this.chats.get(id);
    if (!chat) throw new Refusal(404, "not_found", "There is no such chat.");
    if (what === "files") {
      const answer = chat.files.answer(method, message, url.searchParams, body, response);
      if (answer === undefined) throw new Refusal(404, "not_found", "File not found in this chat.");
      return answer;
    }
    if (what === "read") return null;
    if (what === "messages")
      return action === "regenerate" ? this.#again(chat, message, body) : this.#send(chat, body);
    if (method === "DELETE") {
      this.chats.delete(id);
      return null;
    }
    if (method === "PATCH") {
      Object.assign(chat, body);
      return this.row(chat);
    }
    return {
      ...this.row(chat),
      parameters: chat.parameters,
      may_reply: true,
      current: chat.current,
      messages: chat.messages.map((item) => this.#shown(item)),
      queued: [],
    };
  }

  /** Searches titles for the literal query; only the real program searches messages. */
  #search(query) {
    const rows = [...this.chats.values()].filter((chat) =>
      JSON.stringify([chat.title, chat.messages]).toLowerCase().includes(query.trim().toLowerCase()),
    );
    const titles = rows.map((chat) => ({ chat: this.row(chat), parts: [{ text: chat.title, hit: true }] }));
    return { titles, hits: [], next: null };
  }

  #list(search) {
    const isPinned = search.get("pinned") === "true";
    const isArchived = search.get("archived") === "true";
    const before = Number(search.get("before") ?? Infinity);
    const limit = Number(search.get("limit") ?? 60);
    const all = [...this.chats.values()]
      .filter(
        (chat) => chat.updated_at < before && chat.archived === isArchived && (chat.pinned || !isPinned),
      )
      .sort((a, b) => b.updated_at - a.updated_at);
    return { chats: all.slice(0, limit).map((chat) => this.row(chat)), more: all.length > limit };
  }

  /** A finished assistant message includes its answer and summary. */
  #shown(message) {
    const summary = this.runs.get(message.run)?.summary();
    return summary ? { ...message, summary, content: [{ type: "text", text: summary.answer }] } : message;
  }

  #send(chat, body) {
    const content = typeof body.content === "string" ? [{ type: "text", text: body.content }] : body.content;
    const user = { id: this.id("msg"), parent: body.parent, role: "user", content, created_at: Date.now() };
    chat.messages.push(user);
    const words = content.find((part) => part.type === "text")?.text ?? "";
    chat.title ||= words.slice(0, 48);
    return { user, ...this.#start(chat, user.id, words, body.model) };
  }

  #again(chat, message, body) {
    const old = chat.messages.find((other) => other.id === message);
    const user = chat.messages.find((other) => other.id === old.parent);
    return this.#start(chat, user.id, user.content[0].text, body.model);
  }

  #start(chat, parent, words, model = this.defaultModel) {
    const id = this.id("run");
    const assistant = {
      id: this.id("msg"),
      parent,
      role: "assistant",
      content: [],
      created_at: Date.now(),
      model,
      run: id,
    };
    chat.messages.push(assistant);
    Object.assign(chat, { current: assistant.id, updated_at: Date.now() });
    const run = new FakeRun({ id, chat: chat.id, message: assistant.id, model, pace: this.pace });
    this.runs.set(id, run);
    run.on("file", ({ path, text }) => chat.files.write(path, text));
    run.on("state", () => this.#tell(run));
    this.#tell(run);
    void play(run, words);
    return { assistant, run: id };
  }

  #runCall(method, [, id, what, item], body, url, response) {
    const run = this.runs.get(id);
    if (!run) throw new Refusal(404, "not_found", "Run not found, or it is not yours.");
    switch (what) {
      case "events":
        return this.#events(run, url.searchParams, response);
      case "calls": {
        const found = run.log.find(
          (event) => event.body.type === "tool_finished" && event.body.call === item,
        );
        if (!found) throw new Refusal(404, "not_found", "This call has not finished.");
        return found.body;
      }
      case "cancel":
        run.stop();
        return null;
      default:
        if (!run.isWaitingFor(item))
          throw new Refusal(409, "conflict", "This no longer waits for an answer.");
        if (typeof (body.arguments?.path ?? "") !== "string") {
          throw new Refusal(
            422,
            "invalid_request",
            "The arguments do not fit the tool: path must be a text.",
          );
        }
        run.answer(item, what === "questions" ? body.answer : body);
        return null;
    }
  }

  #stream(response) {
    if (this.offline) {
      response.destroy();
      return false;
    }
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    response.write(": hello\n\n");
    return true;
  }

  #events(run, search, response) {
    if (!this.#stream(response)) return undefined;
    const encode = encoderOf(search);
    const after = Number(search.get("after") ?? 0);
    const write = (event) => {
      const frames = encode(event);
      if (event.seq > after) response.write(frames.join(""));
      if (event.body.type === "run_finished") response.end();
    };
    for (const event of run.log) write(event);
    run.on("event", write);
    response.on("close", () => run.off("event", write));
    return undefined;
  }

  #follow(response) {
    if (!this.#stream(response)) return undefined;
    this.#activity.add(response);
    response.on("close", () => this.#activity.delete(response));
    for (const run of this.runs.values()) if (run.state !== "finished") this.#tell(run, [response]);
    return undefined;
  }

  #tell(run, readers = this.#activity) {
    const chat = this.chats.get(run.chat);
    if (!chat) return;
    const data = JSON.stringify({ chat: run.chat, run: run.id, state: run.state, title: chat.title });
    for (const reader of readers) reader.write(`data: ${data}\n\n`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = await new FakeServer({ account: true, model: true }).listen(
    Number(process.env.PORT ?? 8000),
  );
  console.log(`The stand-in server listens on ${server.url}`);
}
