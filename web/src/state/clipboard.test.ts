/** Copying with the clipboard API, without it, and where the browser refuses both. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { announcer } from "./announcer.svelte.ts";
import { copy } from "./clipboard.ts";
import { toasts } from "./toasts.svelte.ts";

const execCommand = vi.fn<(command: string) => boolean>();

beforeEach(() => {
  toasts.list = [];
  announcer.polite = "";
  document.body.innerHTML = "<button>Copy</button>";
  Object.assign(document, { execCommand });
});
afterEach(() => {
  execCommand.mockReset();
  vi.restoreAllMocks();
});

function clipboard(writeText?: (text: string) => Promise<void>) {
  vi.spyOn(navigator, "clipboard", "get").mockReturnValue(
    (writeText ? { writeText } : undefined) as unknown as Clipboard,
  );
}

test("the clipboard API gets the text", async () => {
  const writeText = vi.fn(() => Promise.resolve());
  clipboard(writeText);
  expect(await copy("a\nb")).toBe(true);
  expect(writeText).toHaveBeenCalledWith("a\nb");
  expect(execCommand).not.toHaveBeenCalled();
  expect(announcer.polite).toBe("Copied");
});

test.each([
  ["without the clipboard API", undefined],
  ["where it is not allowed", () => Promise.reject(new Error("denied"))],
])("%s, the text is selected and copied, and the focus returns", async (_, writeText) => {
  clipboard(writeText);
  let selected = "";
  execCommand.mockImplementation(() => {
    const field = document.activeElement as HTMLTextAreaElement;
    selected = field.value.slice(field.selectionStart, field.selectionEnd);
    return true;
  });
  document.querySelector("button")?.focus();
  expect(await copy("a\nb")).toBe(true);
  expect(execCommand).toHaveBeenCalledWith("copy");
  expect(selected).toBe("a\nb");
  expect(document.querySelector("textarea")).toBeNull();
  expect(document.querySelector("button")).toHaveFocus();
});

test("in a dialog, the field is in the dialog", async () => {
  clipboard();
  document.body.innerHTML = "<dialog open><button>Copy</button></dialog>";
  document.querySelector("button")?.focus();
  execCommand.mockImplementation(() => document.querySelector("dialog textarea") !== null);
  expect(await copy("a")).toBe(true);
});

test("a refusal is shown", async () => {
  clipboard();
  execCommand.mockReturnValue(false);
  expect(await copy("a")).toBe(false);
  expect(toasts.list.map(({ text, isError }) => [text, isError])).toEqual([
    ["Couldn’t copy: the browser blocked it.", true],
  ]);
  expect(announcer.polite).toBe("");
});
