/** The weights of connections and keys. */

/** Whether the text is a whole number within the bounds. */
export function isWeight(text: string, least: number): boolean {
  return /^\d{1,4}$/.test(text.trim()) && Number(text) >= least && Number(text) <= 1000;
}
