/** Folding of long user messages. */
import { fireEvent, render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";
import Bubble from "./Bubble.svelte";

const linePx = 24;
let lines = 0;

beforeEach(() => {
  document.body.style.lineHeight = `${linePx}px`;
  vi.spyOn(HTMLElement.prototype, "scrollHeight", "get").mockImplementation(() => lines * linePx);
  return () => vi.restoreAllMocks();
});

function show(id: string, count: number) {
  lines = count;
  const shown = render(Bubble, { props: { id, text: "a\nb" } });
  return { user: userEvent.setup(), ...shown };
}

const more = () => screen.getByRole("button", { name: "Show more" });
const bubble = () => screen.getByText(/a\s+b/);

test("a text of a few lines has no button", () => {
  show("short", 15);
  expect(screen.queryByRole("button")).toBeNull();
  expect(bubble()).not.toHaveClass("folded");
});

test("a long text is folded, and unfolded on demand", async () => {
  const { user } = show("long", 16);
  expect(bubble()).toHaveClass("folded");
  expect(more()).toHaveAttribute("aria-expanded", "false");
  expect(more()).toHaveAttribute("aria-controls", bubble().id);
  await user.click(more());
  expect(bubble()).not.toHaveClass("folded");
  await user.click(screen.getByRole("button", { name: "Show less" }));
  expect(bubble()).toHaveClass("folded");
});

test("it stays unfolded when the list renders it again", async () => {
  const { user, unmount } = show("again", 40);
  await user.click(more());
  unmount();
  show("again", 40);
  expect(bubble()).not.toHaveClass("folded");
});

test("it unfolds where the browser scrolls to what it has found", async () => {
  show("found", 40);
  bubble().scrollTop = 400;
  await fireEvent.scroll(bubble());
  expect(bubble()).not.toHaveClass("folded");
});
