/** Graph layout: related entities are near each other, and none overlap. */

export interface Place {
  x: number;
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

const rounds = 240;
/** Space for labels at the edge. */
const margin = 48;

/**
 * Positions of `count` nodes connected by `edges`. The first is in the centre. Deterministic: the same graph always
 * gets the same layout.
 */
export function layout(count: number, edges: readonly (readonly [number, number])[], size: Size): Place[] {
  const { width, height } = size;
  const [middleX, middleY] = [width / 2, height / 2];
  const places = Array.from({ length: count }, (_, at): Place => {
    // Start with a sunflower spiral: even, without coinciding points.
    const [angle, far] = [at * 2.399963, Math.sqrt(at / Math.max(1, count))];
    return {
      x: middleX + Math.cos(angle) * far * middleX * 0.8,
      y: middleY + Math.sin(angle) * far * middleY * 0.8,
    };
  });
  const spring = Math.sqrt((width * height) / Math.max(1, count)) * 0.75;
  for (let round = 0; round < rounds; round += 1) {
    const step = spring * 0.2 * (1 - round / rounds);
    const pulls = places.map((): Place => ({ x: 0, y: 0 }));
    const pull = (at: number, x: number, y: number) => {
      const sum = pulls[at];
      if (sum) [sum.x, sum.y] = [sum.x + x, sum.y + y];
    };
    for (let one = 0; one < count; one += 1) {
      for (let other = one + 1; other < count; other += 1) {
        const [dx, dy, far] = between(places, one, other);
        const push = (spring * spring) / far;
        pull(one, (-dx / far) * push, (-dy / far) * push);
        pull(other, (dx / far) * push, (dy / far) * push);
      }
    }
    for (const [one, other] of edges) {
      const [dx, dy, far] = between(places, one, other);
      const hold = (far * far) / spring;
      pull(one, (dx / far) * hold, (dy / far) * hold);
      pull(other, (-dx / far) * hold, (-dy / far) * hold);
    }
    places.forEach((place, at) => {
      const sum = pulls[at];
      if (!sum || at === 0) return;
      const x = sum.x + (middleX - place.x) * 0.6;
      const y = sum.y + (middleY - place.y) * 0.9;
      const far = Math.hypot(x, y) || 1;
      const by = Math.min(far, step) / far;
      place.x = inside(place.x + x * by, width);
      place.y = inside(place.y + y * by, height);
    });
  }
  return places;
}

function between(places: readonly Place[], one: number, other: number): [number, number, number] {
  const [a, b] = [places[one], places[other]];
  if (!a || !b) return [0, 0, 1];
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  return [dx, dy, Math.max(1, Math.hypot(dx, dy))];
}

const inside = (value: number, size: number) => Math.min(size - margin, Math.max(margin, value));
