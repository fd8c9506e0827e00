/** Normalizes typed URLs. */

/** Adds the scheme, which users often omit. */
export function addressIn(written: string): string {
  const address = written.trim();
  return /^[a-z][a-z\d+.-]*:\/\//i.test(address) || !/^[^\s:/]+\.[^\s:/]+(?:[:/]|$)/.test(address)
    ? address
    : `https://${address}`;
}
