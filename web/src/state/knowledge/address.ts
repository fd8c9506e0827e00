/** Addresses as people write them. */

/** The address that is meant: people leave out how it begins. */
export function addressIn(written: string): string {
  const address = written.trim();
  return /^[a-z][a-z\d+.-]*:\/\//i.test(address) || !/^[^\s:/]+\.[^\s:/]+(?:[:/]|$)/.test(address)
    ? address
    : `https://${address}`;
}
