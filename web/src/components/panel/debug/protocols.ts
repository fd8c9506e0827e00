/** The protocols a run can be read in. A new one: a line here, and its name in the dictionaries as `protocol.…`. */

export const protocols = [
  { format: "native", door: "GET /runs/{id}/events" },
  { format: "chat", door: "POST /chat/stream" },
  { format: "openai", door: "POST /v1/chat/completions" },
  { format: "responses", door: "POST /v1/responses" },
  { format: "ag_ui", door: "POST /ag-ui" },
  { format: "ui_message_stream", door: "POST /api/ui-message-stream" },
  { format: "tool_calls", door: "POST /chat/stream?format=tool_calls" },
  { format: "markup", door: "POST /chat/stream?format=markup" },
  { format: "details", door: "POST /chat/stream?format=details" },
  { format: "debug", door: "GET /ws" },
] as const;

export type Format = (typeof protocols)[number]["format"];
