/** Behind an authenticating proxy: the user it names is signed in, and the proxy handles sign-out. */
import assert from "node:assert/strict";
import { createServer, request } from "node:http";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage } from "./browser.mjs";
import { freePort, startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const people = {
  ada: { "x-user": "ada", "x-email": "ada@example.org", "x-name": "Ada Lovelace", "x-groups": "heads" },
  bob: { "x-user": "bob", "x-email": "bob@example.org", "x-name": "Bob Brown", "x-groups": "staff" },
  eve: { "x-user": "eve", "x-email": "eve@example.org", "x-groups": "" },
};
let browser, glasshouse, proxy, url, port;

test.beforeAll(async () => {
  browser = await launch();
  proxy = createServer(pass);
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  url = `http://localhost:${proxy.address().port}`;
  port = await freePort();
  // It prints the public URL, which is the proxy's.
  const environment = {
    GLASSHOUSE_PUBLIC_URL: url,
    GLASSHOUSE_TRUSTED_HEADER_USER: "X-User",
    GLASSHOUSE_TRUSTED_HEADER_EMAIL: "X-Email",
    GLASSHOUSE_TRUSTED_HEADER_NAME: "X-Name",
    GLASSHOUSE_TRUSTED_HEADER_GROUPS: "X-Groups",
    GLASSHOUSE_TRUSTED_HEADER_PROXIES: "127.0.0.1",
    GLASSHOUSE_TRUSTED_HEADER_ADMIN_GROUPS: "heads",
    GLASSHOUSE_TRUSTED_HEADER_ALLOWED_GROUPS: "staff",
    GLASSHOUSE_TRUSTED_HEADER_SIGN_OUT_URL: "/proxy/out",
  };
  glasshouse = await startGlasshouse(environment, port);
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
  proxy?.closeAllConnections();
  proxy?.close();
});

/** Identifies users by the proxy's own cookie, and strips identity headers sent by clients. */
function pass(incoming, outgoing) {
  if (incoming.url === "/proxy/out") {
    outgoing.writeHead(200, { "content-type": "text/html", "set-cookie": "who=; Max-Age=0; Path=/" });
    outgoing.end("<title>Out</title>Signed out at the proxy");
    return;
  }
  const own = Object.entries(incoming.headers).filter(([name]) => !(name in people.ada));
  const who = /who=(\w+)/.exec(incoming.headers.cookie ?? "")?.[1];
  const headers = { ...Object.fromEntries(own), ...people[who] };
  const { method, url: path } = incoming;
  const inner = request({ host: "127.0.0.1", port, method, path, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    answer.pipe(outgoing);
  });
  inner.on("error", () => outgoing.destroy());
  outgoing.on("close", () => inner.destroy());
  incoming.pipe(inner);
}

async function open(who, at = "/") {
  const page = await openPage(browser, { url });
  await page.context().addCookies([{ name: "who", value: who, url }]);
  await page.goto(at);
  return page;
}

test("the first one is the administrator of the proxy's groups", async () => {
  const early = await open("bob");
  await early.getByRole("alert").getByText("This server isn’t set up yet.").waitFor();
  await early.context().close();
  const page = await open("ada", "/settings/people");
  await page.getByText("ada@example.org").first().waitFor();
  await page.goto("/settings/sessions");
  await page.getByText("You’re signed in by the proxy in front of this server, so").waitFor();
  await check(page, "sessions");
  await page.context().close();
});

test("who it names is in, sends messages, and signs out at the proxy", async () => {
  const page = await open("bob");
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  const made = await page.evaluate(async () => {
    const answer = await fetch("/api/v1/chats", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    return answer.status;
  });
  assert.equal(made, 200);
  await page.goto("/settings/sessions");
  await page.getByRole("main").getByRole("button", { name: "Log out", exact: true }).click();
  await page.getByText("Signed out at the proxy").waitFor();
  await page.goto("/");
  await page.waitForURL("**/login**");
  await page.context().close();
});

test("who is in none of the groups is told so", async () => {
  const page = await open("eve");
  await page.waitForURL("**/login**");
  await page.getByRole("alert").getByText("The proxy in front").waitFor();
  await check(page, "not let in");
});
