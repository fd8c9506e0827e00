/** Reads images, audio and video from the clipboard, a drop or a file dialog as data URLs. */

export interface Picture {
  id: number;
  kind: "image" | "audio" | "video";
  name: string;
  url: string;
}

export const pictureTypes = ["image/png", "image/jpeg", "image/webp", "image/gif"];
export const maxPictureBytes = 8 * 1024 * 1024;

/** Maximum size that still fits into a request as a data URL. */
export const maxMediumBytes = 7_000_000;

export type PictureProblem = "composer.tooLarge" | "composer.mediumTooLarge" | "composer.notPicture";

// By name, because many systems report `.ts` as “video/mp2t” and a playlist as “audio/x-mpegurl”.
const audio = [
  "aac",
  "aiff",
  "flac",
  "m4a",
  "mp3",
  "mp4",
  "mpeg",
  "ogg",
  "opus",
  "vnd.wave",
  "wav",
  "wave",
  "webm",
];
const soundTypes = audio.flatMap((name) => [`audio/${name}`, `audio/x-${name}`]);
const filmTypes = ["mp4", "mpeg", "ogg", "quicktime", "webm", "x-matroska"].map((name) => `video/${name}`);

/** Media type of the file as a message part; `undefined` if it is read as a document. */
export function kindOf({ type }: Pick<File, "type">): Picture["kind"] | undefined {
  if (pictureTypes.includes(type)) return "image";
  if (soundTypes.includes(type)) return "audio";
  return filmTypes.includes(type) ? "video" : undefined;
}

/** Whether the file is attached as a document, whose text the model gets. */
export function isDocument(file: Pick<File, "type" | "size">, readsRecordings: boolean): boolean {
  const kind = kindOf(file);
  if (kind === undefined) return true;
  return kind !== "image" && readsRecordings && (kind === "audio" || file.size > maxMediumBytes);
}

let nextId = 1;

/** Returns the picture, or the key of the error message. */
export async function readPicture(file: File): Promise<Picture | PictureProblem> {
  const kind = kindOf(file);
  if (kind === undefined) return "composer.notPicture";
  if (kind === "image" && file.size > maxPictureBytes) return "composer.tooLarge";
  if (kind !== "image" && file.size > maxMediumBytes) return "composer.mediumTooLarge";
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error("unreadable"));
    reader.readAsDataURL(file);
  });
  return { id: nextId++, kind, name: file.name, url };
}

/** Media of unsent messages, by chat, until the page is reloaded. */
const kept = new Map<string | null, Picture[]>();

export function keepPictures(chat: string | null, pictures: Picture[]): void {
  if (pictures.length > 0) kept.set(chat, pictures);
  else kept.delete(chat);
}

/** Returns and removes those of a chat. */
export function takePictures(chat: string | null): Picture[] {
  const pictures = kept.get(chat) ?? [];
  kept.delete(chat);
  return pictures;
}
