/** Notices after a sign-in. */

import { beforeEach, expect, test } from "vitest";
import { tellSignInNotice } from "./sign-in-notice.ts";
import { toasts } from "./toasts.svelte.ts";

beforeEach(() => {
  toasts.list = [];
});

test("what the provider left out is told once, and the address is as it was", () => {
  history.replaceState(null, "", "/c/1?call=2&notice=groups_kept#m");
  tellSignInNotice();
  expect(toasts.list).toHaveLength(1);
  expect(location.pathname + location.search + location.hash).toBe("/c/1?call=2#m");
  tellSignInNotice();
  expect(toasts.list).toHaveLength(1);
});

test("nothing else is told, and no other address changes", () => {
  for (const address of ["/", "/?notice=other", "/c/1?q=groups_kept"]) {
    history.replaceState(null, "", address);
    tellSignInNotice();
    expect(location.pathname + location.search).toBe(address);
  }
  expect(toasts.list).toHaveLength(0);
});
