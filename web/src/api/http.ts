/** One way to ask the server: JSON in and out, and every failure an `ApiError` with a sentence. */

import type { MessageCode } from "./events.ts";

/** `offline` is ours: no answer came at all. The other codes are the server's (docs/reference/errors.md). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** The field of what was sent, or of a form, that it is about. */
    readonly field: string | null = null,
    /** What the server's log calls the request. */
    readonly requestId: string | null = null,
    /** The message by its own code, where it has one. */
    readonly sentence: MessageCode | undefined = undefined,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

type Handler = () => void;
let onSignedOut: Handler = () => {};

/** Called whenever an answer is 401: the session is gone. */
export function whenSignedOut(handler: Handler): void {
  onSignedOut = handler;
}

async function problemOf(response: Response): Promise<ApiError> {
  const reason = `${response.status} ${response.statusText}`.trim();
  // A proxy's error page has no JSON: status and reason are all there is.
  const body: unknown = await response.json().catch(() => undefined);
  return errorOf(response.status, body, reason, response.headers.get("x-request-id"));
}

/** The error that stands in a response, or in a `problem` event of a stream that breaks off. */
export function errorOf(status: number, body: unknown, reason: string, requestId: string | null): ApiError {
  const error = (body as { error?: Record<string, unknown> } | undefined)?.error ?? {};
  const text = (value: unknown) => (typeof value === "string" ? value : null);
  const sentence = error.sentence as MessageCode | undefined;
  const code = text(error.code) ?? "unavailable";
  return new ApiError(status, code, text(error.message) ?? reason, text(error.field), requestId, sentence);
}

/** What only reads is asked again after these pauses: a computer that changes networks breaks what is on its way. */
const againAfterMs = [300, 1500];

/** Sends a request and gives the successful response; throws `ApiError` otherwise. */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const pauses = (init.method ?? "GET") === "GET" ? [...againAfterMs] : [];
  for (;;) {
    let response: Response;
    try {
      response = await fetch(path, { credentials: "same-origin", ...init });
    } catch (cause) {
      if (init.signal?.aborted) throw cause;
      const pause = pauses.shift();
      if (pause === undefined) throw new ApiError(0, "offline", "");
      await new Promise((over) => setTimeout(over, pause));
      continue;
    }
    return checked(path, response);
  }
}

async function checked(path: string, response: Response): Promise<Response> {
  if (response.ok) return response;
  if (response.status === 401 && !/\/login(\/code)?$/.test(path)) onSignedOut();
  throw await problemOf(response);
}

/** Posts a file and tells how many bytes of it went, which `fetch` cannot. Fails as `send` does. */
export async function sendFile<T>(
  path: string,
  file: Blob,
  { signal, onprogress }: { signal: AbortSignal; onprogress: (sent: number) => void },
): Promise<T> {
  const request = new XMLHttpRequest();
  const response = await new Promise<Response>((resolve, reject) => {
    request.open("POST", path);
    request.upload.onprogress = (event) => onprogress(event.loaded);
    request.onload = () => resolve(responseOf(request));
    request.onerror = () => reject(new ApiError(0, "offline", ""));
    request.onabort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
    if (signal.aborted) request.abort();
  });
  return (await (await checked(path, response)).json()) as T;
}

function responseOf(request: XMLHttpRequest): Response {
  const requestId = request.getResponseHeader("x-request-id");
  return new Response(request.responseText, {
    status: request.status,
    statusText: request.statusText,
    headers: requestId === null ? {} : { "x-request-id": requestId },
  });
}

/** Sends `body` as JSON (if there is one) and reads the JSON answer; `undefined` where it has no content. */
export async function call<T>(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  const response = await send(path, {
    method,
    signal: signal ?? null,
    ...(body === undefined
      ? {}
      : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  if (response.status === 204) return undefined as T;
  return (await response.json()) as T;
}
