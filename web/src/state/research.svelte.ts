/** Whether the next message is a conversation, with a look at the web or without, research or deep research. Kept while the
 *  browser tab lives. */
export type WorkMode = "chat" | "web_search" | "research" | "deep";

const modes: readonly WorkMode[] = ["chat", "web_search", "research", "deep"];
/** What the button for research goes through. */
const round: readonly WorkMode[] = ["chat", "research", "deep"];
const place = "glasshouse.mode";

function kept(): WorkMode {
  try {
    const mode = sessionStorage.getItem(place);
    return modes.find((known) => known === mode) ?? "chat";
  } catch {
    // The browser keeps nothing here.
    return "chat";
  }
}

class Research {
  mode = $state<WorkMode>(kept());

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

  #set(mode: WorkMode): void {
    this.mode = mode;
    try {
      if (mode === "chat") sessionStorage.removeItem(place);
      else sessionStorage.setItem(place, mode);
    } catch {
      // Then it is forgotten with the page.
    }
  }
}

export const research = new Research();
