/** Which page the address names, and going to another one without loading the app again. */

import { unsaved } from "./unsaved.svelte.ts";

export type Route =
  | ChatRoute
  | { page: "settings"; section: string }
  | { page: "login"; next: string; problem: string | null; step: "password" | "code" }
  | { page: "setup"; token: string | null; problem: string | null }
  | { page: "reset"; token: string }
  | { page: "signUp"; token: string | null }
  | { page: "inbox" }
  | KnowledgeRoute
  | GraphRoute
  | StoredPageRoute
  | { page: "welcome" }
  | { page: "missing" };

export interface ChatRoute {
  page: "chat";
  chat: string | null;
  replay: string | null;
  /** A message to show, the tool call of it that is meant, and the words to mark there. */
  message: string | null;
  call: string | null;
  words: string;
}

export interface KnowledgeRoute {
  page: "knowledge";
  collection: string | null;
  document: string | null;
  /** What is looked for, and in which collection where all are shown. */
  query: string;
  within: string | null;
  /** Which files: their kind, a part of their names, the days they came on, as 2026-01-31; nothing where all are searched. */
  kind: string | null;
  name: string | null;
  since: string | null;
  until: string | null;
  /** The passage of the document that is shown, in Unicode characters. */
  from: number | null;
  to: number | null;
}

/** The graph of a collection, at one thing or at what most is said of. */
export interface GraphRoute {
  page: "graph";
  collection: string;
  entity: string | null;
}

/** A copy of a page of the web, at a passage in Unicode characters. */
export interface StoredPageRoute {
  page: "stored";
  id: string;
  /** A run that cites it. */
  run: string | null;
  from: number | null;
  to: number | null;
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
  const [first = "", second = "", third = "", ...rest] = address.pathname.split("/").filter(Boolean);
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
      return { page: "settings", section: second || "appearance" };
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
        from: placeOf(address.searchParams.get("from")),
        to: placeOf(address.searchParams.get("to")),
      };
    case "pages":
      if (!second) return { page: "missing" };
      return {
        page: "stored",
        id: decodeURIComponent(second),
        run: address.searchParams.get("run"),
        from: placeOf(address.searchParams.get("from")),
        to: placeOf(address.searchParams.get("to")),
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

/** Only a path of our own: a link must not send people elsewhere after they signed in. */
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
    if (options.replace) history.replaceState(null, "", path);
    else history.pushState(null, "", path);
    this.#read();
  }

  /** Goes where somebody wants to, once they agree that a half-filled form of this page is lost. */
  leaveTo(path: string): void {
    const isElsewhere = new URL(path, location.href).pathname !== location.pathname;
    if (isElsewhere) unsaved.leave(() => this.go(path));
    else this.go(path);
  }

  /** The browser has left the address already: a page with a half-filled form takes it back until it is agreed. */
  #back(): void {
    const { href, pathname } = location;
    if (unsaved.hasForm && pathname !== new URL(this.#shown).pathname) {
      history.pushState(null, "", this.#shown);
      unsaved.leave(() => this.go(href));
    } else this.#read();
  }

  /** Plays the answer `message` of the open chat back; null ends that. */
  replay(message: string | null): void {
    this.go(location.pathname + (message === null ? "" : `?replay=${encodeURIComponent(message)}`));
  }

  #read(): void {
    this.#shown = location.href;
    this.route = routeOf(new URL(location.href));
  }
}

export const router = new Router();

/** For `<a onclick>`: follows plain clicks inside the app, leaves new tabs to the browser. */
export function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const { pathname, search } = event.currentTarget as HTMLAnchorElement;
  router.leaveTo(pathname + search);
}
