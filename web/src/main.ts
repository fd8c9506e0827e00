/** Entry point: mounts the app. */
import { mount } from "svelte";
import "./styles/tokens.css";
import "./styles/base.css";
import App from "./App.svelte";
import { loadLanguage } from "./i18n/index.svelte.ts";
import { watchChunkErrors } from "./state/chunk-errors.ts";
import { watchTheme } from "./state/preferences.svelte.ts";

watchTheme();
watchChunkErrors();
const target = document.getElementById("app");
if (target) {
  // If the dictionary fails to load, the page works in English.
  void loadLanguage()
    .catch(() => {})
    .then(() => mount(App, { target }));
}
