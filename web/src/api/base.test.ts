// The path below which the server is reached, as the page says it.
import { afterEach, beforeEach, expect, test, vi } from "vitest";

const at = async (base: string | undefined) => {
  vi.resetModules();
  if (base === undefined) delete document.documentElement.dataset.base;
  else document.documentElement.dataset.base = base;
  return import("./base.ts");
};

beforeEach(() => history.replaceState(null, "", "/"));
afterEach(() => {
  delete document.documentElement.dataset.base;
});

test.each([undefined, "/"])("at the root (%s), paths are addresses", async (base) => {
  const { baseUrl, storageKey, urlOf, withBase, withoutBase } = await at(base);
  expect(withBase("/c/1")).toBe("/c/1");
  expect(["/", "/c/1", ""].map(withoutBase)).toEqual(["/", "/c/1", "/"]);
  expect(storageKey("preferences")).toBe("glasshouse.preferences");
  expect([baseUrl, urlOf("/c/1")]).toEqual([location.origin, `${location.origin}/c/1`]);
});

test("below a path, addresses begin with it", async () => {
  const { baseUrl, currentPath, storageKey, withBase, withoutBase } = await at("/ai/");
  expect([withBase("/c/1"), withBase("/")]).toEqual(["/ai/c/1", "/ai/"]);
  expect(["/ai", "/ai/", "/ai/c/1", "/ai2/c/1", "/c/1"].map(withoutBase)).toEqual([
    "/",
    "/",
    "/c/1",
    "/ai2/c/1",
    "/c/1",
  ]);
  expect(storageKey("preferences")).toBe("glasshouse/ai.preferences");
  expect(baseUrl).toBe(`${location.origin}/ai`);
  history.replaceState(null, "", "/ai/settings/keys");
  expect(currentPath()).toBe("/settings/keys");
});

test("below a path, the router goes there and links are those of the host", async () => {
  const { withBase } = await at("/ai/");
  const { followLink, router } = await import("../state/router.svelte.ts");
  router.go("/c/1?replay=m");
  expect(location.pathname + location.search).toBe("/ai/c/1?replay=m");
  expect(router.route).toMatchObject({ page: "chat", chat: "1", replay: "m" });
  router.replay(null);
  expect(location.pathname + location.search).toBe("/ai/c/1");
  const link = document.createElement("a");
  link.href = withBase("/settings/keys#x");
  link.addEventListener("click", followLink);
  link.click();
  expect(location.pathname + location.hash).toBe("/ai/settings/keys#x");
  expect(router.route).toMatchObject({ page: "settings", section: "keys", part: "x" });
});

test("below a path, requests and links of answers have it", async () => {
  await at("/ai/");
  const fetched = vi.fn(() => Promise.resolve(new Response("{}")));
  vi.stubGlobal("fetch", fetched);
  const { call } = await import("./http.ts");
  await call("GET", "/api/v1/me");
  expect(fetched).toHaveBeenCalledWith("/ai/api/v1/me", expect.anything());
  const { lex, tokensToHtml } = await import("../markdown/syntax.ts");
  const html = (source: string) => tokensToHtml(lex(source, {}, false));
  expect(html("[keys](/settings/keys)")).toContain('href="/ai/settings/keys"');
  expect(html("[other](https://a.example/x)")).toContain('href="https://a.example/x"');
  expect(html("![a](/a.png)")).toContain('data-src="/a.png"');
});
