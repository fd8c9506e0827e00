/** Where the names of things stand in a drawing, so that none covers another: where there is no room, a name is left out. */

export interface Dot {
  x: number;
  y: number;
  radius: number;
  name: string;
}

/** Where a name stands: its anchor, and the line that its letters stand on. */
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

/** About as wide as a letter of 12 pixels is, and as high as a line. */
const letter = 6.4;
const line = 14;
const gap = 3;

/** A place for each name, below its dot or above it; null where it would touch another. The first ones choose first. */
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
      // A name on the dot of another thing would be taken for its name.
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
