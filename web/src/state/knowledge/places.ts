/** Converts the server's text offsets to indices of JavaScript strings (UTF-16 units). */

type Unit = "bytes" | "characters";

function sizeOf(point: number, unit: Unit): number {
  if (unit === "characters" || point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}

/**
 * Converts ascending offsets to indices in one pass over the text: UTF-8 bytes, or Unicode characters. An offset inside
 * a character becomes its end, one past the end of the text its end.
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
