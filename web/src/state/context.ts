/** Provides the open chat, the session and the models through Svelte context, so that tests can replace them. */
import { getContext } from "svelte";
import { openChat } from "./chat.svelte.ts";
import { models, type Models } from "./models.svelte.ts";
import { session, type Session } from "./session.svelte.ts";

export interface PageState {
  openChat: typeof openChat;
  session: Session;
  models: Models;
}

const key = Symbol("page state");
const app: PageState = { openChat, session, models };

/** Call during component initialization. Returns the app's own state unless the context overrides it. */
export function pageState(): PageState {
  return getContext<PageState | undefined>(key) ?? app;
}

/** Context for rendering a component; omitted parts are the app's own. */
export function pageContext(state: Partial<PageState>): Map<symbol, PageState> {
  return new Map([[key, { ...app, ...state }]]);
}
