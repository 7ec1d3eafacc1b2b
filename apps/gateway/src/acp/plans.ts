// Which calls are plans that an editor shows as such.
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { z } from "zod";
import { PLAN_TOOL, PlanSchema } from "../tools/plan-tool.ts";

/** Claude Code's own list of what it has to do. */
const TodosSchema = z.object({
  todos: z.array(
    z.object({ content: z.string(), status: z.enum(["pending", "in_progress", "completed"]) }),
  ),
});

/** Pure. Undefined: the call is shown as any other. */
export function planIn({
  name,
  arguments: given,
}: {
  name: string;
  arguments: unknown;
}): SessionUpdate | undefined {
  if (name === PLAN_TOOL) {
    const { data } = PlanSchema.safeParse(given);
    return data && planUpdate(data.plan.map(({ step, status }) => ({ content: step, status })));
  }
  if (name !== "TodoWrite") return undefined;
  const { data } = TodosSchema.safeParse(given);
  return data && planUpdate(data.todos);
}

type Step = { content: string; status: "pending" | "in_progress" | "completed" };

/** No model says which of its steps matter more. */
const planUpdate = (steps: readonly Step[]): SessionUpdate => ({
  sessionUpdate: "plan",
  entries: steps.map(({ content, status }) => ({ content, status, priority: "medium" })),
});
