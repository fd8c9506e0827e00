/** What a person does with the files of a chat: look, add, delete, bring back. */
import { deleteFile, listFiles, listVersions, restoreFile, uploadFile } from "../api/calls.ts";
import { ApiError } from "../api/http.ts";
import type { ChatFile } from "../api/types.ts";
import { t } from "../i18n/index.svelte.ts";
import { announcer } from "./announcer.svelte.ts";
import { attempt, sentenceOf, toasts } from "./toasts.svelte.ts";

const uploadLimitBytes = 10_000_000;

/** A path without the slash it begins with, as it is shown. */
export const shownName = (path: string) => path.replace(/^\//, "");

/** Whether a file may be a picture; the server looks at its bytes before it says so. */
export const seemsPicture = (path: string) => /\.(png|jpe?g|gif|webp)$/i.test(path);

/** A file of a directory that the chat has not looked at yet gets its first version once it does. */
const versionOf = (file: ChatFile) => Math.max(file.version, 1);

export class ChatFiles {
  /** null until it is known. */
  list = $state.raw<ChatFile[] | null>(null);
  /** What was deleted and can be brought back, each with its last version and when it went. */
  deleted = $state.raw<ChatFile[]>([]);
  /** Whether there are more than are listed. */
  more = $state(false);
  problem = $state("");
  /** The name of the file that is being sent. */
  sending = $state("");
  /** Counts up with each change made here, so that what is shown of a file can be asked again. */
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

  /** Sends files one after the other; one that is there already gets a new version. */
  async upload(picked: Iterable<File>): Promise<void> {
    for (const file of picked) {
      if (file.size > uploadLimitBytes) {
        toasts.add(t("files.tooLarge", { name: file.name }), true);
        continue;
      }
      await this.#send(file);
    }
  }

  /** Sends one over what is listed. What somebody has changed since is overwritten only if the person wants that. */
  async #send(file: File): Promise<void> {
    this.sending = file.name;
    const path = `/${file.name}`;
    const seen = this.list?.find((other) => other.path === path);
    // Where not all are listed it may be there all the same.
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

  /** Tells whether it went well. Where somebody was faster, a toast says so and offers to do it all the same. */
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
      // Not where somebody has made a new one meanwhile.
      const gone = (await listVersions(this.chat, path)).versions.find((state) => state.deleted);
      if (gone) await restoreFile(this.chat, { path, version: gone.version - 1, expected_version: 0 });
      await this.#changed();
    };
    toasts.add(t("files.deleted", { name: shownName(path) }), false, { label: t("files.undo"), run });
    await this.#changed();
  }

  /** Deletes what the list shows by now. */
  async #removeAsItIs(path: string): Promise<void> {
    const file = this.list?.find((other) => other.path === path);
    if (file) await this.remove(file);
  }

  /** Makes a file what it was at `version`, if it is still what the reader sees; 0 where there is none. */
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
