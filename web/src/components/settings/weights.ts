/** Weights of connections and keys. */

/** Whether the text is an integer from `least` to 1000. */
export function isWeight(text: string, least: number): boolean {
  return /^\d{1,4}$/.test(text.trim()) && Number(text) >= least && Number(text) <= 1000;
}
