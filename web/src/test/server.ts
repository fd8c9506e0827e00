/** Mock server for component tests: answers `fetch` by method and path, and records the requests. */
import { vi } from "vitest";

export interface Request {
  call: string;
  body: unknown;
}

type Answer = (body: unknown) => Response | Promise<Response>;

export const ok = (body: unknown) => Response.json(body);
export const noContent = () => new Response(null, { status: 204 });
export const refused = (status: number, code: string, message: string, field?: string) =>
  Response.json({ error: { code, message, ...(field ? { field } : {}) } }, { status });

/** Replaces `fetch` for the duration of the test. A call that is not listed fails the request. */
export function serve(answers: Record<string, Answer>): Request[] {
  const requests: Request[] = [];
  vi.stubGlobal("fetch", async (path: string, { method = "GET", body }: RequestInit = {}) => {
    const call = `${method} ${path}`;
    const sent: unknown = typeof body === "string" ? JSON.parse(body) : body;
    requests.push({ call, body: sent });
    return (await answers[call]?.(sent)) ?? refused(404, "not_found", `no answer for ${call}`);
  });
  return requests;
}
