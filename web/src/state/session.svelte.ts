/** Session of the current user. */
import { currentPath, withBase } from "../api/base.ts";
import { getMe, logOut } from "../api/calls.ts";
import { whenSignedOut } from "../api/http.ts";
import type { Me, Right } from "../api/me.ts";
import type { User } from "../api/types.ts";
import { t } from "../i18n/index.svelte.ts";
import { router, type Route } from "./router.svelte.ts";
import { toasts } from "./toasts.svelte.ts";

/** Pages available before sign-in. */
const isBeforeLogin = (page: Route["page"]) => page === "login" || page === "reset" || page === "signUp";

export class Session {
  me = $state.raw<Me | null>(null);

  get user(): User | null {
    return this.me?.user ?? null;
  }

  get isAdmin(): boolean {
    return this.user?.role === "admin";
  }

  /** The example prompts that administrators set; empty for the built-in ones. */
  get startPrompts(): readonly string[] {
    return this.me?.start_prompts ?? [];
  }

  may(right: Right): boolean {
    return this.me?.rights.includes(right) ?? false;
  }

  async load(): Promise<void> {
    this.me = await getMe();
    this.redirect();
  }

  signedIn(user: User, goTo: string): void {
    if (this.me) this.me = { ...this.me, user, setup_needed: false };
    router.go(goTo, { replace: true });
    // Permissions are not in the response to a sign-in.
    void getMe().then(
      (me) => (this.me = me),
      () => location.reload(),
    );
  }

  renamed(user: User): void {
    if (this.me) this.me = { ...this.me, user };
  }

  async leave(): Promise<void> {
    const proxy = this.me?.proxy;
    await logOut();
    if (proxy?.signs_in) {
      if (proxy.sign_out_url !== null) location.assign(proxy.sign_out_url);
      else toasts.add(t("proxy.signsOut"));
      return;
    }
    // A full page load, so that none of the user's data stays in memory.
    location.assign(withBase("/login"));
  }

  /** Redirects to the page required first, remembering the requested one. */
  redirect(): void {
    if (!this.me) return;
    const { route } = router;
    const { page } = route;
    if (this.me.setup_needed) {
      if (page === "setup") return;
      const problem = route.page === "login" && route.problem;
      router.go(problem ? `/setup?problem=${encodeURIComponent(problem)}` : "/setup", { replace: true });
    } else if (!this.me.user) {
      if (!isBeforeLogin(page)) this.#toLogin();
    } else if (page === "login" || page === "setup" || page === "signUp") {
      router.go("/", { replace: true });
    }
  }

  expired(): void {
    if (!this.me || isBeforeLogin(router.route.page)) return;
    this.me = { ...this.me, user: null };
    this.#toLogin();
  }

  #toLogin(): void {
    const place = currentPath() + location.search + location.hash;
    router.go(
      place === "/" || place.startsWith("/setup") ? "/login" : `/login?next=${encodeURIComponent(place)}`,
      {
        replace: true,
      },
    );
  }
}

export const session = new Session();
whenSignedOut(() => session.expired());
