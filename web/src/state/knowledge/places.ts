/** Places in a text as the server counts them, turned into those of JavaScript's strings (UTF-16 units). */

type Unit = "bytes" | "characters";

function sizeOf(point: number, unit: Unit): number {
  if (unit === "characters" || point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}

/**
 * Turns ascending places into indexes, in one walk over the text: bytes of UTF-8, or Unicode characters. A place within
 * a character becomes its end, one after the end of the text its end.
 */
export function indexesOf(text: string, places: number[], unit: Unit): number[] {
  const indexes: number[] = [];
  let index = 0;
  let at = 0;
  for (const place of places) {
    while (at < place && index < text.length) {
      const point = text.codePointAt(index) ?? 0;
      index += point > 0xffff ? 2 : 1;
      at += sizeOf(point, unit);
    }
    indexes.push(index);
  }
  return indexes;
}
