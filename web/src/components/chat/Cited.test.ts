/** How citations look whose quote was not found, or does not confirm their sentence. */
import { fireEvent, render, screen } from "@testing-library/svelte";
import { createRawSnippet } from "svelte";
import { beforeAll, expect, test, vi } from "vitest";
import type { Source } from "../../api/events.ts";
import Cited from "./Cited.svelte";

beforeAll(() => {
  // The test's page has no popovers.
  HTMLElement.prototype.showPopover ??= vi.fn();
});

const sources: Source[] = [
  { id: "1", title: "A page", url: "https://a.example/", quote: "It is 18 metres high.", verified: true },
  { id: "2", title: "Another", url: "https://b.example/", verified: false },
  {
    id: "1",
    title: "A page",
    url: "https://a.example/",
    quote: "It is 18 metres high.",
    verified: true,
    cited: [{ item: "t1", start: 26, end: 29, unconfirmed: "number" }],
  },
];
const text = "It is 18 m high [1], or 19 [1], or so [2].";

const button = (n: number) => `<button data-cite="${n}">${n}</button>`;
const shown = (html: string) => createRawSnippet(() => ({ render: () => `<p>${html}</p>` }));

function show(html: string, place = 27) {
  const placed = sources.map((source) => ({
    ...source,
    ...(source.cited && { cited: source.cited.map((cited) => ({ ...cited, start: place, end: place + 3 })) }),
  }));
  render(Cited, {
    sources: placed,
    texts: [{ item: "t1", text }],
    onlook: vi.fn(),
    children: shown(html),
  });
  return screen.getAllByRole("button");
}

test("the mark of a sentence that its quote does not confirm says why", async () => {
  const [right, wrong, unverified] = show(
    `It is 18 m high ${button(1)}, or 19 ${button(1)}, or so ${button(2)}.`,
  ) as [HTMLElement, HTMLElement, HTMLElement];
  expect(right.dataset.unconfirmed).toBeUndefined();
  expect(wrong.dataset.unconfirmed).toBe("number");
  expect(wrong.ariaDescription).toMatch(/Quote found, claim not confirmed/);
  expect(unverified.dataset.unverified).toBe("");
  expect(unverified.dataset.unconfirmed).toBeUndefined();

  await fireEvent.mouseOver(wrong);
  const card = screen.getByRole("tooltip", { hidden: true });
  expect(card).toHaveTextContent("Quote found, claim not confirmed: the quote lacks a number");
  await fireEvent.mouseOver(right);
  expect(screen.getByRole("tooltip", { hidden: true })).toHaveTextContent(
    "Verified: the quote is in the source",
  );
});

test("no mark is guessed while the text is not complete, or for a place that is none", () => {
  expect(show(`It is 18 m high ${button(1)}`)[0]?.dataset.unconfirmed).toBeUndefined();
  const buttons = show(`It is 18 m high ${button(1)}, or 19 ${button(1)}`, 5);
  expect(buttons.map(({ dataset }) => dataset.unconfirmed)).toEqual(buttons.map(() => undefined));
});
