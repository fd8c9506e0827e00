/** Client-side router: parses the URL into a route, and navigates. */

import { currentPath, withBase, withoutBase } from "../api/base.ts";
import { statementIn } from "./fitting.ts";
import { unsaved } from "./unsaved.svelte.ts";

export type Route =
  | ChatRoute
  | SettingsRoute
  | { page: "login"; next: string; problem: string | null; step: "password" | "code" }
  | { page: "setup"; token: string | null; problem: string | null }
  | { page: "reset"; token: string }
  | { page: "signUp"; token: string | null }
  | { page: "inbox" }
  | KnowledgeRoute
  | GraphRoute
  | StoredPageRoute
  | HelpRoute
  | { page: "welcome" }
  | { page: "missing" };

export interface SettingsRoute {
  page: "settings";
  /** Empty for the menu, where it is a page of its own. */
  section: string;
  /** A heading or label of the page to scroll to. */
  part: string;
  query: string;
}

export interface ChatRoute {
  page: "chat";
  chat: string | null;
  replay: string | null;
  /** A message to scroll to, its tool call, and the words to highlight there. */
  message: string | null;
  call: string | null;
  words: string;
}

export interface KnowledgeRoute {
  page: "knowledge";
  collection: string | null;
  document: string | null;
  /** The query, and the collection to search from the page with all collections. */
  query: string;
  within: string | null;
  /** File filter: kind, part of the name, upload dates as 2026-01-31; `null` for no restriction. */
  kind: string | null;
  name: string | null;
  since: string | null;
  until: string | null;
  /** Filters by tags, separated by commas, and by a key of metadata with its value or range. */
  tags: string | null;
  key: string | null;
  value: string | null;
  first: string | null;
  last: string | null;
  /** The passage of the document to show, in Unicode characters. */
  from: number | null;
  to: number | null;
  /** The statement that cites the passage. */
  statement: string;
  /** The version of the document's text that is cited. */
  version: number | null;
}

/** The graph of a collection, at one entity or at the most connected ones. */
export interface GraphRoute {
  page: "graph";
  collection: string;
  entity: string | null;
}

/** A stored web page, at a passage in Unicode characters. */
export interface StoredPageRoute {
  page: "stored";
  id: string;
  /** A run that cites it. */
  run: string | null;
  from: number | null;
  to: number | null;
  /** The statement that cites the passage. */
  statement: string;
}

/** A page of the documentation, at a heading. */
export interface HelpRoute {
  page: "help";
  path: string;
  anchor: string;
}

const newChat: ChatRoute = {
  page: "chat",
  chat: null,
  replay: null,
  message: null,
  call: null,
  words: "",
};

export function routeOf(address: URL): Route {
  const [first = "", second = "", third = "", ...rest] = withoutBase(address.pathname)
    .split("/")
    .filter(Boolean);
  if (first === "help") {
    const path = [second, third, ...rest].filter(Boolean).join("/") || "README";
    return { page: "help", path, anchor: decodeURIComponent(address.hash.slice(1)) };
  }
  if (rest.length > 0 || (third && first !== "knowledge")) return { page: "missing" };
  switch (first) {
    case "":
      return newChat;
    case "c":
      return second
        ? {
            page: "chat",
            chat: decodeURIComponent(second),
            replay: address.searchParams.get("replay"),
            message: address.searchParams.get("message"),
            call: address.searchParams.get("call"),
            words: address.searchParams.get("q") ?? "",
          }
        : newChat;
    case "settings":
      return {
        page: "settings",
        section: second,
        part: address.hash.slice(1),
        query: address.searchParams.get("q") ?? "",
      };
    case "inbox":
      return second ? { page: "missing" } : { page: "inbox" };
    case "knowledge":
      if (second && third === "graph") {
        return { page: "graph", collection: second, entity: address.searchParams.get("entity") };
      }
      return {
        page: "knowledge",
        collection: second || null,
        document: third || null,
        query: address.searchParams.get("q") ?? "",
        within: address.searchParams.get("in"),
        kind: address.searchParams.get("kind"),
        name: address.searchParams.get("name"),
        since: address.searchParams.get("since"),
        until: address.searchParams.get("until"),
        tags: address.searchParams.get("tags"),
        key: address.searchParams.get("key"),
        value: address.searchParams.get("value"),
        first: address.searchParams.get("first"),
        last: address.searchParams.get("last"),
        from: placeOf(address.searchParams.get("from")),
        to: placeOf(address.searchParams.get("to")),
        statement: statementIn(address.hash),
        version: placeOf(address.searchParams.get("version")),
      };
    case "pages":
      if (!second) return { page: "missing" };
      return {
        page: "stored",
        id: decodeURIComponent(second),
        run: address.searchParams.get("run"),
        from: placeOf(address.searchParams.get("from")),
        to: placeOf(address.searchParams.get("to")),
        statement: statementIn(address.hash),
      };
    case "login":
      return {
        page: "login",
        next: localPath(address.searchParams.get("next")),
        problem: address.searchParams.get("problem"),
        step: address.searchParams.get("step") === "code" ? "code" : "password",
      };
    case "setup":
      return {
        page: "setup",
        token: address.searchParams.get("token"),
        problem: address.searchParams.get("problem"),
      };
    case "reset":
      return { page: "reset", token: address.hash.slice(1) };
    case "sign-up":
      return { page: "signUp", token: address.hash.slice(1) || null };
    case "welcome":
      return { page: "welcome" };
    default:
      return { page: "missing" };
  }
}

/** Only local paths: a link must not redirect users elsewhere after sign-in. */
function localPath(path: string | null): string {
  return path && /^\/(?![/\\])/.test(path) ? path : "/";
}

const placeOf = (text: string | null) => (text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null);

class Router {
  route = $state.raw<Route>(routeOf(new URL(location.href)));

  #shown = location.href;

  constructor() {
    window.addEventListener("popstate", () => this.#back());
  }

  go(path: string, options: { replace?: boolean } = {}): void {
    this.#open(withBase(path), options);
  }

  /** Navigates once the user has confirmed discarding a partly filled form. */
  leaveTo(path: string): void {
    const isElsewhere = new URL(withBase(path), location.href).pathname !== location.pathname;
    if (isElsewhere) unsaved.leave(() => this.go(path));
    else this.go(path);
  }

  /** The browser has already changed the URL: with a partly filled form, it is restored until confirmed. */
  #back(): void {
    const { href, pathname } = location;
    if (unsaved.hasForm && pathname !== new URL(this.#shown).pathname) {
      history.pushState(null, "", this.#shown);
      unsaved.leave(() => this.#open(href));
    } else this.#read();
  }

  /** Replays the answer `message` of the open chat; `null` ends the replay. */
  replay(message: string | null): void {
    this.go(currentPath() + (message === null ? "" : `?replay=${encodeURIComponent(message)}`));
  }

  #open(address: string, options: { replace?: boolean } = {}): void {
    if (options.replace) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
    this.#read();
  }

  #read(): void {
    this.#shown = location.href;
    this.route = routeOf(new URL(location.href));
  }
}

export const router = new Router();

/** For `<a onclick>`: handles plain clicks in the app, and leaves new tabs to the browser. */
export function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const { pathname, search, hash } = event.currentTarget as HTMLAnchorElement;
  router.leaveTo(withoutBase(pathname) + search + hash);
}
