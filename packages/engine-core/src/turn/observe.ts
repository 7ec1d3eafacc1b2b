// Tells observers which step of a turn began and how it ended.
import type { HostPorts } from "../ports.ts";
import type { Ask } from "./effects.ts";
import type { Answer, Occurrence } from "./facts.ts";
import type { TurnSetup } from "./turn.ts";
import type { TurnStep } from "./turn-request.ts";

type Ended = Answer | Extract<Occurrence, { type: "aborted" | "broke" }>;

/** What watches a turn: the host's own listener, and a tracer. */
export interface Observers {
  onStep: ((step: TurnStep) => void) | undefined;
  spans: HostPorts["spans"];
  now: () => number;
}

/** In the names of OpenTelemetry's conventions for generative AI, where they have one. */
export function describeStep(ask: Ask, { model }: TurnSetup) {
  switch (ask.do) {
    case "call-model":
      return {
        name: `chat ${model.id}`,
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": model.provider,
          "gen_ai.request.model": model.id,
        },
      };
    case "run-tool":
      return {
        name: `execute_tool ${ask.call.name}`,
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": ask.call.name,
          "gen_ai.tool.call.id": ask.call.id,
        },
      };
    case "deliver":
      return {
        name: `clew ${ask.delivery.method}`,
        attributes: { "clew.turn": ask.delivery.turn.id },
      };
    case "append":
      return { name: `clew append ${ask.as}`, attributes: { "clew.entries": ask.entries.length } };
    case "compact":
      return {
        name: "clew compact",
        attributes: { "clew.trigger": ask.request.trigger, "clew.by": ask.by },
      };
    case "maintain":
      return { name: `clew maintain ${ask.reason}`, attributes: {} };
    default:
      return { name: `clew ${ask.do}`, attributes: {} };
  }
}

/** How a step ended, and what is worth a number. */
export function describeEnd(ended: Ended): {
  outcome: TurnStep["outcome"];
  attributes: Record<string, string | number>;
} {
  switch (ended.type) {
    case "aborted":
      return { outcome: "aborted", attributes: {} };
    case "broke":
      return { outcome: "failed", attributes: { "error.type": ended.code ?? "error" } };
    case "not-assembled":
      return { outcome: "failed", attributes: {} };
    case "bootstrapped":
    case "delivered":
      return { outcome: ended.ok ? "ok" : "failed", attributes: {} };
    case "tool-ran":
      return { outcome: ended.outcome.isError ? "failed" : "ok", attributes: {} };
    case "compacted":
      return { outcome: ended.outcome.ok ? "ok" : "failed", attributes: {} };
    case "answered":
      return ended.outcome.ok
        ? { outcome: "ok", attributes: usageOf(ended.outcome.message.usage) }
        : { outcome: "failed", attributes: { "error.type": ended.outcome.error.kind } };
    default:
      return { outcome: "ok", attributes: {} };
  }
}

const usageOf = (usage: { input: number; output: number } | undefined) =>
  usage === undefined
    ? ({} as Record<string, number>)
    : { "gen_ai.usage.input_tokens": usage.input, "gen_ai.usage.output_tokens": usage.output };

/** Runs one step under observation; an observer that throws changes nothing. */
export async function observed<Result extends Ended>(
  { onStep, spans, now }: Observers,
  setup: TurnSetup,
  ask: Ask,
  run: () => Promise<Result>,
): Promise<Result> {
  if (onStep === undefined && spans === undefined) return run();
  const { name, attributes } = describeStep(ask, setup);
  const started = now();
  const span = quietly(() => spans?.start(name, { ...attributes, "clew.turn_id": setup.turnId }));
  const ended = await run();
  const { outcome, attributes: more } = describeEnd(ended);
  quietly(() => span?.end(outcome, more));
  quietly(() =>
    onStep?.({
      v: 1,
      turnId: setup.turnId,
      step: ask.do,
      name,
      atMs: started - setup.startedMonotonic,
      durationMs: now() - started,
      outcome,
      attributes: { ...attributes, ...more },
    }),
  );
  return ended;
}

/** What an observer throws is nobody's failure, also when it is async. */
function quietly<Result>(tell: () => Result): Result | undefined {
  try {
    const result: unknown = tell();
    if (result instanceof Promise) result.catch(() => {});
    return result as Result;
  } catch {
    return undefined;
  }
}
