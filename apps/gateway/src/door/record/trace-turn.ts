// Tells a trace of a turn of the door.
import type { TurnReport } from "@clew/engine-core";
import { promptTokensOf } from "@clew/plugin-sdk/host";
import type { Tracer } from "../../tracing/tracer.ts";
import type { DoorTurn } from "../turn/door-turn.ts";

/** Steps of which a turn of the door consists: reading and choosing, then the model. */
export function traceTurn(
  tracer: Pick<Tracer, "begin">,
  { turnId, call }: DoorTurn,
  report: TurnReport,
): void {
  const traced = tracer.begin();
  const [asked] = report.modelCalls;
  if (asked !== undefined)
    traced?.step({
      ...{ v: 1, turnId, step: "call-model", name: `chat ${report.model.resolved}` },
      ...{ atMs: report.durationMs - asked.durationMs, durationMs: asked.durationMs },
      outcome: report.outcome === "completed" ? "ok" : report.outcome,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": report.model.resolved,
        "clew.door.wire": call.wire.api,
        "clew.door.kind": report.door?.kind ?? "",
        ...(report.door?.view !== undefined && {
          "clew.door.set_aside_tokens": report.door.view.setAside,
        }),
        ...(asked.usage !== null && {
          "gen_ai.usage.input_tokens": promptTokensOf(asked.usage),
          "gen_ai.usage.output_tokens": asked.usage.output,
        }),
      },
    });
  traced?.end({ report });
}
