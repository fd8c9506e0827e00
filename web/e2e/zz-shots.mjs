import { launch, openPage } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { startGlasshouse, startModel, text, turn, calls, reasoning, pause } from "./programs.mjs";
import { MCP_SERVERS, PROGRAMS } from "./fake/lists.mjs";
const out = process.env.OUT;
const CASES = [
  { contains: "Remember", turns: [turn(calls(["memory_append", { name: "Drinks", text: "Likes green tea." }])), turn(text("I will remember that."))] },
  { contains: "run it", turns: [turn(text("Let me run it."), calls(["run_python", { code: "print(1)\n" }])), turn(text("Done."))] },
  { turns: [turn(text("Hello, this is an answer."))] },
];
const [browser, glasshouse, model] = await Promise.all([launch(), startGlasshouse({ GLASSHOUSE_OUTBOUND_ALLOW: "localhost" }), startModel(CASES)]);
const url = glasshouse.url.replace("127.0.0.1", "localhost");
const page = await openPage(browser, { url, reducedMotion: "reduce" });
page.setDefaultTimeout(2500);
const cdp = await page.context().newCDPSession(page);
await cdp.send("WebAuthn.enable");
await cdp.send("WebAuthn.addVirtualAuthenticator", { options: { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true } });
const sizes = { desktop: [1280, 860], phone: [360, 780] };
async function shots(name, variants = "all", full = true) {
  const list = variants === "all" ? [["light", "en", "desktop"], ["dark", "ru", "phone"]] : variants;
  void list;
}
const post = async (path, data, method = "post") => {
  const r = await page.request[method](`${url}/api/v1${path}`, { data, headers: { origin: url } });
  if (!r.ok()) console.log(method, path, r.status(), (await r.text()).slice(0, 300));
  return r.json().catch(() => null);
};
const step = async (name, act) => { try { await act(); } catch (e) { console.log("FAILED", name, String(e).split("\n").slice(0, 3).join(" | ")); } };
await setUp(page);
await step("welcome shot", async () => {
  await page.screenshot({ path: `${out}/welcome-light-en-desktop.png` });
});
await connectModel(page, model);
const say = async (w) => { await page.getByRole("textbox", { name: "Message" }).fill(w); await page.keyboard.press("Enter"); };
await say("Hi"); await page.getByText("Hello, this is an answer.").waitFor();
const chat = page.url();
const bob = await post("/users", { name: "Bob Byte", email: "bob@example.org", password: "battery staple", role: "user" });
await post("/users", { name: "Maximilian Alexander von Überlangname", email: "maximilian.alexander.von.ueberlangname@a-very-long-domain-name.example.org", password: "battery staple", role: "user" });
const group = await post("/groups", { name: "Research", description: "People of the lab" });
await post("/groups", { name: "A group with a very long name that needs more than one line", description: "" });
if (group) await post(`/groups/${group.id}/members`, { users: [bob.id] });
await post("/keys", { name: "backup script", expires_at: Date.now() + 864e5 * 20 });
await post("/keys", { name: "Open WebUI", scopes: ["models"], front_end: true });
await post("/limits", { of: "default", limits: { day: { requests: 200, tokens: 1000000 } } }, "put");
await post("/memories", { agent: "", name: "Drinks", description: "What they drink", text: "Likes green tea.\nNo sugar.", pinned: true });
await post("/memories", { agent: "main", name: "Work", description: "", text: "Writes Rust at a company with averyveryveryveryveryverylongnamewithoutanyspaces.", pinned: false });
await post("/schedules", { name: "News", prompt: "Read the news", model: null, cron: "30 7 * * 1-5", once_at: null, time_zone: "Europe/Berlin", new_chat: true, enabled: true });
await post("/schedules", { name: "Weekly", prompt: "Write the weekly report", model: null, cron: "0 9 * * 1", once_at: null, time_zone: "Europe/Berlin", new_chat: false, enabled: false });
await post("/webhooks", { url: "http://localhost:9/notify" });
await post("/agents", { name: "writer", description: "Writes and edits letters.", instructions: "You write letters.", model: null, tools: ["write_file", "files__*"], limits: { steps: 20 }, may_be_called: true, enabled: true });
await post("/agents", { name: "editor", description: "Edits.", instructions: "You edit.", model: null, tools: ["read_file"], limits: {}, may_be_called: false, enabled: false });
await post("/invitations", { email: "carol@example.org", uses: 1, days: 7 });
await post("/settings/sign-up", { mode: "invitation" }, "put");
await page.route("**/api/v1/facts", (r) => r.fulfill({ json: { facts: [
  { id: "f1", text: "Works at a laboratory in Berlin and prefers short answers with examples.", chat: chat.split("/").pop(), message: "m", learned_at: Date.now() - 864e5, corrected: false },
  { id: "f2", text: "Likes green tea", chat: null, message: null, learned_at: Date.now() - 864e6, corrected: true } ] } }));
await page.route("**/api/v1/allowed-calls", (r) => r.fulfill({ json: { allowed: [
  { id: "a1", chat: null, tool: "run_python", arguments: null, created_at: Date.now() - 864e5 },
  { id: "a2", chat: chat.split("/").pop(), tool: "files__write", arguments: { path: "/reports/*", mode: "a rather long pattern with * and more words than fit" }, created_at: Date.now() - 864e5 } ] } }));
const w = (m) => ({ message: m });
await page.route("**/api/v1/mcp-servers", (r) => r.fulfill({ json: { servers: MCP_SERVERS } }));
await page.route("**/api/v1/mcp-sign-ins", (r) => r.fulfill({ json: { servers: [
  { name: "tickets", sign_in: "oauth", state: "signed_out", problems: [], tools: [] },
  { name: "calendar", sign_in: "user_token", state: "connected", problems: [], tools: [{ name: "calendar__list", description: "Lists events.", needs_approval: false }] },
  { name: "crm", sign_in: "oauth", state: "down", problems: [w("The server ended at once.")], tools: [] } ] } }));
await step("passkey", async () => {
  await page.goto("/settings/passkeys");
  await page.getByLabel("What to call it").fill("Laptop");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("dialog").getByLabel("Password").fill("correct horse");
  await page.keyboard.press("Enter");
  await page.getByRole("listitem").filter({ hasText: "Laptop" }).waitFor();
});
// second session
const other = await openPage(browser, { url });
await other.request.post(`${url}/api/v1/login`, { data: { email: "ada@example.org", password: "correct horse" }, headers: { origin: url } });

const set = (theme, language) => page.evaluate(([theme, language]) => localStorage.setItem("glasshouse.preferences", JSON.stringify({ ...JSON.parse(localStorage.getItem("glasshouse.preferences") || "{}"), theme, language })), [theme, language]);
const snap = async (name, v) => {
  // the page scrolls inside main: grow the viewport to its content
  const [width, height] = sizes[v[2]];
  const need = await page.evaluate(() => { const m = [...document.querySelectorAll("main, .page, dialog[open]")]; return Math.max(...m.map((e) => e.scrollHeight + (e.tagName === "MAIN" ? e.getBoundingClientRect().top : 0)), 0); });
  await page.setViewportSize({ width, height: Math.min(Math.max(height, Math.ceil(need)), 3600) });
  await page.waitForTimeout(200);
  const over = await page.evaluate(() => [...document.querySelectorAll("main, main *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && getComputedStyle(e).position !== "absolute" && !e.closest(".visually-hidden, pre, table, .scroll")).slice(0, 3).map((e) => e.tagName + "." + e.className));
  if (over.length) console.log("OVERFLOW", name, v.join("-"), over.join(" "));
  await page.screenshot({ path: `${out}/${name}-${v.join("-")}.png` });
  await page.setViewportSize({ width, height });
};
const sections = process.env.SECTIONS ? process.env.SECTIONS.split(",") : ["appearance", "profile", "password", "two-step", "passkeys", "sessions", "consent", "memory", "schedules", "keys", "usage", "data", "models", "agents", "pipelines", "documents", "tools", "people", "groups", "limits", "configuration", "audit"];
const press = (n) => async () => { await page.getByRole("button", { name: n }).first().click(); };
// What to open in a section, by position so that it works in both languages.
const opened = {
  keys: async () => { await page.locator("main details summary").first().click(); await page.locator("main form input").first().fill("x"); await page.locator("main form button[type=submit], main form .button.primary, main form .button").last().click(); await page.locator(".secret").waitFor(); },
  agents: async () => { await page.locator("main .icon-button, main button.icon-button").first().click(); await page.locator("main form").waitFor(); },
  groups: async () => { await page.locator("main .icon-button").first().click(); },
  limits: async () => { await page.locator("main .icon-button").first().click(); await page.locator("main form").waitFor(); },
  schedules: async () => { await page.locator("main .icon-button").nth(1).click(); },
  memory: async () => { await page.locator("main .icon-button").first().click(); },
  models: async () => { await page.locator("main .icon-button, main .model").first().click(); },
  people: async () => { await page.locator("main .button").first().click(); },
  passkeys: async () => { await page.locator("main form input").fill("b"); await page.locator("main form .button").click(); await page.locator("dialog[open]").waitFor(); },
  tools: async () => { for (const s of await page.locator("main details > summary").all()) await s.click(); },
};
const variants = [["light", "en", "desktop"], ["dark", "ru", "phone"], ["light", "en", "phone"], ["dark", "ru", "desktop"]];
const chosen = (process.env.VARIANTS ?? "0,1").split(",").map((i) => variants[i]);
for (const v of chosen) {
  await set(v[0], v[1]);
  await page.setViewportSize({ width: sizes[v[2]][0], height: sizes[v[2]][1] });
  for (const s of sections) {
    await step(s + v, async () => {
      await page.goto(`/settings/${s}`); await page.locator("main h1").waitFor(); await page.waitForTimeout(500);
      await snap(s, v);
    });
    if (opened[s]) await step(`${s} opened ${v}`, async () => { await opened[s](); await page.waitForTimeout(250); await snap(`${s}-open`, v); });
    await page.evaluate(() => { onbeforeunload = null; });
  }
}
if (page.complaints.length) console.log(page.complaints.slice(0, 8));
await browser.close(); await Promise.all([glasshouse.stop(), model.stop()]);
