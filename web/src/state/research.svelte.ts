/**
 * Mode of the next message: chat, web search, research or deep research. It belongs to one chat: it survives a reload,
 * but another chat starts without it, however it is opened.
 */
import { storageKey } from "../api/base.ts";
export type WorkMode = "chat" | "web_search" | "research" | "deep";

const modes: readonly WorkMode[] = ["chat", "web_search", "research", "deep"];
/** Modes that the research button cycles through. */
const round: readonly WorkMode[] = ["chat", "research", "deep"];
const place = storageKey("mode");

/** The saved mode of the chat at this URL; that of another chat is discarded. */
function kept(): WorkMode {
  try {
    const [mode, address] = (sessionStorage.getItem(place) ?? "").split(" ");
    if (address === location.pathname) return modes.find((known) => known === mode) ?? "chat";
    sessionStorage.removeItem(place);
  } catch {
    // Storage is unavailable.
  }
  return "chat";
}

class Research {
  mode = $state<WorkMode>(kept());

  constructor() {
    // A page restored from the back/forward cache may have been left for another chat.
    window.addEventListener("pageshow", ({ persisted }) => {
      if (persisted) this.mode = kept();
    });
  }

  /** Cycles through off, research, deep. */
  next(): void {
    this.#set(round[(Math.max(0, round.indexOf(this.mode)) + 1) % round.length] ?? "chat");
  }

  /** Toggles web search, which research always includes. */
  toggleWeb(): void {
    this.#set(this.mode === "web_search" ? "chat" : "web_search");
  }

  reset(): void {
    if (this.mode !== "chat") this.#set("chat");
  }

  /** Called when the URL of the chat changes, such as when a new chat gets its ID. */
  moved(): void {
    if (this.mode !== "chat") this.#keep();
  }

  #set(mode: WorkMode): void {
    this.mode = mode;
    this.#keep();
  }

  #keep(): void {
    try {
      if (this.mode === "chat") sessionStorage.removeItem(place);
      else sessionStorage.setItem(place, `${this.mode} ${location.pathname}`);
    } catch {
      // Without storage the mode is lost with the page.
    }
  }
}

export const research = new Research();
