// Runs one tool call, whose failure or refusal is an outcome.
import { isAbort } from "@clew/plugin-sdk/core";
import { describeError } from "../../engine/quarantine.ts";
import type { ToolOutcome } from "../../ports.ts";
import type { Ask } from "../effects.ts";
import type { Answer } from "../facts.ts";
import { sessionOf, type World } from "./world.ts";

type RunTool = Extract<Ask, { do: "run-tool" }>;

export async function runTool(
  world: World,
  { call }: RunTool,
): Promise<Extract<Answer, { type: "tool-ran" }>> {
  const { clock } = world.ports;
  const started = clock.monotonic();
  const outcome = world.signal.aborted ? failure(ABORTED) : await run(world, call);
  return {
    type: "tool-ran",
    name: call.name,
    ms: clock.monotonic() - started,
    at: clock.now(),
    outcome,
    aborted: world.signal.aborted,
  };
}

async function run(world: World, call: RunTool["call"]): Promise<ToolOutcome> {
  const { ports, signal } = world;
  if (ports.tools === undefined)
    return failure(`This host offers no tools, so "${call.name}" could not run.`);
  try {
    return await ports.tools.run({ call, session: sessionOf(world), signal });
  } catch (error) {
    if (signal.aborted && isAbort(error, signal)) return failure(ABORTED);
    ports.log.warn(`tool "${call.name}" threw: ${describeError(error)}`);
    return failure(`Tool "${call.name}" failed: ${describeError(error)}`);
  }
}

/** A protocol word: policies and providers recognise it. */
const ABORTED = "aborted";

const failure = (text: string): ToolOutcome => ({
  content: [{ type: "text", text }],
  isError: true,
});
