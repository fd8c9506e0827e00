/** Pending approvals and questions of runs, in the order in which they were asked. */
import { t } from "../../i18n/index.svelte.ts";
import type { ApprovalNode, QuestionNode } from "../nodes.ts";
import type { RunView } from "../run.svelte.ts";
import { nodeOf } from "../timeline.ts";

export interface WaitingItem {
  key: string;
  run: string;
  node: ApprovalNode | QuestionNode;
  agentName: string;
}

/** `numberOf` gives the place of a run among alternative answers, if there are several. */
export function waitingIn(
  views: readonly RunView[],
  numberOf: (run: string) => number | null,
): WaitingItem[] {
  return views.flatMap(({ id: run, nodes, run: { waiting } }) =>
    waiting.flatMap((id) => {
      const node = nodes.get(id);
      if (node?.kind !== "approval" && node?.kind !== "question") return [];
      const agent = nodeOf(nodes, node.agent, "agent")?.name ?? t("approval.mainAgent");
      const number = numberOf(run);
      const agentName = number === null ? agent : t("approval.ofAnswer", { number, agent });
      return [{ key: `${run} ${id}`, run, node, agentName }];
    }),
  );
}
