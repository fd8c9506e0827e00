/** The form of the embedding model is saved only after a change. */
import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";
import type { Embedding } from "../../../api/embedding.ts";
import type { Model } from "../../../api/types.ts";
import { models } from "../../../state/models.svelte.ts";
import EmbeddingForm from "./EmbeddingForm.svelte";

afterEach(() => {
  models.list = [];
});

const stored: Embedding = {
  model: "tiny-embed",
  query_prefix: "query: ",
  passage_prefix: "",
  is_chosen: true,
  configured: null,
  dimensions: 48,
  progress: { documents: 0, whole: 0, failed: 0, pieces: 0, done: 0 },
  problem: null,
  earlier: [],
  built_in_problem: null,
};

function show(change: Partial<Embedding> = {}) {
  models.list = ["tiny-embed", "bge-long"].map(
    (id) => ({ id, tour: false, listed: { abilities: {} } }) as Model,
  );
  const onsave = vi.fn(() => Promise.resolve());
  render(EmbeddingForm, { state: { ...stored, ...change }, onsave });
  return { user: userEvent.setup(), onsave };
}

const save = () => screen.getByRole("button", { name: "Save" });
const model = () => screen.getByRole("combobox", { name: "Model" });

test("another prefix can be saved, and what is stored cannot", async () => {
  const { user, onsave } = show();
  const passage = screen.getByLabelText("Passage prefix");
  expect(save()).toBeDisabled();
  await user.type(passage, "text");
  expect(save()).toBeEnabled();
  await user.clear(passage);
  expect(save()).toBeDisabled();
  await user.type(passage, "passage: ");
  await user.click(save());
  expect(onsave).toHaveBeenCalledWith({
    model: "tiny-embed",
    query_prefix: "query: ",
    passage_prefix: "passage: ",
  });
});

test("another model can be saved", async () => {
  const { user } = show();
  await user.selectOptions(model(), "bge-long");
  expect(save()).toBeEnabled();
});

test("the model of the configuration can be chosen in place of none", async () => {
  const { user } = show({ model: null, query_prefix: "" });
  expect(save()).toBeDisabled();
  await user.selectOptions(model(), screen.getByRole("option", { name: /^From configuration/ }));
  expect(save()).toBeEnabled();
});
