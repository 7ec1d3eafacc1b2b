// Decides how a child session has ended, and what its engine is told.
import type { TurnResult } from "@clew/engine-core";
import { textOf } from "@clew/plugin-sdk/transcript";
import { IS_STOPPING } from "../stopping.ts";
import { counted } from "../text/number.ts";
import type { Child, ChildEnd } from "./child.ts";

/** How a child ended, and what it said last. */
export type Ending = Omit<ChildEnd, "at"> & { reply: string | null };

/** Who ended it before its time; "stopping": the end of its process. */
export type Stop = "cancelled" | "timeout" | "released" | "reloaded" | "stopping";

const OUTCOMES = { completed: "completed", failed: "failed", aborted: "cancelled" } as const;
const STOPPED = {
  cancelled: { outcome: "cancelled", reason: null, notice: "completed" },
  timeout: { outcome: "timeout", reason: null, notice: "completed" },
  released: { outcome: "cancelled", reason: "its session began anew", notice: "released" },
  reloaded: {
    ...{ outcome: "cancelled", notice: "released" },
    reason: "the plugin that started it was loaded again or stopped",
  },
  stopping: { outcome: "cancelled", reason: "the program that ran it stopped", notice: "released" },
} as const satisfies Record<Stop, Omit<ChildEnd, "at">>;

/** What the report of the turn that it was in says. */
export function whyEnded(stopped: Stop, { boundMs }: Child): string {
  switch (stopped) {
    case "timeout":
      return `The time of this session was over (${counted(Math.round(boundMs / 1000), "second")}); what had arrived is kept.`;
    case "released":
      return "The session that started this one began anew; what had arrived is kept.";
    case "reloaded":
      return "The plugin that started this session was loaded again or stopped; what had arrived is kept.";
    case "cancelled":
      return "Whoever started this session ended it, or a person did; what had arrived is kept.";
    case "stopping":
      return IS_STOPPING;
  }
}

/** By its last turn, or by whoever stopped it before. */
export function endingOf(
  child: Child,
  last: { result: TurnResult } | { error: unknown },
  stopped: Stop | undefined,
): Ending {
  const result = "result" in last ? last.result : undefined;
  const reply = result?.reply ? textOf(result.reply) : null;
  if (stopped !== undefined && result?.outcome !== "completed")
    return withCleanup(child, { ...STOPPED[stopped], reply });
  const outcome = result === undefined ? "failed" : OUTCOMES[result.outcome];
  const reason =
    "error" in last ? (last.error as Error).message : (last.result.error?.message ?? null);
  return withCleanup(child, { outcome, reason, notice: "completed", reply });
}

/** It was told to stop and did not: it is given up. */
export const givenUp = (child: Child, stopped: Stop): Ending =>
  withCleanup(child, {
    ...STOPPED[stopped],
    reason: "it did not stop when it was told to",
    notice: "swept",
    reply: null,
  });

/** The process that ran it died; what that one knew of its end stands. */
export function lostEnding(child: Child): Ending {
  if (child.end !== null) return { ...child.end, reply: child.reply };
  const reason = null;
  return { outcome: "lost", reason, notice: "swept", reply: null };
}

const withCleanup = ({ cleanup }: Child, ending: Ending): Ending =>
  cleanup === "delete" ? { ...ending, notice: "deleted" } : ending;
