/** State of the composer: draft, `#` list, completion, and the message being sent or queued. */
import { onDestroy, tick, untrack } from "svelte";
import type { InputMode } from "../../api/events.ts";
import { ApiError } from "../../api/http.ts";
import type { ListedCollection } from "../../api/knowledge.ts";
import type { Part } from "../../api/types.ts";
import { t } from "../../i18n/index.svelte.ts";
import { announcer } from "../../state/announcer.svelte.ts";
import { attachments, type Attached } from "../../state/attached.svelte.ts";
import { firstWord, isWithin } from "../../state/completion.ts";
import { completion } from "../../state/completion.svelte.ts";
import { offerComposer } from "../../state/composer-focus.ts";
import type { PageState } from "../../state/context.ts";
import { isRightToLeft } from "../../state/direction.ts";
import { keepDraft, readDraft } from "../../state/drafts.ts";
import { isInputMethod } from "../../state/input-method.ts";
import { collections } from "../../state/knowledge/collections.svelte.ts";
import { pageDrop } from "../../state/page-drop.ts";
import { preferences } from "../../state/preferences.svelte.ts";
import { prefill } from "../../state/prefill.svelte.ts";
import { research } from "../../state/research.svelte.ts";
import { router } from "../../state/router.svelte.ts";
import { attempt, toasts } from "../../state/toasts.svelte.ts";
import { unsaved } from "../../state/unsaved.svelte.ts";
import { fitting, hashAt, without, type Hash } from "./hash.ts";
import { isLong, textFile } from "./paste.ts";
import { isDocument, keepPictures, readPicture, takePictures, type Picture } from "./pictures.ts";

/** Interval for polling a missing model, which may come back. */
const pollIntervalMs = 15_000;
const maxOffered = 50;
const maxUndoableLines = 500;

/** A message queued until it can be sent. */
interface QueuedMessage {
  text: string;
  pictures: Picture[];
  files: number;
}

/** Read lazily. */
interface Props {
  /** `null` for a new chat. */
  chat: string | null;
  /** Resolves to whether the message was sent. */
  onsend: (content: Part[]) => Promise<boolean>;
}

const hasModifier = (event: KeyboardEvent) =>
  event.shiftKey || event.ctrlKey || event.altKey || event.metaKey;

/** What Enter does to a message while agents are running; `null` for a new line. */
function modeOf(event: KeyboardEvent): InputMode | null {
  const { shiftKey, altKey } = event;
  const isControl = event.ctrlKey || event.metaKey;
  if (altKey) return null;
  if (isControl) return shiftKey ? "interrupt" : "queue";
  return shiftKey ? null : "steer";
}

/** Must be created during component initialization, whose effects it shares. */
export class ComposerState {
  text = $state("");
  pictures = $state.raw<Picture[]>([]);
  /** The text field. */
  area = $state<HTMLTextAreaElement>();

  /** The `#word` being typed, which references a collection. */
  #hash = $state.raw<Hash | null>(null);
  /** Index of the collection that Enter selects. */
  at = $state(0);
  readonly offered = $derived(
    this.#hash ? fitting(collections.list ?? [], this.#hash.word).slice(0, maxOffered) : [],
  );

  /** Sent as soon as possible, unless the message has changed since. */
  #queued = $state.raw<QueuedMessage | null>(null);
  readonly isQueued = $derived(
    this.#queued !== null &&
      this.#queued.text === this.text &&
      this.#queued.pictures === this.pictures &&
      this.#queued.files === attachments.list.length,
  );

  /** The chat whose draft is shown; `undefined` initially. */
  #shown: string | null | undefined;
  /** The new chat being sent to gets its ID, which is not a change of chat. */
  #begins = false;
  /** A completion is wanted, but the models are not loaded yet. */
  #isCompletionDue = false;

  readonly #props: Props;
  readonly #page: PageState;

  constructor(props: Props, page: PageState) {
    this.#props = props;
    this.#page = page;
    $effect(() => this.#pollMissingModel());
    $effect(() => this.#sendWhenDue());
    $effect(() => {
      const { chat } = props;
      untrack(() => this.#showDraftOf(chat));
    });
    $effect(() => {
      void props.chat;
      untrack(() => void tick().then(() => this.#offerFocus()));
    });
    $effect(() => this.#takePrefill());
    $effect(() => {
      if (page.models.chosen !== null && this.#isCompletionDue) untrack(() => this.complete());
    });
    // These do not survive a reload.
    $effect(() => unsaved.hold(() => this.pictures.length > 0 || attachments.isUploading));
    // Files dropped anywhere on a chat page are attached to the message.
    $effect(() => pageDrop.takeFiles((files) => void this.attach(files)));
    onDestroy(() => this.#close());
  }

  readonly #isEmpty = $derived(
    this.text.trim() === "" && this.pictures.length === 0 && attachments.list.length === 0,
  );

  get #isAnswering(): boolean {
    return this.#page.openChat.sending || this.#page.openChat.active !== null;
  }

  get #canSend(): boolean {
    const { openChat, models } = this.#page;
    // Until the chat is loaded, a message would start another branch.
    const isOpen = openChat.state === "ready" || openChat.state === "empty";
    const hasModel = models.chosen !== null || openChat.owner !== null;
    return !this.#isAnswering && hasModel && isOpen && !attachments.isBusy && !this.#isEmpty;
  }

  get #hasFiles(): boolean {
    return this.pictures.length > 0 || attachments.list.length > 0;
  }

  /** Whether the message can go to the running agents, which read text. */
  get canSteer(): boolean {
    const { openChat } = this.#page;
    return openChat.active !== null && !openChat.sending && this.text.trim() !== "" && !this.#hasFiles;
  }

  /** Whether a message with attachments has to wait for the end of the answer. */
  get hasToWait(): boolean {
    return this.#isAnswering && this.#hasFiles;
  }

  /** Whether what is missing will arrive by itself: pending requests of the page, or uploads. */
  get #isComing(): boolean {
    const { openChat, models } = this.#page;
    return models.isLoading || openChat.state === "loading" || attachments.isBusy || this.hasToWait;
  }

  get #canWait(): boolean {
    const mayCome = this.#isComing || !this.#page.models.loaded;
    const isAnswered = !this.#isAnswering || this.hasToWait;
    return !this.#canSend && isAnswered && !this.#isEmpty && mayCome;
  }

  /** Whether the button is enabled. */
  get canPress(): boolean {
    return this.#canSend || this.#canWait;
  }

  /** Sends the message, or cancels a queued one. */
  submit(): void {
    if (this.isQueued) this.#queued = null;
    else this.#requestSend();
  }

  /** Handles user input. */
  typed(event: Event): void {
    keepDraft(this.#props.chat, this.text);
    this.#findHash();
    // Text still being composed by an input method is not final.
    if ("isComposing" in event && event.isComposing) completion.stop();
    else this.complete();
  }

  /** The completion applies only while the caret is at the end of the text. */
  caretMoved(): void {
    if (!this.#isAtEnd) completion.stop();
  }

  blurred(): void {
    this.#hash = null;
    this.#isCompletionDue = false;
    completion.stop();
  }

  pressed(event: KeyboardEvent): void {
    if (this.#pressedInList(event) || this.#pressedInCompletion(event)) return;
    if (event.key !== "Enter" || isInputMethod(event)) return;
    const mode = this.canSteer ? modeOf(event) : null;
    if (mode === null && hasModifier(event)) return;
    if (matchMedia("(pointer: coarse)").matches) return;
    event.preventDefault();
    if (mode === null) this.#requestSend();
    else void this.steer(mode);
  }

  pasted(event: ClipboardEvent): void {
    const files = [...(event.clipboardData?.files ?? [])];
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (files.length === 0 && !isLong(text)) return;
    event.preventDefault();
    if (files.length > 0) void this.attach(files);
    else void this.#attachText(text);
  }

  async #attachText(text: string): Promise<void> {
    const { chat } = this.#props;
    const taken = attachments.list.map(({ name }) => name);
    const file = textFile(text, taken);
    announcer.say(t("composer.pastedAs", { name: file.name }));
    if (await attachments.addFile(file, text)) return;
    // Text that cannot be attached is pasted after all, or is in the draft of the chat that was left meanwhile.
    if (this.#props.chat === chat) this.#insert(text);
    else keepDraft(chat, `${readDraft(chat)}${text}`);
  }

  /** Moves a pasted text from its attachment into the message. */
  insertText(attached: Attached): void {
    this.#insert(attached.text ?? "");
    attachments.remove(attached);
  }

  /** Inserts text at the caret as if it were typed, and replaces nothing. */
  #insert(text: string): void {
    const { area } = this;
    if (!area) return;
    area.focus();
    const caret = area.selectionEnd;
    area.setSelectionRange(caret, caret);
    // Deprecated, but the only way that can be undone. Browsers take seconds for thousands of lines.
    const canUndo = document.activeElement === area && text.split("\n").length <= maxUndoableLines;
    if (canUndo && document.execCommand("insertText", false, text)) return;
    area.setRangeText(text, caret, caret, "end");
    area.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }

  /** Whether recordings are transcribed here rather than sent to the model, which is not known to hear. */
  get #readsRecordings(): boolean {
    const { models, session } = this.#page;
    return (
      session.me?.transcription === true && models.modelOf(models.chosen)?.listed.abilities.audio !== true
    );
  }

  async attach(files: Iterable<File>): Promise<void> {
    for (const file of files) {
      if (isDocument(file, this.#readsRecordings)) {
        void attachments.addFile(file);
        continue;
      }
      const picture = await readPicture(file);
      if (typeof picture === "string") toasts.add(t(picture, { name: file.name }), true);
      else this.pictures = [...this.pictures, picture];
    }
  }

  removePicture(picture: Picture): void {
    this.pictures = this.pictures.filter((other) => other !== picture);
  }

  /** Attaches the collection and removes its `#word`. */
  pick(collection: ListedCollection): void {
    if (!this.#hash) return;
    const rest = without(this.text, this.#hash);
    attachments.addCollection(collection);
    this.text = rest.text;
    this.#hash = null;
    keepDraft(this.#props.chat, this.text);
    void tick().then(() => {
      this.area?.focus();
      this.area?.setSelectionRange(rest.caret, rest.caret);
    });
  }

  /** Requests a completion if the caret is at the end of the text. */
  complete(): void {
    const { chosen } = this.#page.models;
    const { me } = this.#page.session;
    const isOn = me?.autocomplete && preferences.completions && !this.#hash;
    const isWanted = isOn && this.#isAtEnd && isWithin(this.text, me.autocomplete_max_length);
    this.#isCompletionDue = isWanted === true && chosen === null;
    if (isWanted && chosen !== null) completion.follow(this.text, chosen.id);
    else completion.stop();
  }

  /** Accepts the suggestion, or the start of it. */
  takeCompletion(words: string): void {
    this.text += words;
    keepDraft(this.#props.chat, this.text);
    void tick().then(() => {
      this.area?.setSelectionRange(this.text.length, this.text.length);
      this.complete();
    });
  }

  get #isAtEnd(): boolean {
    const { area, text } = this;
    return area?.selectionStart === text.length && area.selectionEnd === text.length;
  }

  /** The arrow that moves on from the last line. */
  get #forward(): string {
    return isRightToLeft(this.text.slice(this.text.lastIndexOf("\n") + 1)) ? "ArrowLeft" : "ArrowRight";
  }

  #findHash(): void {
    const { area } = this;
    const before = this.#hash;
    this.#hash =
      area && area.selectionStart === area.selectionEnd ? hashAt(this.text, area.selectionStart) : null;
    if (this.#hash && !before) void collections.load();
    if (this.#hash?.word !== before?.word) this.at = 0;
  }

  /** Whether the collection list handled the key. */
  #pressedInList(event: KeyboardEvent): boolean {
    const { offered, at } = this;
    const chosen = offered[at];
    if (!chosen || isInputMethod(event)) return false;
    if (event.key === "ArrowDown") this.at = (at + 1) % offered.length;
    else if (event.key === "ArrowUp") this.at = (at + offered.length - 1) % offered.length;
    else if (event.key === "Enter" || event.key === "Tab") this.pick(chosen);
    else if (event.key === "Escape") this.#hash = null;
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  /** Whether the completion handled the key: Tab accepts all of it, the arrow along the line a word, Escape dismisses it. */
  #pressedInCompletion(event: KeyboardEvent): boolean {
    const { ghost } = completion;
    if (ghost === "" || isInputMethod(event) || hasModifier(event) || !this.#isAtEnd) return false;
    if (event.key === "Escape") completion.stop();
    else if (event.key === "Tab") this.takeCompletion(ghost);
    else if (event.key === this.#forward) this.takeCompletion(firstWord(ghost));
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  /** Sends the message to the running agents. */
  async steer(mode: InputMode): Promise<void> {
    const { chat, onsend } = this.#props;
    const { openChat } = this.#page;
    completion.stop();
    const text = this.text.trim();
    this.text = "";
    keepDraft(chat, "");
    const isSent = await attempt(async () => {
      try {
        await openChat.steer(text, mode);
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 409 || !(await openChat.ended())) throw error;
        // The answer was finished in the meantime.
        if (!(await onsend([{ type: "text", text }]))) this.#restore(chat, text);
      }
    });
    if (!isSent) this.#restore(chat, text);
  }

  /** Brings back a text that could not be sent, above what was typed since. */
  #restore(chat: string | null, text: string): void {
    const now = this.#props.chat === chat ? this.text : readDraft(chat);
    const both = now.trim() === "" ? text : `${text}\n${now}`;
    keepDraft(chat, both);
    if (this.#props.chat === chat) this.text = both;
  }

  /** Sends now, or once everything the message waits for is there. */
  #requestSend(): void {
    const { models } = this.#page;
    if (this.canSteer) {
      void this.steer("steer");
      return;
    }
    if (this.#canSend) {
      void this.#send();
      return;
    }
    if (models.missing !== null) {
      toasts.add(models.missingSentence(models.missing), true);
      void models.load().catch(() => undefined);
      return;
    }
    if (!this.#canWait || this.isQueued) return;
    // Retry what failed to load.
    if (!models.loaded && !models.isLoading) void attempt(() => models.load());
    completion.stop();
    this.#queued = { text: this.text, pictures: this.pictures, files: attachments.list.length };
    announcer.say(t(this.hasToWait ? "inputs.withFiles" : "composer.waits"));
  }

  async #send(): Promise<void> {
    const { chat, onsend } = this.#props;
    completion.stop();
    this.#begins = chat === null;
    const text = this.text.trim();
    const pictures = this.pictures;
    const content: Part[] = [
      ...(text === "" ? [] : [{ type: "text" as const, text }]),
      ...pictures.map((picture) => ({ type: picture.kind, url: picture.url })),
      ...attachments.parts,
    ];
    const attached = attachments.clear();
    this.text = "";
    this.pictures = [];
    keepDraft(chat, "");
    if (await onsend(content)) return;
    // Sending failed: restore the input.
    this.text = text;
    this.pictures = pictures;
    attachments.putBack(attached);
    keepDraft(this.#props.chat, text);
  }

  #pollMissingModel(): (() => void) | undefined {
    const { models } = this.#page;
    if (models.missing === null) return undefined;
    const timer = setInterval(() => void models.load().catch(() => undefined), pollIntervalMs);
    return () => clearInterval(timer);
  }

  #sendWhenDue(): void {
    if (this.#queued === null || (this.isQueued && !this.#canSend && this.#isComing)) return;
    const isDue = this.isQueued && this.#canSend;
    this.#queued = null;
    if (isDue) untrack(() => void this.#send());
  }

  /** Each chat has its own draft. */
  #showDraftOf(chat: string | null): void {
    if (this.#shown !== undefined && this.#shown !== chat) {
      this.#hash = null;
      this.#queued = null;
      if (!this.#begins) {
        keepPictures(this.#shown, this.pictures);
        research.reset();
      }
      this.#begins = false;
    }
    this.#shown = chat;
    this.text = readDraft(chat);
    this.pictures = takePictures(chat);
    attachments.open(chat);
  }

  /** A link to a message, such as a search result, moves the focus there. */
  #offerFocus(): void {
    const { route } = router;
    if (route.page === "chat" && route.message === null) offerComposer();
  }

  /** Below the draft, as if it were typed: it can be undone. */
  #append(words: string): void {
    const { text } = this;
    const missing = text.trim() === "" ? 0 : 2 - (/\n{0,2}$/.exec(text)?.[0].length ?? 0);
    this.area?.setSelectionRange(text.length, text.length);
    this.#insert(`${"\n".repeat(missing)}${words}\n\n`);
  }

  /** The prefill goes above text that is already there, unless it says otherwise. */
  #takePrefill(): void {
    if (prefill.words === null) return;
    const words = prefill.take() ?? "";
    if (prefill.isBelow) {
      untrack(() => this.#append(words));
      return;
    }
    this.text = untrack(() => (this.text.trim() === "" ? words : `${words}\n${this.text}`));
    keepDraft(
      this.#props.chat,
      untrack(() => this.text),
    );
    this.area?.focus();
    this.area?.setSelectionRange(words.length, words.length);
  }

  #close(): void {
    completion.stop();
    research.reset();
    keepPictures(this.#props.chat, this.pictures);
    // Attachments added from another page go to a new chat.
    attachments.open(null);
  }
}
