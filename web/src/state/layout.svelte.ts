/** Visibility of the sidebar and the panel. On a narrow page they are sheets over the thread, initially closed. */
import { MediaQuery } from "svelte/reactivity";
import type { FileNews } from "./nodes.ts";
import { preferences, prefer } from "./preferences.svelte.ts";

export type PanelTab = "files" | "plan" | "debug";

class Layout {
  readonly #narrow = new MediaQuery("(max-width: 899.9px)");
  #sidebarSheet = $state(false);
  #panelSheet = $state(false);
  tab = $state<PanelTab>("files");
  /** The file shown in the panel; `null` for the list. */
  file = $state.raw<string | null>(null);
  /** The two versions being compared; `null` for the file itself. */
  change = $state.raw<{ from: number; to: number } | null>(null);
  keyboardHelp = $state(false);

  get narrow(): boolean {
    return this.#narrow.current;
  }

  get sidebar(): boolean {
    return this.narrow ? this.#sidebarSheet : preferences.sidebarOpen;
  }

  set sidebar(open: boolean) {
    if (this.narrow) this.#sidebarSheet = open;
    else prefer({ sidebarOpen: open });
  }

  get panel(): boolean {
    return this.narrow ? this.#panelSheet : preferences.panelOpen;
  }

  set panel(open: boolean) {
    if (this.narrow) this.#panelSheet = open;
    else prefer({ panelOpen: open });
  }

  showFile(path: string): void {
    this.tab = "files";
    this.file = path;
    this.change = null;
    this.panel = true;
  }

  showChange(path: string, from: number, to: number): void {
    this.showFile(path);
    this.change = { from, to };
  }

  /** Shows what a run made of a file: a new one as it is, a changed one as a diff. */
  showFileNews({ path, from, version, deleted }: Omit<FileNews, "sizeBytes" | "lines">): void {
    if (from === 0 && !deleted) this.showFile(path);
    else this.showChange(path, from, version);
  }

  /** Closes the sheets after a selection in one. */
  closeSheets(): void {
    this.#sidebarSheet = false;
    this.#panelSheet = false;
  }
}

export const layout = new Layout();
