// The tool by which a model shows its plan to whoever watches in an editor.
import type { HostSession } from "@clew/engine-core";
import { z } from "zod";
import { counted } from "../text/number.ts";
import type { EditorPlace } from "./editor-client.ts";
import { defineTool, type Tool } from "./tool.ts";

/** Not "update_plan", which programs that run turns may have of their own. */
export const PLAN_TOOL = "show_plan";

const MAX_STEPS = 100;

export const PlanSchema = z.object({
  plan: z
    .array(
      z.object({
        step: z.string().min(1).max(1000).describe("What is to be done, in one sentence."),
        status: z.enum(["pending", "in_progress", "completed"]),
      }),
    )
    .min(1)
    .max(MAX_STEPS)
    .describe("All steps in their order, also those that are done."),
});

/** Offered where somebody sees it. */
export function planTool(editorOf: (session: HostSession) => EditorPlace | undefined): Tool {
  return defineTool({
    name: PLAN_TOOL,
    description:
      "Shows the person your plan for work of several steps, and how far it is. Call it when the plan is made and whenever a step begins or is done; each call replaces the plan before.",
    parameters: PlanSchema,
    readOnly: true,
    isAvailable: (session) => (editorOf(session)?.client ?? null) !== null,
    run: async ({ plan }) => {
      const done = plan.filter(({ status }) => status === "completed").length;
      return `The plan is shown: ${done} of ${counted(plan.length, "step")} done.`;
    },
  });
}
