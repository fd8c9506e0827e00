/** Normalization of typed URLs. */
import { expect, test } from "vitest";
import { addressIn } from "./address.ts";

test("an address may be written without how it begins", () => {
  expect(addressIn(" example.org ")).toBe("https://example.org");
  expect(addressIn("docs.example.org:8443/a?b=c")).toBe("https://docs.example.org:8443/a?b=c");
  expect(addressIn("http://example.org/")).toBe("http://example.org/");
  // The server reports what is wrong with the others.
  for (const other of ["ftp://x.y/", "not an address", "mailto:a@example.org", "word", ""])
    expect(addressIn(other)).toBe(other);
});
