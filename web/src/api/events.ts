// The events of a run's log, as `crates/domain/src/event.rs` writes them.

export type Decision = "allow" | "deny" | "withdrawn";
export type NoticeLevel = "info" | "warning" | "error";
export type Outcome = "completed" | "cancelled" | "failed" | "limited";
export type TodoStatus = "pending" | "in_progress" | "completed";
export type Todo = { content: string; status: TodoStatus };
export type Source = { id: string; title: string; url: string; quote?: string };
export type Usage = { input_tokens: number; output_tokens: number };
export type ProblemCode =
  | "invalid_request"
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  | "conflict"
  | "too_large"
  | "rate_limited"
  | "model_not_found"
  | "model_unreachable"
  | "model_unauthorized"
  | "model_rate_limited"
  | "model_rejected"
  | "model_failed"
  | "model_protocol"
  | "model_timeout"
  | "limit_reached"
  | "interrupted"
  | "unavailable"
  | "internal";
export type Problem = { code: ProblemCode; message: string };

export type EventBody =
  | { type: "run_started"; chat?: string; message?: string; model: string }
  | { type: "step_started"; step: number }
  | { type: "status"; description: string; done: boolean; hidden: boolean }
  | { type: "text_started"; item: string }
  | { type: "text_delta"; item: string; delta: string }
  | { type: "text_finished"; item: string; text: string; answer: boolean }
  | { type: "reasoning_started"; item: string }
  | { type: "reasoning_delta"; item: string; delta: string }
  | { type: "reasoning_finished"; item: string; text: string; duration_ms: number }
  | { type: "tool_requested"; call: string; name: string }
  | { type: "tool_arguments_delta"; call: string; delta: string }
  | { type: "tool_started"; call: string; name: string; arguments: unknown; repeatable: boolean }
  | { type: "tool_progress"; call: string; message: string }
  | {
      type: "tool_finished";
      call: string;
      name: string;
      arguments: unknown;
      result: string;
      error: boolean;
      truncated: boolean;
      duration_ms: number;
    }
  | { type: "approval_asked"; approval: string; call: string; name: string; arguments: unknown }
  | { type: "approval_answered"; approval: string; decision: Decision; reason?: string; edited: boolean }
  | { type: "question_asked"; question: string; call: string; text: string; options: Array<string> }
  | { type: "question_answered"; question: string; answer?: string }
  | { type: "plan_changed"; todos: Array<Todo> }
  | { type: "file_changed"; path: string; version: number; size_bytes: number }
  | { type: "sources_found"; sources: Array<Source> }
  | { type: "agent_started"; name: string; call: string; task: string }
  | { type: "agent_finished"; outcome: Outcome; result: string }
  | {
      type: "model_called";
      model: string;
      usage: Usage;
      cost_micro_usd?: number;
      duration_ms: number;
      first_token_ms?: number;
    }
  | { type: "notice"; level: NoticeLevel; message: string }
  | {
      type: "run_finished";
      outcome: Outcome;
      problem?: Problem;
      usage: Usage;
      cost_micro_usd?: number;
    };

export type RunEvent = { run: string; seq: number; at: number; agent?: Array<string>; body: EventBody };
