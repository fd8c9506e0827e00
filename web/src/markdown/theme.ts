// Tells whether an element stands on a dark page, however the page decides that.

/** Calls `change` now and whenever the answer changes; returns a function that stops. */
export function watchDarkness(element: HTMLElement, change: (isDark: boolean) => void): () => void {
  let last: boolean | undefined;
  const look = (): void => {
    const isDark = hasLightText(element);
    if (isDark !== last) change((last = isDark));
  };
  const observer = new MutationObserver(look);
  observer.observe(document.documentElement, { attributes: true });
  const preference = matchMedia("(prefers-color-scheme: dark)");
  preference.addEventListener("change", look);
  look();
  return () => {
    observer.disconnect();
    preference.removeEventListener("change", look);
  };
}

/** Text is lighter than middle grey: the page is dark. */
function hasLightText(element: HTMLElement): boolean {
  const [red = 0, green = 0, blue = 0] =
    getComputedStyle(element)
      .color.match(/[\d.]+/g)
      ?.map(Number) ?? [];
  return red * 0.3 + green * 0.6 + blue * 0.1 > 127;
}
