/** The name of a file after what is in it. */

/** A title as a file is called in all systems, without an ending; `otherwise` where nothing of it is left. */
export function fileNameOf(title: string, otherwise: string): string {
  const words = title.match(/[\p{L}\p{N}]+/gu)?.join("-") ?? "";
  return (words.slice(0, 60) || otherwise).toLowerCase();
}
