/** Protocols a run can be shown in. To add one: a line here, and its name in the dictionaries as `protocol.…`. */

export const protocols = [
  { format: "native", endpoint: "GET /runs/{id}/events" },
  { format: "chat", endpoint: "POST /chat/stream" },
  { format: "openai", endpoint: "POST /v1/chat/completions" },
  { format: "responses", endpoint: "POST /v1/responses" },
  { format: "ag_ui", endpoint: "POST /ag-ui" },
  { format: "ui_message_stream", endpoint: "POST /api/ui-message-stream" },
  { format: "tool_calls", endpoint: "POST /chat/stream?format=tool_calls" },
  { format: "markup", endpoint: "POST /chat/stream?format=markup" },
  { format: "details", endpoint: "POST /chat/stream?format=details" },
  { format: "debug", endpoint: "GET /ws" },
] as const;

export type Format = (typeof protocols)[number]["format"];
