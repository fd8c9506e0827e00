/** Counts frames by type and agent, and collects agent names. */
import type { ReadFrame } from "./frames.ts";

export interface Tally {
  types: Map<string, number>;
  agents: Map<string, number>;
  agentNames: Map<string, string>;
}

export const emptyTally = (): Tally => ({ types: new Map(), agents: new Map(), agentNames: new Map() });

export function count({ types, agents, agentNames }: Tally, { frame, agentName }: ReadFrame): void {
  types.set(frame.type, (types.get(frame.type) ?? 0) + 1);
  agents.set(frame.agent, (agents.get(frame.agent) ?? 0) + 1);
  if (agentName) agentNames.set(frame.agent, agentName);
}
