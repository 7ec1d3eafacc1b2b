// Asks plugins before a tool runs, and tells them what came of it.
import type { ToolOutcome, ToolPort } from "@clew/engine-core";
import { isRecord } from "@clew/plugin-sdk/host";
import { type ApprovalEnd, describeRefusal, isAllowed } from "../../approvals/approval.ts";
import { detailsOfEnd } from "../../approvals/refused.ts";
import { bytesOf, describeBytes } from "../../limits/size.ts";
import { type Approve, refusal } from "../../tools/tool.ts";
import type { HookContext } from "./hook-context.ts";
import type { HookRunner } from "./hook-runs.ts";

type ToolRequest = Parameters<ToolPort["run"]>[0];

interface HookedTools {
  hooks: HookRunner;
  context: HookContext;
  approve: Approve | undefined;
  /** How long the reason of a refusal may be. */
  limitBytes: number;
}

/** A guard that cannot be asked guards all the same: its failure is a refusal. */
export function withToolHooks(
  tools: ToolPort,
  { hooks, context, approve, limitBytes }: HookedTools,
): ToolPort {
  return {
    list: (session) => tools.list(session),
    async run(request) {
      const { call } = request;
      if (!hooks.has("before_tool_call") && !hooks.has("after_tool_call"))
        return tools.run(request);
      const about = { ...context, toolName: call.name, toolCallId: call.id };
      const beganAt = performance.now();
      const decided = await decide(request, { hooks, context: about, approve, limitBytes });
      const outcome = decided.ok ? await tools.run(decided.request) : decided.outcome;
      const durationMs = Math.round(performance.now() - beganAt);
      const event = () => ({
        ...eventOf(decided.ok ? decided.request : request, context),
        result: { content: outcome.content, details: outcome.details },
        ...(outcome.isError && { error: textOf(outcome) }),
        durationMs,
      });
      hooks.observe("after_tool_call", event, about);
      return outcome;
    },
  };
}

type Decision = { ok: true; request: ToolRequest } | { ok: false; outcome: ToolOutcome };

/** Each handler sees what those before it made of the arguments. */
async function decide(
  request: ToolRequest,
  { hooks, context, approve, limitBytes }: HookedTools,
): Promise<Decision> {
  const { session, signal } = request;
  let current = request;
  let refused: string | undefined;
  let details: ReturnType<typeof detailsOfEnd> = {};
  await hooks.ask(
    "before_tool_call",
    { event: () => eventOf(current, context), context, signal },
    async (outcome) => {
      const { call } = current;
      const asker = { kind: "plugin", id: outcome.pluginId } as const;
      if (!outcome.ok)
        refused = `${call.name} was not run: plugin "${asker.id}" decides about it and failed: ${outcome.reason}.`;
      else if (isRecord(outcome.given)) {
        const { params, block, blockReason, requireApproval } = outcome.given;
        if (isRecord(params)) current = { ...current, call: { ...call, arguments: params } };
        if (block === true) refused = blocked(call.name, asker.id, { blockReason, limitBytes });
        else if (isRecord(requireApproval)) {
          const nobody: ApprovalEnd = { kind: "nobody" };
          const asked = { asker, call: current.call, session, signal };
          const end = (await approve?.(asked)) ?? nobody;
          if (!isAllowed(end)) {
            refused = describeRefusal(call.name, end);
            details = detailsOfEnd(end);
          }
        }
      }
      return refused !== undefined;
    },
  );
  return refused === undefined
    ? { ok: true, request: current }
    : { ok: false, outcome: { ...refusal(refused), ...details } };
}

function blocked(
  name: string,
  pluginId: string,
  { blockReason, limitBytes }: { blockReason: unknown; limitBytes: number },
): string {
  const refused = `${name} was not run: plugin "${pluginId}" refused it`;
  const reason = typeof blockReason === "string" ? blockReason.trim() : "";
  if (reason === "") return `${refused}.`;
  const bytes = bytesOf([reason]);
  return bytes <= limitBytes
    ? `${refused}: ${reason}`
    : `${refused}, for a reason of ${describeBytes(bytes)}, of which at most ${describeBytes(limitBytes)} are taken (gateway.limits.messageBytes).`;
}

const eventOf = ({ call }: ToolRequest, { runId }: HookContext) => ({
  ...{ toolName: call.name, params: call.arguments, toolCallId: call.id },
  ...(runId !== undefined && { runId }),
});

const textOf = ({ content }: ToolOutcome) =>
  content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
