/** HTTP client: JSON requests and responses, with every failure an `ApiError` with a readable message. */

import { withBase } from "./base.ts";
import type { MessageCode } from "./events.ts";

/**
 * The code `offline` is set by the client: there was no response. Other codes come from the server
 * (docs/reference/errors.md).
 */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** Name of the request or form field that caused the error. */
    readonly field: string | null = null,
    /** Request ID in the server's log. */
    readonly requestId: string | null = null,
    /** Message code and parameters, if the error has its own. */
    readonly sentence: MessageCode | undefined = undefined,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

type Handler = () => void;
let onSignedOut: Handler = () => {};

/** Called on every 401 response: the session has expired. */
export function whenSignedOut(handler: Handler): void {
  onSignedOut = handler;
}

async function problemOf(response: Response): Promise<ApiError> {
  const reason = `${response.status} ${response.statusText}`.trim();
  // A proxy's error page is not JSON, so only the status and the reason are available.
  const body: unknown = await response.json().catch(() => undefined);
  return errorOf(response.status, body, reason, response.headers.get("x-request-id"));
}

/** Parses the error in a response body, or in the `problem` event of a stream that breaks off. */
export function errorOf(status: number, body: unknown, reason: string, requestId: string | null): ApiError {
  const error = (body as { error?: Record<string, unknown> } | undefined)?.error ?? {};
  const text = (value: unknown) => (typeof value === "string" ? value : null);
  const sentence = error.sentence as MessageCode | undefined;
  const code = text(error.code) ?? "unavailable";
  return new ApiError(status, code, text(error.message) ?? reason, text(error.field), requestId, sentence);
}

/** GET requests are retried after these delays: a network change aborts requests in flight. */
const againAfterMs = [300, 1500];

/** Sends a request and returns the response if it succeeded; throws `ApiError` otherwise. */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const pauses = (init.method ?? "GET") === "GET" ? [...againAfterMs] : [];
  for (;;) {
    let response: Response;
    try {
      response = await fetch(withBase(path), { credentials: "same-origin", ...init });
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

/** Posts a file and reports upload progress in bytes, which `fetch` cannot do. Throws like `send`. */
export async function sendFile<T>(
  path: string,
  file: Blob,
  { signal, onprogress }: { signal: AbortSignal; onprogress: (sent: number) => void },
): Promise<T> {
  const request = new XMLHttpRequest();
  const response = await new Promise<Response>((resolve, reject) => {
    request.open("POST", withBase(path));
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

/** Sends `body` as JSON (if given) and parses the JSON response; `undefined` if the response has no content. */
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
