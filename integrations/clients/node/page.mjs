/** A page in Node: jsdom's document, Node's own `fetch`. Call it before React is imported. */

/** Makes the document, with what a person does on it; `JSDOM` is that of the caller's packages. */
export function openPage(JSDOM) {
  const { window } = new JSDOM('<div id="app"></div>', { url: "http://localhost/", pretendToBeVisual: true });
  const names = ["window", "document", "navigator", "HTMLElement", "HTMLIFrameElement", "Element", "Node", "MutationObserver"];
  for (const name of [...names, "getComputedStyle", "requestAnimationFrame", "cancelAnimationFrame"]) {
    globalThis[name] ??= name === "window" ? window : window[name];
  }
  const { document } = window;
  const find = (selector) => document.querySelector(selector);
  return {
    document,
    find,
    all: (selector) => [...document.querySelectorAll(selector)].map((element) => element.textContent),
    /** Writes into a field the way a keyboard does, so that React notices. */
    type(selector, words) {
      const field = find(selector);
      Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value").set.call(field, words);
      field.dispatchEvent(new window.Event("input", { bubbles: true }));
    },
    press: (selector) => find(selector).click(),
    /** Waits for the page to show something. */
    async until(fits, what) {
      for (let tries = 0; tries < 600; tries++) {
        const found = fits();
        if (found) return found;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      throw new Error(`never came: ${what}; the page shows: ${document.body.innerHTML}`);
    },
  };
}
