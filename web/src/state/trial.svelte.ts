/** An agent that is tried in a chat while it is being made: the way back to its form, and to the model before. */
import { agentId, type Models } from "./models.svelte.ts";
import { openNewChat } from "./new-chat.ts";
import { prefer, preferences } from "./preferences.svelte.ts";

class Trial {
  #agent = $state<string | null>(null);
  /** The choice before the first try. */
  #before: string | null = null;

  /** Name of the agent; `null` once another model is chosen. */
  agentOf(models: Models): string | null {
    return this.#agent !== null && models.chosen?.id === agentId(this.#agent) ? this.#agent : null;
  }

  /** Opens a new chat with an agent that has just been saved. */
  start(models: Models, agent: string): void {
    if (this.agentOf(models) === null) this.#before = preferences.model;
    this.#agent = agent;
    models.choose(agentId(agent));
    openNewChat();
  }

  end(): void {
    this.#agent = null;
    prefer({ model: this.#before });
  }
}

export const trial = new Trial();
