/** Server directories that a new chat can use, and the one selected for the next. */
import { listWorkspaces } from "../api/calls.ts";
import type { WorkspaceChoice } from "../api/types.ts";

class Workspaces {
  list = $state.raw<WorkspaceChoice[]>([]);
  /** `null` for virtual files. */
  chosen = $state.raw<string | null>(null);

  async load(): Promise<void> {
    this.list = (await listWorkspaces()).workspaces;
    if (!this.list.some((one) => one.name === this.chosen)) this.chosen = null;
  }
}

export const workspaces = new Workspaces();
