/** Opens an empty chat. */
import { tick } from "svelte";
import { offerComposer } from "./composer-focus.ts";
import { layout } from "./layout.svelte.ts";
import { research } from "./research.svelte.ts";
import { router } from "./router.svelte.ts";
import { unsaved } from "./unsaved.svelte.ts";

/** Calls `opened` once it is open, which unsaved input of the current page may prevent. */
export function openNewChat(opened?: () => void): void {
  unsaved.leave(() => {
    layout.closeSheets();
    research.reset();
    router.go("/");
    void tick().then(opened);
  });
}

/** By a button: moves the focus to the composer, except on a touch screen, where that would open the keyboard. */
export function pressNewChat(): void {
  openNewChat(offerComposer);
}
