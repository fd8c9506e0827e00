/** The form for a new connection: the fields of each provider, the test, and the request. */
import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { ok, refused, serve } from "../../test/server.ts";
import ConnectionForm from "./ConnectionForm.svelte";

const add = "POST /api/v1/connections";
const trial = "POST /api/v1/connections/test";

function show() {
  const onadded = vi.fn(() => Promise.resolve());
  render(ConnectionForm, { onadded });
  return { user: userEvent.setup(), onadded };
}

const button = (name: string) => screen.getByRole("button", { name });
const field = (name: string) => screen.getByLabelText(name);

test("a usual provider asks for its key alone and says where to get one", async () => {
  const { user } = show();
  await user.click(screen.getByRole("radio", { name: "Anthropic" }));
  expect(screen.getByRole("radio", { name: "Anthropic" })).toBeChecked();
  expect(screen.getByRole("link", { name: "Get an API key" })).toHaveAttribute(
    "href",
    "https://console.anthropic.com/settings/keys",
  );
  expect(button("Connect")).toBeDisabled();
  expect(button("Test")).toBeDisabled();
  await user.type(field("API key"), "sk-1");
  expect(field("API key")).toHaveAttribute("type", "password");
  expect(button("Connect")).toBeEnabled();
});

test("another server needs an address, and is named after its host", async () => {
  const requests = serve({ [add]: () => ok({ models: ["a", "b"] }) });
  const { user, onadded } = show();
  expect(button("Connect")).toBeDisabled();
  await user.type(field("Base URL"), " http://models.example:8080/v1 {Enter}");
  expect(requests).toEqual([
    {
      call: add,
      body: {
        name: "models.example:8080",
        kind: "openai",
        base_url: "http://models.example:8080/v1",
        settings: {},
      },
    },
  ]);
  expect(await screen.findByRole("status")).toHaveTextContent("2 models");
  expect(onadded).toHaveBeenCalledOnce();
  expect(field("Base URL")).toHaveValue("");
});

test("the format decides what is asked for", async () => {
  const requests = serve({ [add]: () => ok({ models: [] }) });
  const { user } = show();
  await user.selectOptions(screen.getByRole("combobox", { name: "API format" }), "Amazon Bedrock");
  expect(button("Connect")).toBeDisabled();
  await user.type(field("AWS region"), "eu-central-1");
  await user.type(field("Name"), "Ours");
  await user.click(button("Connect"));
  expect(requests[0]?.body).toEqual({
    name: "Ours",
    kind: "bedrock",
    settings: { region: "eu-central-1" },
  });
});

test("a test sends no name and keeps what was typed", async () => {
  let answer = (_: Response) => {};
  const requests = serve({ [trial]: () => new Promise((resolve) => (answer = resolve)) });
  const { user, onadded } = show();
  await user.click(screen.getByRole("radio", { name: "OpenAI" }));
  await user.type(field("API key"), "sk-1");
  await user.click(button("Test"));
  expect(button("Testing…")).toBeDisabled();
  expect(button("Connect")).toBeDisabled();

  answer(ok({ models: ["gpt"] }));
  expect(await screen.findByRole("status")).toHaveTextContent("1 model");
  expect(requests).toEqual([
    {
      call: trial,
      body: { kind: "openai", base_url: "https://api.openai.com/v1", settings: {}, api_key: "sk-1" },
    },
  ]);
  expect(field("API key")).toHaveValue("sk-1");
  expect(onadded).not.toHaveBeenCalled();
});

test("what the server refuses is told, until another provider is chosen", async () => {
  serve({ [add]: () => refused(400, "bad_key", "The key is wrong.") });
  const { user, onadded } = show();
  await user.click(screen.getByRole("radio", { name: "OpenAI" }));
  await user.type(field("API key"), "sk-1");
  await user.click(button("Connect"));
  expect(await screen.findByRole("alert")).toHaveTextContent("The key is wrong.");
  expect(field("API key")).toHaveValue("sk-1");
  expect(onadded).not.toHaveBeenCalled();

  await user.click(screen.getByRole("radio", { name: "Groq" }));
  expect(screen.queryByRole("alert")).toBeNull();
  expect(field("API key")).toHaveValue("");
});
