/** The directories of the server that a new chat may work in, and the one that is chosen for the next. */
import { listWorkspaces } from "../api/calls.ts";
import type { WorkspaceChoice } from "../api/types.ts";

class Workspaces {
  list = $state.raw<WorkspaceChoice[]>([]);
  /** Nothing where the files are to be virtual. */
  chosen = $state.raw<string | null>(null);

  async load(): Promise<void> {
    this.list = (await listWorkspaces()).workspaces;
    if (!this.list.some((one) => one.name === this.chosen)) this.chosen = null;
  }
}

export const workspaces = new Workspaces();
