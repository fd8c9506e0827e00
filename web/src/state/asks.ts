/** Approvals and questions of a run as nodes, for its timeline and the inbox. */
import type { EventBody } from "../api/events.ts";
import { readForm } from "./form.ts";
import type { ApprovalNode, NodeId, QuestionNode } from "./nodes.ts";

type BodyOf<T extends EventBody["type"]> = Extract<EventBody, { type: T }>;

export function approvalNode(body: BodyOf<"approval_asked">, at: number, agent: NodeId | null): ApprovalNode {
  const { approval, call, name, expires_in_ms } = body;
  const { may_remember: mayRemember = false, new_address: newAddress = false } = body;
  const { argument_info: info = [] } = body;
  const expiresAt = expires_in_ms === undefined ? null : at + expires_in_ms;
  const asked = {
    approval,
    call,
    name,
    arguments: body.arguments,
    agent,
    mayRemember,
    newAddress,
    info,
    expiresAt,
  };
  return { kind: "approval", ...asked, decision: null, reason: null, edited: false };
}

export function questionNode(body: BodyOf<"question_asked">, at: number, agent: NodeId | null): QuestionNode {
  const { question, call, text, options, schema, expires_in_ms } = body;
  const expiresAt = expires_in_ms === undefined ? null : at + expires_in_ms;
  const asked = { question, call, text, options, fields: readForm(schema), agent, expiresAt };
  return { kind: "question", ...asked, answered: false, answer: null, values: null, declined: false };
}
