/** File name from a title. */

/** A portable file name without extension; `otherwise` if nothing of the title is left. */
export function fileNameOf(title: string, otherwise: string): string {
  const words = title.match(/[\p{L}\p{N}]+/gu)?.join("-") ?? "";
  return (words.slice(0, 60) || otherwise).toLowerCase();
}
