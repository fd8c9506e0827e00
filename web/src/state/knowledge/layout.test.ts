/** Layout of a graph. */
import { expect, test } from "vitest";
import { layout, type Place } from "./layout.ts";

const size = { width: 800, height: 500 };
const far = (a: Place | undefined, b: Place | undefined) =>
  Math.hypot((a?.x ?? 0) - (b?.x ?? 0), (a?.y ?? 0) - (b?.y ?? 0));

test("all are inside, apart, and always in the same places", () => {
  const edges = Array.from({ length: 39 }, (_, at) => [0, at + 1] as const);
  const places = layout(40, edges, size);
  expect(places).toEqual(layout(40, edges, size));
  expect(places[0]).toEqual({ x: 400, y: 250 });
  for (const [at, place] of places.entries()) {
    expect(place.x).toBeGreaterThanOrEqual(40);
    expect(place.x).toBeLessThanOrEqual(760);
    expect(place.y).toBeGreaterThanOrEqual(40);
    expect(place.y).toBeLessThanOrEqual(460);
    for (const other of places.slice(at + 1)) expect(far(place, other)).toBeGreaterThan(12);
  }
});

test("those that belong together are nearer", () => {
  const places = layout(
    4,
    [
      [0, 1],
      [2, 3],
    ],
    size,
  );
  expect(far(places[2], places[3])).toBeLessThan(far(places[1], places[2]));
});

test("nothing and one thing are drawn, and edges that lead nowhere", () => {
  expect(layout(0, [], size)).toEqual([]);
  expect(layout(1, [[0, 7]], size)).toEqual([{ x: 400, y: 250 }]);
});
