/** Places labels in a graph drawing without overlap; a label without room is omitted. */

export interface Dot {
  x: number;
  y: number;
  radius: number;
  name: string;
}

/** Position of a label: its anchor and baseline. */
export interface NamePlace {
  x: number;
  y: number;
  anchor: "start" | "middle" | "end";
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Approximate width of a character at 12 pixels, and line height. */
const letter = 6.4;
const line = 14;
const gap = 3;

/** Places each label below or above its dot; `null` if it would overlap another. Earlier labels have priority. */
export function placeNames(
  dots: readonly Dot[],
  order: readonly number[],
  width: number,
): (NamePlace | null)[] {
  const taken: Box[] = [];
  const places: (NamePlace | null)[] = dots.map(() => null);
  for (const at of order) {
    const dot = dots[at];
    if (!dot) continue;
    const length = dot.name.length * letter;
    const anchor = dot.x < length / 2 + gap ? "start" : dot.x > width - length / 2 - gap ? "end" : "middle";
    const left = anchor === "start" ? dot.x : anchor === "end" ? dot.x - length : dot.x - length / 2;
    for (const y of [dot.y + dot.radius + 13, dot.y - dot.radius - 5]) {
      const box = { left: left - gap, right: left + length + gap, top: y - line + 2, bottom: y + 4 };
      // A label over another node's dot would be read as that node's label.
      const covers = dots.some((other, index) => index !== at && touches(box, around(other)));
      if (covers || taken.some((other) => touches(box, other))) continue;
      taken.push(box);
      places[at] = { x: dot.x, y, anchor };
      break;
    }
  }
  return places;
}

const around = ({ x, y, radius }: Dot): Box => ({
  left: x - radius,
  right: x + radius,
  top: y - radius,
  bottom: y + radius,
});

const touches = (a: Box, b: Box) =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
