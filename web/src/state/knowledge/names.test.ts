/** Labels in a graph drawing do not overlap. */
import { expect, test } from "vitest";
import { layout } from "./layout.ts";
import { placeNames, type Dot } from "./names.ts";

const dot = (x: number, y: number, name = "Ada Lovelace"): Dot => ({ x, y, radius: 8, name });

test("a name stands below its dot, else above it, else nowhere", () => {
  const dots = [dot(200, 100), dot(240, 100), dot(280, 100)];
  const places = placeNames(dots, [1, 0, 2], 400);
  expect(places[1]?.y).toBeGreaterThan(100);
  expect(places[0]?.y).toBeLessThan(100);
  expect(places[2]).toBeNull();
});

test("names at the edge stay inside", () => {
  const [left, right] = placeNames([dot(20, 50), dot(380, 50)], [0, 1], 400);
  expect([left?.anchor, right?.anchor]).toEqual(["start", "end"]);
});

test("on a phone no two of forty names touch, and what most is said of has its name", () => {
  const edges = Array.from({ length: 39 }, (_, at): [number, number] => [at + 1, at >> 1]);
  const places = layout(40, edges, { width: 340, height: 420 });
  const dots = places.map(({ x, y }, at) => ({ x, y, radius: 8, name: `Thing number ${at}` }));
  const names = placeNames(
    dots,
    dots.map((_, at) => at),
    340,
  );
  const boxes = names.flatMap((place, at) => {
    if (!place) return [];
    const length = (dots[at]?.name.length ?? 0) * 6;
    const left =
      place.anchor === "start" ? place.x : place.anchor === "end" ? place.x - length : place.x - length / 2;
    return [{ left, right: left + length, y: place.y }];
  });
  expect(names[0]).not.toBeNull();
  expect(boxes.length).toBeGreaterThan(8);
  boxes.forEach((one, at) => {
    for (const other of boxes.slice(at + 1)) {
      const apart = one.right <= other.left || other.right <= one.left || Math.abs(one.y - other.y) >= 12;
      expect(apart).toBe(true);
    }
  });
});
