/** The open chat, the session and the models as a Svelte context, so that components can be rendered with others. */
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

/** To be called while a component is created. Gives the app's own state unless a context has another. */
export function pageState(): PageState {
  return getContext<PageState | undefined>(key) ?? app;
}

/** The context to render a component with; what is left out is the app's own. */
export function pageContext(state: Partial<PageState>): Map<symbol, PageState> {
  return new Map([[key, { ...app, ...state }]]);
}
