// A page with one Markdown text, controlled from outside through `window.page`.

import { mount } from "svelte";
import "../../src/styles/tokens.css";
import "../../src/styles/base.css";
import { answer, tokenPieces, type AnswerKind } from "../../src/markdown/answer.fixture";
import { cases } from "../../src/markdown/cases.fixture";
import { stress } from "../../src/markdown/stress.fixture";
import Page from "./Page.svelte";

export interface Shown {
  text: string;
  streaming: boolean;
}

/** External images that were requested. */
const fetched: string[] = [];
const target = document.getElementById("app") as HTMLElement;
const page = mount(Page, { target, props: { fetched } }) as {
  show: (shown: Shown) => void;
};

/** Appends text at `rate` tokens a second, token by token, as a server's events would. */
function stream(text: string, rate: number): Promise<void> {
  const pieces = tokenPieces(text);
  const start = performance.now();
  let sent = 0;
  let shown = "";
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(pieces.length, Math.floor(((performance.now() - start) / 1000) * rate));
      while (sent < due) {
        shown += pieces[sent++] ?? "";
        page.show({ text: shown, streaming: true });
      }
      if (sent < pieces.length) return;
      clearInterval(timer);
      page.show({ text, streaming: false });
      resolve();
    }, 5);
  });
}

const control = {
  show: (text: string, streaming = false) => page.show({ text, streaming }),
  stream,
  answer: (chars: number, kind: AnswerKind) => answer(chars, kind),
  cases,
  fetched,
  stress,
};
export type Control = typeof control;
Object.assign(window, { page: control });
