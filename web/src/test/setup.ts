/** Test setup: Testing Library matchers, polyfills for happy-dom, and component cleanup after each test. */
import "@testing-library/jest-dom/vitest";
import { cleanup } from "@testing-library/svelte";
import { afterEach, vi } from "vitest";

// happy-dom does not match options with `:checked`, which is how Svelte reads a bound <select>.
const { querySelector } = Element.prototype;
HTMLSelectElement.prototype.querySelector = function (this: HTMLSelectElement, selectors: string) {
  return selectors === ":checked" ? (this.selectedOptions[0] ?? null) : querySelector.call(this, selectors);
};

// It has no top layer either: a popover is shown in place.
HTMLElement.prototype.showPopover = () => undefined;
HTMLElement.prototype.hidePopover = () => undefined;

// Nor commands, which therefore fail as in a browser that refuses them.
document.execCommand = () => false;

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  sessionStorage.clear();
});
