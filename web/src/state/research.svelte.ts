/** Whether the next message is a conversation, research or deep research. Kept while the browser tab lives. */
export type WorkMode = "chat" | "research" | "deep";

const modes: readonly WorkMode[] = ["chat", "research", "deep"];
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
    this.#set(modes[(modes.indexOf(this.mode) + 1) % modes.length] ?? "chat");
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
