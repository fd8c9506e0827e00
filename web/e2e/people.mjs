/** Sets up accounts in the real program and signs in. */
import assert from "node:assert/strict";

export const ada = { name: "Ada Lovelace", email: "ada@example.org", password: "correct horse" };
export const bob = { name: "Bob Byte", email: "bob@example.org", password: "battery staple" };

/** Creates the first account through the page, and stays signed in as the administrator. */
export async function setUp(page, person = ada, address = "/") {
  await page.goto(address);
  await page.getByLabel("Name").fill(person.name);
  await page.getByLabel("Email").fill(person.email);
  await page.getByLabel("Password").fill(person.password);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.waitForURL("**/welcome");
}

/** Creates a user account through the administrator's session. */
export async function addPerson(page, person = bob) {
  const made = await page.request.post("/api/v1/users", { data: { ...person, role: "user" } });
  if (!made.ok()) throw new Error(await made.text());
  return made.json();
}

/** Chooses an action in the menu of a person in the settings, with the keyboard. */
export async function actOn(page, name, action) {
  await page.getByRole("button", { name: `Actions for ${name}` }).press("Enter");
  await page.getByRole("menuitem", { name: action, exact: true }).press("Enter");
}

/** Signs in with the form. */
export async function logIn(page, { email, password }) {
  await page.goto("/login");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
}

/** From the welcome page to an empty chat with this model server's models. */
export async function connectModel(page, model) {
  await page.getByLabel("Base URL").fill(model.url);
  await page.getByRole("button", { name: "Test" }).click();
  await page.getByText("scripted").first().waitFor();
  await page.locator("form").getByRole("button", { name: "Connect" }).click();
  await page.getByText("Connected").first().waitFor();
  await page.getByRole("button", { name: "Go to chats" }).click();
}

/** Calls the API of the server at `url` as the user of the page. Returns the JSON answer, or `null` if it has none. */
export async function callApi(page, url, method, path, data) {
  const answer = await page.request[method](`${url}/api/v1${path}`, { data, headers: { origin: url } });
  assert.ok(answer.ok(), `${path}: ${await answer.text()}`);
  return answer.status() === 204 ? null : answer.json();
}
