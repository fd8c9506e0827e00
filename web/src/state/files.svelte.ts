/** File operations of a chat: list, upload, delete, restore. */
import { deleteFile, listFiles, listVersions, restoreFile, uploadFile } from "../api/calls.ts";
import { ApiError } from "../api/http.ts";
import type { ChatFile } from "../api/types.ts";
import { t } from "../i18n/index.svelte.ts";
import { announcer } from "./announcer.svelte.ts";
import { asSpelt } from "./direction.ts";
import type { FileChange } from "./nodes.ts";
import { attempt, sentenceOf, toasts } from "./toasts.svelte.ts";

const uploadLimitBytes = 10_000_000;

/** A path without its leading slash, for display. */
export const shownName = (path: string) => asSpelt(path.replace(/^\//, ""));

/** Whether the file may be an image; the server checks its content before serving it as one. */
export const seemsPicture = (path: string) => /\.(png|jpe?g|gif|webp)$/i.test(path);

/** Whether a change left a file that may be an image. */
export const isPictureMade = ({ path, deleted }: FileChange) => !deleted && seemsPicture(path);

/** A file in a directory that the chat has not scanned yet gets its first version when it does. */
const versionOf = (file: ChatFile) => Math.max(file.version, 1);

export class ChatFiles {
  /** `null` until loaded. */
  list = $state.raw<ChatFile[] | null>(null);
  /** Deleted files that can be restored, each with its last version and time of deletion. */
  deleted = $state.raw<ChatFile[]>([]);
  /** Whether there are more files than listed. */
  more = $state(false);
  problem = $state("");
  /** Name of the file being uploaded. */
  sending = $state("");
  /** Incremented on every change made here, so that the displayed file is reloaded. */
  changes = $state(0);

  constructor(readonly chat: string) {}

  async load(): Promise<void> {
    try {
      const { files, more, deleted } = await listFiles(this.chat);
      [this.list, this.more, this.deleted, this.problem] = [files, more, deleted, ""];
    } catch (error) {
      this.problem = sentenceOf(error);
    }
  }

  /** Uploads files one after the other; an existing file gets a new version. */
  async upload(picked: Iterable<File>): Promise<void> {
    for (const file of picked) {
      if (file.size > uploadLimitBytes) {
        toasts.add(t("files.tooLarge", { name: file.name }), true);
        continue;
      }
      await this.#send(file);
    }
  }

  /** Uploads a file over the listed version. A newer version is overwritten only if the user confirms. */
  async #send(file: File): Promise<void> {
    this.sending = file.name;
    const path = `/${file.name}`;
    const seen = this.list?.find((other) => other.path === path);
    // If the list is incomplete, the file may exist anyway.
    const version = seen ? versionOf(seen) : this.list && !this.more ? 0 : null;
    const sent = await this.#unlessChanged(
      () => uploadFile(this.chat, path, file, version),
      t("files.changedUpload", { name: file.name }),
      { label: t("files.overwrite"), run: () => this.#send(file) },
    );
    if (sent) announcer.say(t("files.uploaded", { name: file.name }));
    this.sending = "";
    await this.#changed();
  }

  /** Returns whether the action succeeded. On a conflict, a toast offers to do it anyway. */
  async #unlessChanged(
    action: () => Promise<unknown>,
    words: string,
    again: { label: string; run: () => Promise<unknown> },
  ): Promise<boolean> {
    try {
      await action();
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status === 409) toasts.add(words, true, again);
      else toasts.add(sentenceOf(error), true);
      return false;
    }
  }

  /** Deletes a file and offers to undo that. */
  async remove(file: ChatFile): Promise<void> {
    const { path } = file;
    const removed = await this.#unlessChanged(
      () => deleteFile(this.chat, path, versionOf(file)),
      t("files.changedDelete", { name: shownName(path) }),
      { label: t("files.deleteAnyway"), run: () => this.#removeAsItIs(path) },
    );
    if (!removed) return this.#changed();
    const run = async () => {
      // Not if a new file has been created in the meantime.
      const gone = (await listVersions(this.chat, path)).versions.find((state) => state.deleted);
      if (gone) await restoreFile(this.chat, { path, version: gone.version - 1, expected_version: 0 });
      await this.#changed();
    };
    toasts.add(t("files.deleted", { name: shownName(path) }), false, { label: t("files.undo"), run });
    await this.#changed();
  }

  /** Deletes the version listed now. */
  async #removeAsItIs(path: string): Promise<void> {
    const file = this.list?.find((other) => other.path === path);
    if (file) await this.remove(file);
  }

  /** Restores a file to `version` if its current version is still `expected_version` (0: it does not exist). */
  async restore(path: string, version: number, expected_version: number): Promise<void> {
    if (!(await attempt(() => restoreFile(this.chat, { path, version, expected_version })))) {
      return this.#changed();
    }
    toasts.add(t("files.restored", { name: shownName(path), version }));
    await this.#changed();
  }

  async #changed(): Promise<void> {
    await this.load();
    this.changes += 1;
  }
}
