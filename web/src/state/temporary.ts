/** Temporary chats: the server deletes them soon after they are left. */
import { setChatExpiry } from "../api/calls.ts";

/** When an open chat expires. */
export const openSeconds = 24 * 3600;
/** When a chat expires that was left: later than a reload takes. */
const leftSeconds = 300;
const renewMs = 120_000;

export interface Stay {
  /** Lets the server delete the chat. */
  leave(): void;
  /** Stops without a request: the chat is kept. */
  end(): void;
}

/** Renews the expiry of a chat until it is left or the window is closed. */
export function stayIn(chat: string): Stay {
  // A deleted chat is noticed at the next action in it.
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
