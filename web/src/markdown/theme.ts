// Detects whether an element is on a dark page, however the page implements it.

/** Calls `change` now and on every change; returns a function that unsubscribes. */
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

/** Text lighter than middle grey means a dark page. */
function hasLightText(element: HTMLElement): boolean {
  const [red = 0, green = 0, blue = 0] =
    getComputedStyle(element)
      .color.match(/[\d.]+/g)
      ?.map(Number) ?? [];
  return red * 0.3 + green * 0.6 + blue * 0.1 > 127;
}
