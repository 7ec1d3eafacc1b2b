// Runs one tool call, whose failure or refusal is an outcome.
import { isAbort, type ToolResultMessage } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import { takeFrom } from "../../engine/plain-data.ts";
import { describeError } from "../../engine/quarantine.ts";
import { takeMessage } from "../../engine/taken-messages.ts";
import type { ToolOutcome } from "../../tool-outcome.ts";
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
    return taken(world, call, await ports.tools.run({ call, session: sessionOf(world), signal }));
  } catch (error) {
    if (signal.aborted && isAbort(error, signal)) return failure(ABORTED);
    ports.log.warn(`tool "${call.name}" threw: ${describeError(error)}`);
    return failure(`Tool "${call.name}" failed: ${describeError(error)}`);
  }
}

/**
 * What a tool gave, as plain data that a transcript can hold; what cannot be stored of it is a
 * failure of the tool, but for its details, which no model sees.
 */
function taken({ ports }: World, call: RunTool["call"], outcome: unknown): ToolOutcome {
  const { content, isError, details, note } = isRecord(outcome) ? outcome : {};
  const told = (more: object) =>
    takeFrom((reading) =>
      takeMessage(reading, {
        ...{ role: "toolResult", toolCallId: call.id, toolName: call.name, content },
        ...{ isError: isError === true, ...more },
      }),
    );
  const whole = told(details === undefined ? {} : { details });
  const bare = whole.ok ? whole : told({});
  if (!bare.ok) {
    ports.log.warn(`tool "${call.name}" returned an invalid result: ${bare.problem}`);
    return failure(`Tool "${call.name}" failed: its result cannot be used (${bare.problem}).`);
  }
  if (!whole.ok)
    ports.log.warn(`tool "${call.name}": the details of its result are left out: ${whole.problem}`);
  const {
    role: _role,
    toolCallId: _id,
    toolName: _name,
    ...result
  } = bare.value as ToolResultMessage;
  return typeof note === "string" ? { ...result, note } : result;
}

/** A protocol word: policies and providers recognise it. */
const ABORTED = "aborted";

const failure = (text: string): ToolOutcome => ({
  content: [{ type: "text", text }],
  isError: true,
});
