/** Upload queue of a collection: a few uploads at a time, each with progress and error. */
import { sendDocument } from "../../api/knowledge.ts";
import { t } from "../../i18n/index.svelte.ts";
import { collections } from "./collections.svelte.ts";
import { sentenceOf } from "../toasts.svelte.ts";
import type { Named } from "./folders.ts";

/** Small files are limited by latency rather than bandwidth. */
const atOnce = 3;

export interface Upload extends Named {
  id: number;
  sent: number;
  /** Empty unless the upload failed. */
  problem: string;
}

const tooLarge = (size: number, limit: number) =>
  size > limit ? t("unreadable.too_large", { mb: Math.floor(limit / 1_000_000) }) : "";

class Uploads {
  sending = $state<Upload[]>([]);
  failed = $state.raw<Upload[]>([]);
  /** Number of files queued and uploaded since the queue was last empty. */
  all = $state(0);
  done = $state(0);
  #workers = $state(0);
  #queue: Named[] = [];
  #stop = new AbortController();
  #next = 1;

  constructor(readonly collection: string) {}

  get isBusy(): boolean {
    return this.#workers > 0;
  }

  /** Adds files to the queue. `onsent` is called after each successful upload. */
  add(files: Named[], onsent: () => void): void {
    if (!this.isBusy) {
      this.all = 0;
      this.done = 0;
    }
    this.all += files.length;
    this.#queue.push(...files);
    while (this.#workers < atOnce && this.#queue.length > 0) void this.#work(onsent);
  }

  async #work(onsent: () => void): Promise<void> {
    this.#workers += 1;
    for (let file = this.#queue.shift(); file; file = this.#queue.shift()) {
      if (await this.#send(file)) onsent();
    }
    this.#workers -= 1;
  }

  async #send(named: Named): Promise<boolean> {
    const id = this.#next++;
    // Rejected before uploading gigabytes that the server would refuse.
    const problem = tooLarge(named.file.size, collections.fileBytes);
    if (problem) {
      this.failed = [...this.failed, { ...named, id, sent: 0, problem }];
      return false;
    }
    this.sending.push({ ...named, id, sent: 0, problem: "" });
    const { signal } = this.#stop;
    try {
      await sendDocument(this.collection, named.name, named.file, {
        signal,
        onprogress: (sent) => {
          const upload = this.sending.find((other) => other.id === id);
          if (upload) upload.sent = sent;
        },
      });
      this.done += 1;
      return true;
    } catch (error) {
      if (!signal.aborted) {
        this.failed = [...this.failed, { ...named, id, sent: 0, problem: sentenceOf(error) }];
      }
      return false;
    } finally {
      this.sending = this.sending.filter((upload) => upload.id !== id);
    }
  }

  retryFailed(onsent: () => void): void {
    const again = this.failed;
    this.failed = [];
    this.add(again, onsent);
  }

  /** Cancels pending uploads. Finished ones are kept. */
  cancel(): void {
    this.#queue = [];
    this.#stop.abort();
    this.#stop = new AbortController();
  }
}

/** Uploads continue while another page is open. */
const known: Uploads[] = [];

export function uploadsTo(collection: string): Uploads {
  const before = known.find((uploads) => uploads.collection === collection);
  if (before) return before;
  const uploads = new Uploads(collection);
  known.push(uploads);
  return uploads;
}

export const isUploading = () => known.some((uploads) => uploads.isBusy);
