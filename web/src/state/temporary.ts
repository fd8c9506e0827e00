/** Temporary chats: the server deletes them soon after they are left. */
import { setChatExpiry } from "../api/calls.ts";

/** How long the deletion of an open chat is put off, and of one that was left: that outlives a reload. */
export const openSeconds = 24 * 3600;
const leftSeconds = 300;
const renewMs = 120_000;

export interface Stay {
  /** Lets the server delete the chat. */
  leave(): void;
  /** Ends without a word to the server. */
  end(): void;
}

/** Puts off the deletion of a chat until it is left or the window is closed. */
export function stayIn(chat: string): Stay {
  // A chat that is gone is noticed when something is done in it.
  const set = (seconds: number) => void setChatExpiry(chat, seconds).catch(() => {});
  const renew = () => set(openSeconds);
  const leave = () => set(leftSeconds);
  const restored = (event: PageTransitionEvent) => event.persisted && renew();
  renew();
  const timer = setInterval(renew, renewMs);
  addEventListener("pagehide", leave);
  // The browser may bring the page back as it was.
  addEventListener("pageshow", restored);
  const end = () => {
    clearInterval(timer);
    removeEventListener("pagehide", leave);
    removeEventListener("pageshow", restored);
  };
  return {
    end,
    leave: () => {
      end();
      leave();
    },
  };
}
