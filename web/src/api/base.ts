/**
 * The path below which the server is reached: empty, or `/ai` if its public URL is `https://example.org/ai`. Only this
 * file knows it. Everything else works with the server's own paths, such as `/c/1` and `/api/v1/me`: the router and the
 * HTTP client take those, and `withBase` makes an address of one for an attribute such as `href` or `src`.
 */

/** The server writes it into the page. */
const base = (document.documentElement.dataset.base ?? "/").replace(/\/$/, "");

/** The address of a path of the server. */
export const withBase = (path: string): string => base + path;

/** The path of the server that an address leads to. */
export function withoutBase(address: string): string {
  if (address === base) return "/";
  return address.startsWith(`${base}/`) ? address.slice(base.length) : address;
}

/** The path in the address bar. */
export const currentPath = (): string => withoutBase(location.pathname);

/** The URL of a path of the server, to be copied. */
export const urlOf = (path: string): string => location.origin + withBase(path);

/** Where programs reach the server, without a trailing slash. */
export const baseUrl = urlOf("");

/** A key of the browser's storage, which all servers on a host share. */
export const storageKey = (name: string): string => `glasshouse${base}.${name}`;
