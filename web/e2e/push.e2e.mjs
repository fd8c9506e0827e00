/**
 * Push notifications: a browser subscribes, the push service gets what only the browser can read, and its worker shows it.
 * Headless Chromium has no push service: the test is one, and hands the worker what it got.
 */
import assert from "node:assert/strict";
import crypto from "node:crypto";
import { createServer } from "node:http";
import { test } from "@playwright/test";
import { launch, openPage, until } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { calls, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

/** The browser's side of RFC 8291. */
class Receiver {
  #keys = crypto.createECDH("prime256v1");
  #secret = crypto.randomBytes(16);

  constructor() {
    this.#keys.generateKeys();
  }

  get keys() {
    return {
      p256dh: this.#keys.getPublicKey().toString("base64url"),
      auth: this.#secret.toString("base64url"),
    };
  }

  /** The text of a message in the form of RFC 8188. */
  read(body) {
    const salt = body.subarray(0, 16);
    const length = body[20];
    const sender = body.subarray(21, 21 + length);
    const sealed = body.subarray(21 + length);
    const derive = (salt, input, info, size) =>
      Buffer.from(crypto.hkdfSync("sha256", input, salt, info, size));
    const info = Buffer.concat([Buffer.from("WebPush: info\0"), this.#keys.getPublicKey(), sender]);
    const input = derive(this.#secret, this.#keys.computeSecret(sender), info, 32);
    const key = derive(salt, input, "Content-Encoding: aes128gcm\0", 16);
    const nonce = derive(salt, input, "Content-Encoding: nonce\0", 12);
    const cipher = crypto.createDecipheriv("aes-128-gcm", key, nonce);
    cipher.setAuthTag(sealed.subarray(-16));
    const record = Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]);
    assert.equal(record.at(-1), 2);
    return record.subarray(0, -1).toString();
  }
}

/** A push service that checks the authorization of each message. */
async function startService() {
  const taken = [];
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      taken.push({ headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(201).end();
    });
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://localhost:${server.address().port}`;
  return { taken, url, stop: () => server.close() };
}

/** The claims of an authorization, if its signature is right. */
function claimsOf(authorization, publicKey) {
  const [, token, key] = /^vapid t=(.+), k=(.+)$/.exec(authorization);
  assert.equal(key, publicKey);
  const point = Buffer.from(key, "base64url");
  const jwk = {
    kty: "EC",
    crv: "P-256",
    x: point.subarray(1, 33).toString("base64url"),
    y: point.subarray(33).toString("base64url"),
  };
  const [header, claims, signature] = token.split(".");
  const verified = crypto.verify(
    "sha256",
    Buffer.from(`${header}.${claims}`),
    { key: crypto.createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" },
    Buffer.from(signature, "base64url"),
  );
  assert.ok(verified);
  return JSON.parse(Buffer.from(claims, "base64url"));
}

const receiver = new Receiver();
let browser, glasshouse, model, service, page, chat, news;

test.beforeAll(async () => {
  const ask = calls(["ask_user", { question: "Which one?", options: ["This one"] }]);
  service = await startService();
  [browser, glasshouse, model] = await Promise.all([
    launch(),
    startGlasshouse({ GLASSHOUSE_OUTBOUND_ALLOW: "localhost" }),
    startModel([{ contains: "Decide", turns: [turn(ask), turn(text("Decided."))] }]),
  ]);
  page = await openPage(browser, { ...glasshouse, url: glasshouse.url, permissions: ["notifications"] });
  await page.addInitScript(
    ({ endpoint, keys }) => {
      if (!("PushManager" in window)) return;
      const kept = () => JSON.parse(localStorage.getItem("test.subscription") ?? "null");
      const bytes = (text) =>
        Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
      const made = (key) => ({
        options: { applicationServerKey: bytes(key).buffer },
        toJSON: () => ({ endpoint, keys }),
        unsubscribe: async () => localStorage.removeItem("test.subscription"),
      });
      PushManager.prototype.getSubscription = async () => (kept() === null ? null : made(kept()));
      PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
        localStorage.setItem("test.subscription", JSON.stringify(applicationServerKey));
        return made(applicationServerKey);
      };
    },
    { endpoint: `${service.url}/browser`, keys: receiver.keys },
  );
  await setUp(page);
  await connectModel(page, model);
});
test.afterAll(async () => {
  await browser?.close();
  service?.stop();
  await Promise.all([glasshouse?.stop(), model?.stop()]);
});

const subscriptions = async () =>
  (await page.request.get(`${glasshouse.url}/api/v1/push-subscriptions`)).json();
const notifications = () => page.getByRole("switch", { name: /^Browser notifications/ });

test("turned on, this browser is subscribed, and again after each start", async () => {
  await page.goto("/settings/notifications");
  await notifications().click();
  await until("it is subscribed", async () => (await subscriptions()).subscriptions.length === 1);
  const [first] = (await subscriptions()).subscriptions;
  assert.equal(first.service, "localhost");
  await page.reload();
  await until("it is subscribed again", async () => (await subscriptions()).subscriptions[0].id !== first.id);
  assert.equal((await subscriptions()).subscriptions.length, 1);
});

test("that a chat waits is sent to the push service, for this browser only", async () => {
  await page.goto("/");
  await page.locator("#composer").fill("Decide");
  await page.locator("#composer").press("Enter");
  await page.getByText("Which one?").first().waitFor();
  chat = new URL(page.url()).pathname.split("/").at(-1);
  await page.goto("about:blank");
  await until("it was sent", () => service.taken.length === 1);
  const [{ headers, body }] = service.taken;
  const { public_key } = await subscriptions();
  assert.equal(claimsOf(headers.authorization, public_key).aud, service.url);
  assert.equal(headers["content-encoding"], "aes128gcm");
  news = receiver.read(body);
  assert.deepEqual(JSON.parse(news), { about: "waits", chat, title: "Decide", language: "en" });
});

/** Gives the worker a message, as a push service does. Returns the notifications that are shown then. */
async function deliver(data, elsewhere) {
  const devtools = await page.context().newCDPSession(page);
  const registered = new Promise((found) => {
    devtools.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const [known] = registrations.filter(({ isDeleted }) => !isDeleted);
      if (known) found(known.registrationId);
    });
  });
  await page.goto("/settings/notifications");
  await devtools.send("ServiceWorker.enable");
  const registrationId = await registered;
  if (elsewhere) await page.goto("about:blank");
  await devtools.send("ServiceWorker.deliverPushMessage", { origin: glasshouse.url, registrationId, data });
  const shown = async () => {
    const worker = await navigator.serviceWorker.getRegistration("/");
    return (await worker.getNotifications()).map(({ title, body, tag }) => ({ title, body, tag }));
  };
  await new Promise((handled) => setTimeout(handled, 1000));
  if (elsewhere) await page.goto("/settings/notifications");
  return page.evaluate(shown);
}

test("the worker shows it where no page is looked at", async () => {
  assert.deepEqual(await deliver(news, false), []);
  for (const nothing of ["no json", "{}", "null"]) assert.deepEqual(await deliver(nothing, true), []);
  const expected = [{ title: "Glasshouse", body: "“Decide” needs your attention.", tag: chat }];
  assert.deepEqual(await deliver(news, true), expected);
});

test("turned off, it is subscribed no more", async () => {
  await page.goto("/settings/notifications");
  await notifications().click();
  await until("it is gone", async () => (await subscriptions()).subscriptions.length === 0);
  await page.reload();
  assert.equal(await page.evaluate(() => localStorage.getItem("test.subscription")), null);
  assert.equal(await notifications().isChecked(), false);
});

test("nothing complained", () => assert.deepEqual(page.complaints, []));
