/** Takes pictures from the clipboard, a drop or a file dialog as data URLs. */

export interface Picture {
  id: number;
  name: string;
  url: string;
}

export const pictureTypes = ["image/png", "image/jpeg", "image/webp", "image/gif"];
export const largestPictureBytes = 8 * 1024 * 1024;

export type PictureProblem = "composer.tooLarge" | "composer.notPicture";

let nextId = 1;

/** The picture, or the key of what to tell the person. */
export async function readPicture(file: File): Promise<Picture | PictureProblem> {
  if (!pictureTypes.includes(file.type)) return "composer.notPicture";
  if (file.size > largestPictureBytes) return "composer.tooLarge";
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error("unreadable"));
    reader.readAsDataURL(file);
  });
  return { id: nextId++, name: file.name, url };
}

/** Pictures of messages that were not sent, by chat, while the page is not loaded anew. */
const kept = new Map<string | null, Picture[]>();

export function keepPictures(chat: string | null, pictures: Picture[]): void {
  if (pictures.length > 0) kept.set(chat, pictures);
  else kept.delete(chat);
}

/** Gives those of a chat, and forgets them. */
export function takePictures(chat: string | null): Picture[] {
  const pictures = kept.get(chat) ?? [];
  kept.delete(chat);
  return pictures;
}
