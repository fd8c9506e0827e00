/** Whether the next message is a conversation, with a look at the web or without, research or deep research. It is for one
 *  chat: a reload keeps it, another chat begins without it, however one gets there. */
export type WorkMode = "chat" | "web_search" | "research" | "deep";

const modes: readonly WorkMode[] = ["chat", "web_search", "research", "deep"];
/** What the button for research goes through. */
const round: readonly WorkMode[] = ["chat", "research", "deep"];
const place = "glasshouse.mode";

/** The mode that was kept for the chat of this address; that of another one is forgotten. */
function kept(): WorkMode {
  try {
    const [mode, address] = (sessionStorage.getItem(place) ?? "").split(" ");
    if (address === location.pathname) return modes.find((known) => known === mode) ?? "chat";
    sessionStorage.removeItem(place);
  } catch {
    // The browser keeps nothing here.
  }
  return "chat";
}

class Research {
  mode = $state<WorkMode>(kept());

  constructor() {
    // A page that comes back as it was left may have been left for another chat.
    window.addEventListener("pageshow", ({ persisted }) => {
      if (persisted) this.mode = kept();
    });
  }

  /** Off, research, deep, off. */
  next(): void {
    this.#set(round[(Math.max(0, round.indexOf(this.mode)) + 1) % round.length] ?? "chat");
  }

  /** The look at the web, which research takes by itself. */
  toggleWeb(): void {
    this.#set(this.mode === "web_search" ? "chat" : "web_search");
  }

  reset(): void {
    if (this.mode !== "chat") this.#set("chat");
  }

  /** The chat has another address now, such as a new one that has just been named. */
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
      // Then it is forgotten with the page.
    }
  }
}

export const research = new Research();
